"""The page: whole in itself, true to the record, and nothing that a builder wrote gets out of its place."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from contextproof.conformance.certificate.making import certificate
from contextproof.conformance.contract.request import Extent
from contextproof.conformance.report.escape import is_hidden
from contextproof.conformance.report.html import charts
from contextproof.conformance.report.html.page import page
from contextproof.conformance.report.html.rendering import block_views, segments_of
from report.hostile import ATTACKS
from report.runs import HOSTILE, REFERENCE, STAMPED, run_of

#: Elements and attributes that could run something, or fetch it.
ACTIVE = {"script", "iframe", "object", "embed", "img", "link", "form", "input", "base", "audio", "video"}
SECTIONS = ["gates", "failures", "counterexamples", "turns", "distributions", "requirements", "certificate"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Found(HTMLParser):
    """What elements a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sections: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.title = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "section" and dict(attrs).get("id"):
            self.sections.append(str(dict(attrs)["id"]))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "title":
            self.title += data


def page_of(spec: str) -> str:
    run = run_of(spec)
    return page(run, certificate(run))


@pytest.fixture(scope="module", params=[REFERENCE, STAMPED, HOSTILE])
def text(request: pytest.FixtureRequest) -> str:
    return page_of(request.param)


def test_it_is_one_file_that_runs_nothing_and_fetches_nothing(text: str) -> None:
    found = Found(text)
    assert not ACTIVE & set(found.tags)
    for name, value in found.attributes:
        assert not name.startswith("on"), (name, value)
        assert name not in {"src", "srcdoc", "srcset", "action", "formaction", "ping"}, (name, value)
        if name.endswith("href"):
            assert value.startswith("#"), value
    assert "default-src 'none'" in text


def test_nothing_in_it_turns_the_text_or_hides(text: str) -> None:
    assert not [c for c in set(text) if is_hidden(c) and c not in "\n\u00a0"]


def test_the_answer_stands_on_top_with_the_first_cause_and_its_cost() -> None:
    head = page_of(STAMPED).partition("<nav")[0]
    assert "✗ fails" in head
    assert "one hash per epoch (CTX-03.2)" in head
    assert "re-caches the whole prefix" in head


def test_it_says_everything_in_words_beside_colour(text: str) -> None:
    assert re.search(r"✓ (passed|holds)", text)
    assert text.count('<details class="requirement"') == 97


def test_an_unfinished_run_says_so() -> None:
    run = run_of(REFERENCE)
    footer, run.footer = run.footer, None
    try:
        assert "Unfinished: the record has no footer" in page(run, certificate(run))
    finally:
        run.footer = footer


def test_without_charts_the_figures_stand_in_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "are_there", lambda: False)
    text = page_of(REFERENCE)
    assert "<svg" not in text
    assert "contextproof[report]" in text
    assert "Figures of every request" in text


def test_drawings_take_the_pages_ink_and_keep_their_ids_apart() -> None:
    text = page_of(REFERENCE)
    assert text.count("<svg") >= 2
    assert "currentColor" in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_an_envelope_is_drawn_where_it_lies_and_nonsense_is_shown_as_it_is() -> None:
    (line, *_) = run_of(STAMPED).counterexamples
    view = next(view for view in block_views(line) if view.block.envelope is not None)
    kinds = [segment.kind for segment in view.segments]
    assert kinds.index("opening") < kinds.index("nonce") < kinds.index("content") < kinds.index("closing")
    envelope = view.block.envelope
    assert envelope is not None
    beyond = envelope.model_copy(update={"opening": Extent(start=0, end=10**9)})
    broken = view.block.model_copy(update={"envelope": beyond})
    assert "".join(segment.text for segment in segments_of(broken)) == view.block.text


def _browser(arguments: list[str], path: Path) -> str:
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("CI must have chromium")
        pytest.skip("no chromium here")
    profile = path.parent / "profile"
    ran = subprocess.run(
        [
            CHROMIUM,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={profile}",
            *arguments,
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_text_neither_runs_nor_breaks_the_page_in_a_browser(tmp_path: Path, width: int) -> None:
    text = page_of(HOSTILE)
    assert all(attack.partition("=")[0] not in text for attack in ATTACKS[:3])
    # A script of ours measures the page once it stands; the policy that forbids it is taken out for that.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    text += (
        "<script>document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;"
        "document.body.dataset.title = document.title</script>"
    )
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    dom = _browser(["--dump-dom", f"--window-size={width},2000", "--virtual-time-budget=2000"], path)
    found = Found(dom)
    told = dict(found.attributes)
    assert told["data-wide"] == "false"
    assert told["data-title"].startswith(ATTACKS[0][:30])
    assert found.sections == [section for section in SECTIONS if section in found.sections]
    assert {"failures", "counterexamples", "certificate"} <= set(found.sections)
    assert found.tags.count("script") == 1
    assert not (ACTIVE - {"script"}) & set(found.tags)
    assert found.tags.count("main") == 1


@pytest.mark.slow
def test_it_prints(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_of(STAMPED), encoding="utf-8")
    printed = tmp_path / "page.pdf"
    _browser(["--no-pdf-header-footer", f"--print-to-pdf={printed}"], path)
    assert printed.read_bytes().startswith(b"%PDF")


def _colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", css))


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(theme: str) -> None:
    css = files("contextproof.conformance.report.html").joinpath("page.css").read_text(encoding="utf-8")
    light, dark = css.split("@media (prefers-color-scheme: dark)")[:2]
    colours = _colours(light if theme == "light" else dark.partition("* {")[0])
    on_paper = ("ink", "soft", "good", "bad", "open", "link")
    pairs = [(text, behind) for text in on_paper for behind in ("paper", "tint")]
    pairs += [("ink", behind) for behind in ("mark", "envelope", "nonce", "trust", "pointer")]
    pairs += [("bad", "mark")]
    weak = [pair for pair in pairs if _contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    assert weak == []
