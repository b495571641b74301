"""Each faulty trimmer fails by the rule it names, with a script that shows it; each conforming one passes."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contextproof.calibration.trimmers import Known, known_trimmers
from contextproof.conformance.certification.budget import Budget
from contextproof.conformance.trimming import serving
from contextproof.conformance.trimming.outcome import Finding, in_order_of_cause
from contextproof.conformance.trimming.playing import Subject
from contextproof.conformance.trimming.reproducing import script
from contextproof.conformance.trimming.rules import all_rules
from contextproof.conformance.trimming.running import Example, made_small, measure, played
from contextproof.conformance.verdicts import Verdict
from trimming.direct import direct_bench

KNOWN = known_trimmers()
FAULTY = {name: known for name, known in KNOWN.items() if known.breaks is not None}
CONFORMING = {name: known for name, known in KNOWN.items() if known.breaks is None}
#: What only another process, or a clock, can show.
APART = ("drops_by_hash", "loops_where_nothing_can_go")
BUDGET = Budget(profile="smoke", seed=20, sessions=1)


def _found(known: Known) -> tuple[dict[str, Finding], list[Example]]:
    bench = direct_bench(serving.find(known.spec), known.format)
    findings = played(bench, BUDGET).findings
    wanted = tuple(finding for finding in findings if finding.rule == known.breaks)
    return {finding.rule: finding for finding in findings}, list(made_small(wanted, bench))


def _runs_clean(text: str, known: Known) -> str:
    """What goes wrong when the script is run; nothing where nothing does."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(text, f"{known.spec}.py", "exec"), {"__name__": "__main__", "__file__": ""})
        except SystemExit as ended:
            return str(ended.code or "")
        except Exception as error:  # noqa: BLE001 -- whatever the trimmer raises shows it
            return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("name", [name for name in FAULTY if name not in APART])
def test_a_faulty_trimmer_fails_by_the_rule_it_names_and_a_script_shows_it(name: str) -> None:
    known = FAULTY[name]
    assert known.breaks is not None
    findings, examples = _found(known)
    assert findings[known.breaks].verdict in {Verdict.FAILED, Verdict.WARNED}
    roots = [finding.rule for finding, causes in in_order_of_cause(findings.values()) if not causes]
    assert known.breaks in roots, f"told as a consequence; told as causes: {roots}"
    text = script(examples[0], known.spec)
    assert "contextproof" not in text.replace("contextproof.calibration", "")
    if known.breaks != "TRIM-2":  # that one sets an alarm
        assert _runs_clean(text, known), f"the script finds nothing:\n{text}"


@pytest.mark.parametrize("name", CONFORMING)
def test_a_conforming_trimmer_fails_nothing(name: str) -> None:
    known = CONFORMING[name]
    bench = direct_bench(serving.find(known.spec), known.format)
    findings = played(bench, BUDGET.model_copy(update={"sessions": 4})).findings
    assert [f.rule for f in findings if f.verdict is Verdict.FAILED] == []
    warned = [f.rule for f in findings if f.verdict is Verdict.WARNED]
    assert all(rule in known.text for rule in warned), f"its docstring is to say that it is warned: {warned}"


@pytest.mark.slow
def test_what_hangs_is_ended_and_told(tmp_path: Path) -> None:
    known = FAULTY["loops_where_nothing_can_go"]
    measured = measure(Subject(known.spec, "openai", timeout=1.0), BUDGET)
    assert not measured.outcome.conforms
    assert "got no answer in time" in measured.outcome.stopped
    assert [example.finding.rule for example in measured.examples] == ["TRIM-2"]
    path = tmp_path / "hangs.py"
    path.write_text(script(measured.examples[0], known.spec).replace("alarm(10)", "alarm(1)"))
    assert subprocess.run([sys.executable, str(path)], check=False, timeout=30).returncode < 0


@pytest.mark.slow
def test_what_rests_on_hash_values_shows_in_another_process(tmp_path: Path) -> None:
    known = FAULTY["drops_by_hash"]
    measured = measure(Subject(known.spec, "openai"), BUDGET.model_copy(update={"only": ("CTX-10.3",)}))
    assert [example.finding.rule for example in measured.examples] == ["CTX-10.3"]
    path = tmp_path / "hash.py"
    path.write_text(script(measured.examples[0], known.spec).replace("range(8)", "range(4)"))
    ran = subprocess.run([sys.executable, str(path)], check=False, timeout=60, env={**os.environ})
    assert ran.returncode == 1


def test_every_rule_has_a_faulty_trimmer_and_every_trimmer_says_where_it_was_seen() -> None:
    assert {known.breaks for known in FAULTY.values()} == {rule.id for rule in all_rules()}
    assert all("/" in known.text for known in FAULTY.values())
    assert all(known.format in {"openai", "anthropic"} for known in KNOWN.values())
