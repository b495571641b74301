"""The CI recipes are what they say: the shell script and the action's steps are run, the rest is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from contextproof.conformance.certification.command import read_known_failures
from contextproof.conformance.report.annotations import in_github
from guides import DOCS, ROOT, blocks

RECIPES = list(blocks(DOCS / "ci.md"))
SMALL = ("--profile", "smoke", "--examples", "1", "--seed", "7", "--only", "CTX-03.1", "-n", "1")
BUILDER = "contextproof.reference_impl.engine:factory"


def recipe(language: str, number: int = 0) -> str:
    return [block.text for block in RECIPES if block.language == language][number]


def bash(script: Path | str, *words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    given = [str(script)] if isinstance(script, Path) else ["-eo", "pipefail", "-c", script]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", *given, *words],
        cwd=cwd,
        env=kept | {"PATH": path} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_the_shell_recipe_certifies_and_keeps_a_report(tmp_path: Path) -> None:
    (tmp_path / "certify.sh").write_text(recipe("sh"), encoding="utf-8")
    (tmp_path / "known-failures.toml").write_text("")
    ran = bash(tmp_path / "certify.sh", *SMALL, cwd=tmp_path, BUILDER=BUILDER)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    left = {path.name for path in (tmp_path / "contextproof-run").iterdir()}
    assert {"run.jsonl", "certificate.json", "report.html", "summary.md", "junit.xml"} <= left
    again = bash(tmp_path / "certify.sh", *SMALL, cwd=tmp_path, BUILDER=BUILDER)
    assert again.returncode == 2, "what is there already is not overwritten"


def test_the_list_of_known_failures_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "known-failures.toml").write_text(recipe("toml"), encoding="utf-8")
    assert list(read_known_failures(tmp_path / "known-failures.toml")) == ["CTX-03.1"]


def action() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return read


def test_the_action_puts_no_input_into_a_script() -> None:
    steps = action()["runs"]["steps"]
    assert all("${{" not in step["run"] for step in steps)
    named = {value for step in steps for value in step["env"].values()}
    inputs = {f"${{{{ inputs.{name} }}}}" for name in action()["inputs"] if name != "install"}
    assert named == inputs | {"${{ github.action_path }}"}


@pytest.mark.slow
def test_the_action_certifies_sums_up_and_tells_where_the_report_is(tmp_path: Path) -> None:
    step = next(step for step in action()["runs"]["steps"] if step.get("id") == "certify")
    given = {name: declared.get("default", "") for name, declared in action()["inputs"].items()}
    given |= {"builder": BUILDER, "profile": "smoke", "seed": "7", "shard": "1/60", "python": sys.executable}
    names = {variable: text.split()[1].removeprefix("inputs.") for variable, text in step["env"].items()}
    environment = {variable: given[name] for variable, name in names.items()}
    environment |= {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(tmp_path / "output")}
    environment |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    assert in_github(environment)
    ran = bash(step["run"], cwd=tmp_path, **environment)
    assert ran.returncode in {0, 1}, ran.stderr
    assert (tmp_path / "output").read_text() == "report=contextproof-run\n"
    assert (tmp_path / "contextproof-run" / "report.html").exists()
    assert "contextproof" in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize("text", [block.text for block in RECIPES if block.language == "yaml"])
def test_a_recipe_of_a_service_is_yaml_and_names_inputs_that_there_are(text: str) -> None:
    jobs = yaml.safe_load(text)
    for job in jobs.get("jobs", {}).values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("OWNER/contextproof@"):
                assert set(step["with"]) <= set(action()["inputs"])


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")
    assert (tmp_path / "site" / "guides" / "builder-author.html").exists()
    fetched = ('<script src="http', '<link href="http', '<link rel="stylesheet" href="http')
    for page in (tmp_path / "site").rglob("*.html"):
        assert not any(start in page.read_text(encoding="utf-8") for start in fetched), page
