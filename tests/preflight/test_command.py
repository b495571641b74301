"""The command: its forms, its exit status, hostile names, and the page that tells of it."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from contextproof.conformance.cli import main
from contextproof.conformance.preflight.checking import Preflight
from contextproof.conformance.preflight.tools import SHAPES
from contextproof.conformance.report.escape import is_hidden
from contextproof.conformance.report.preflight import as_json, lines, markdown, print_preflight
from preflight.making import MODEL, checked, document, tools_of, words, written

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "preflight"
PAGE = (ROOT / "docs" / "preflight.md").read_text(encoding="utf-8")
REFERENCE = "contextproof.reference_impl.engine:factory"
HOSTILE = (
    "`|x|` ``` <script>alert(1)</script> [b](http://x) @all ![i](x)\n# h"
    "\r\x1b[31m\u202egnp.exe\u200b\U000e0041"
)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run_command(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["contextproof", "preflight", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run_command


# --- Exit status -----------------------------------------------------------------------------------------


def test_it_exits_with_0_where_a_session_opens_and_with_1_where_not(run: Run, tmp_path: Path) -> None:
    code, out, err = run(written(tmp_path, document()))
    assert (code, out.splitlines()[-1], err) == (0, "opens: a session opens with this configuration", "")
    code, out, err = run(written(tmp_path, document(instructions=words(4_310))))
    assert (code, out.splitlines()[-1]) == (1, "refused: no session opens with this configuration")
    assert "OVER agent_instructions: 4,310 of 4,000 tokens, 310 too many" in out


def test_between_the_bounds_it_is_no_pass_until_a_builder_is_asked(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, document(model={**MODEL, "window": 5_480}))
    code, out, _ = run(path)
    assert code == 1
    assert out.splitlines()[-1] == "depends on the builder: ask yours with --builder or --command"
    code, out, _ = run(path, "--builder", REFERENCE)
    assert code == 0
    assert "builder contextproof-reference 1.0: it opens" in out


@pytest.mark.slow
def test_a_builder_behind_a_command_is_asked_too(run: Run, tmp_path: Path) -> None:
    host = shlex.join([sys.executable, "-m", "contextproof.conformance.cli", "host", REFERENCE])
    code, out, err = run(written(tmp_path, document()), "--command", host)
    assert code == 0, err
    assert "builder contextproof-reference 1.0: it opens" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "the configuration: model: missing"),
        (("gone.json",), "gone.json: cannot be read: No such file or directory"),
        (("opening.json", "--builder", "no.such:thing"), "builder error: no module to import"),
        (("opening.json", "--tools", "tools.json"), "tools.json: [0].name: input should be a valid string"),
        (("opening.json", "--model", "x"), '--model: "x" is not of the form'),
    ],
)
def test_what_cannot_be_read_gets_one_sentence_and_exit_status_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], told: str
) -> None:
    written(tmp_path, document())
    written(tmp_path, [{"name": 1}], "tools.json")
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith(told)


def test_two_forms_at_once_are_a_usage_error(run: Run, tmp_path: Path) -> None:
    code, _, err = run(written(tmp_path, document()), "--json", "--markdown")
    assert code == 2
    assert "not both" in err


# --- What is told ----------------------------------------------------------------------------------------


def told(found: Preflight) -> str:
    return "\n".join(lines(found))


def test_every_class_is_drawn_and_what_is_over_goes_beyond_its_end(tmp_path: Path) -> None:
    found = told(checked(tmp_path, memory=["x"] * 41, policy=words(2_000), instructions=words(1)))
    assert (
        "memory_snapshot      [##############################>      41 of        40 items  over by 1" in found
    )
    assert (
        "platform_policy      [##############################]   2,000 of     2,000 tokens  exactly" in found
    )
    assert "agent_instructions   [#.............................]       1 of" in found
    assert "tool_definitions     [..............................]       0 of" in found


def test_the_heaviest_are_named_and_without_which_a_class_is_within_its_cap(tmp_path: Path) -> None:
    found = told(checked(tmp_path, tools=tools_of(6_500, 7)))
    assert "heaviest of tool_definitions: tool_0 6,422 (description" in found
    assert "and 2 more" in found
    assert "OVER tool_definitions: 6,500 of 6,000 tokens, 500 too many; without tool_0 it is within" in found
    found = told(checked(tmp_path, instructions=[words(3_000), words(3_000), words(5)]))
    assert "heaviest of agent_instructions: instructions-1 3,000" in found
    assert "without instructions-1 it is within" in found


def test_a_reserve_that_leaves_too_little_is_told_first(tmp_path: Path) -> None:
    found = told(checked(tmp_path, model={**MODEL, "output_reserve": 99_500}))
    assert (
        "left by the reserve  [###############...............]     500 of     1,000 tokens  short by" in found
    )
    assert "OVER output_reserve: it leaves 500 of 1,000 tokens that are the least" in found


def test_a_window_smaller_than_its_reserve_and_an_empty_ceiling_are_drawn_too(tmp_path: Path) -> None:
    for window in (0, 4_500, 5_000):
        assert "refused" in told(checked(tmp_path, model={**MODEL, "window": window}))


def test_the_ceiling_and_what_is_not_measured_are_said(tmp_path: Path) -> None:
    found = told(checked(tmp_path))
    assert "ceiling of the whole prefix: 100,000 - 4,000 - 1,000 = 95,000; content 4" in found
    assert "not measured is what a builder adds: up to 500 tokens" in found


def test_on_a_terminal_bars_are_drawn_in_colour_with_words_beside_them(tmp_path: Path) -> None:
    stream = io.StringIO()
    console = Console(
        file=stream, force_terminal=True, width=140, color_system="standard", legacy_windows=False
    )
    print_preflight(checked(tmp_path, memory=["x"] * 41, tools=tools_of(100)), console)
    shown = stream.getvalue()
    assert "█" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "over by 1" in plain
    assert plain.rstrip().endswith("refused: no session opens with this configuration")


def test_the_json_form_has_every_figure(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, document(memory=["x"] * 41, tools=tools_of(100)))
    code, out, _ = run(path, "--json", "--builder", REFERENCE)
    found = json.loads(out)
    assert code == 1
    assert (found["opens"], found["answer"]) == (False, "refused")
    assert found["reasons"] == [
        {"rule": "cap", "token_class": "memory_snapshot", "measured": 41, "cap": 40, "unit": "items", "by": 1}
    ]
    assert {"token_class": "tool_definitions", "measured": 100, "cap": 6_000, "unit": "tokens"} in found[
        "classes"
    ]
    assert found["builder"]["opens"] is False
    assert found["weights"][0]["name"] == "tool_0"


# --- Hostile text ----------------------------------------------------------------------------------------


def hostile(folder: Path) -> Preflight:
    tools: list[dict[str, Any]] = [{"name": HOSTILE, "inputSchema": {}}, {"type": HOSTILE}]
    return checked(
        folder,
        model={**MODEL, "name": HOSTILE},
        tools=tools,
        memory=[{"id": HOSTILE, "text": "x"}],
        permissions=[HOSTILE, f"{HOSTILE} gone"],
    )


def test_hostile_names_neither_hide_nor_break_a_line(tmp_path: Path) -> None:
    found = hostile(tmp_path)
    for form in (list(lines(found)), list(markdown(found)), as_json(found).splitlines()):
        assert not any(is_hidden(character) for line in form for character in line)
    assert (
        len(list(lines(found))) == len(list(lines(checked(tmp_path, tools=tools_of(99), memory=["x"])))) + 2
    )


def test_hostile_names_stay_within_their_code_in_markdown(tmp_path: Path) -> None:
    for line in markdown(hostile(tmp_path)):
        if "script" in line:
            fence = re.match(r"- (`+) ", line)
            assert fence is not None, line
            assert line.endswith(f" {fence[1]}")
            assert fence[1] not in line[len(fence[0]) : -len(fence[1])]


def test_hostile_names_are_shown_whole_on_a_terminal_and_no_markup(tmp_path: Path) -> None:
    stream = io.StringIO()
    found = checked(tmp_path, tools=[{"name": "[red]x[/red]", "inputSchema": {}}], memory=["x"] * 41)
    print_preflight(found, Console(file=stream, force_terminal=True, width=200, color_system=None))
    assert "[red]x[/red]" in stream.getvalue()


def test_a_hostile_file_is_escaped_in_the_complaint(run: Run, tmp_path: Path) -> None:
    code, _, err = run(written(tmp_path, document(**{"\x1b[2J\u202e": 1})))
    assert code == 2
    assert not any(is_hidden(character) for character in err.rstrip("\n"))


# --- The page --------------------------------------------------------------------------------------------

SHOWN = re.findall(
    r"^```sh\n(contextproof preflight [^\n]*)\n```\n+```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


def test_the_page_shows_several_runs() -> None:
    assert len(SHOWN) >= 3


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_the_page_shows_what_the_command_prints(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str, output: str
) -> None:
    monkeypatch.chdir(EXAMPLE)
    code, out, err = run(*shlex.split(command)[2:])
    assert err == ""
    assert out == output, "put what the command prints now into docs/preflight.md"
    after = PAGE.split(output)[1]
    assert after.startswith(f"```\n\nExit status {code}")


def test_the_page_shows_the_document_of_the_example() -> None:
    assert (EXAMPLE / "opening.json").read_text(encoding="utf-8") in PAGE


def test_the_page_names_every_shape_that_is_read() -> None:
    assert all(shape.name in PAGE for shape in SHAPES)
