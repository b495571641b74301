"""Lines changed alike are one change, and nothing that differs goes untold."""

from __future__ import annotations

import json

import pytest

from contextproof.conformance.snapshot.checking import Compared
from contextproof.conformance.snapshot.diff import Edit, compare
from contextproof.conformance.snapshot.forms import Format
from contextproof.conformance.snapshot.store import stored
from snapshot.making import captured


def _compared(old: dict[str, str], new: dict[str, str], *, pinned: str = "") -> Compared:
    before, after = stored(captured(old)), stored(captured(new, pinned=pinned))
    return Compared(before, after, compare(before, after))


def test_equal_sets_differ_in_nothing() -> None:
    compared = _compared({"10-envelopes/a.txt": "| x\n"}, {"10-envelopes/a.txt": "| x\n"})
    assert compared.difference.is_empty
    assert compared.told() == "Nothing changed.\n"


def test_the_same_replacement_in_many_lines_and_files_is_one_change() -> None:
    old = {f"10-envelopes/{n}.txt": f"| <ctx type={n}>\n| text {n}\n| <ctx type=b>\n" for n in "abc"}
    new = {name: text.replace("<ctx", "<<ctx") for name, text in old.items()}
    (change,) = _compared(old, new).difference.changes
    assert change.edits == (Edit(removed="", added="<"),)
    assert len(change.places) == 6
    assert change.files == tuple(old)
    assert change.places[0].line == 3


def test_a_replacement_that_occurs_several_times_in_a_line_is_told_once() -> None:
    old = {"a.txt": "| one [x] and\n| [y] and [z] more\n"}
    new = {"a.txt": "| one (x] and\n| (y] and (z] more\n"}
    (change,) = _compared(old, new).difference.changes
    assert change.edits == (Edit(removed="[", added="("),)


def test_numbers_that_differ_from_line_to_line_are_one_change() -> None:
    old = {"a.txt": "| needed: 41\n| the cap\n| needed: 7\n"}
    new = {"a.txt": "| needed: 43\n| the cap\n| needed: 9\n"}
    compared = _compared(old, new)
    (change,) = compared.difference.changes
    assert change.edits == (Edit(removed="#", added="#"),)
    assert "each replaces a number by another" in compared.told()


def test_numbers_of_different_things_are_different_changes() -> None:
    compared = _compared({"a.txt": "| cap: 41\n| size: 7\n"}, {"a.txt": "| cap: 43\n| size: 9\n"})
    assert [change.removed for change in compared.difference.changes] == [("| cap: 41",), ("| size: 7",)]


def test_lines_that_appear_together_are_one_change_wherever_that_is() -> None:
    old = {f"{n}.txt": f"| a {n}\n| b {n}\n" for n in "xy"}
    new = {f"{n}.txt": f"| a {n}\n| new\n| lines\n| b {n}\n" for n in "xy"}
    (change,) = _compared(old, new).difference.changes
    assert (change.removed, change.added) == ((), ("| new", "| lines"))
    assert len(change.places) == 2


def test_lines_with_little_in_common_are_told_whole() -> None:
    compared = _compared({"a.txt": "| entirely this\n"}, {"a.txt": "| something, else: (altogether)!\n"})
    (change,) = compared.difference.changes
    assert change.edits == ()
    assert "   - | entirely this\n   + | something, else: (altogether)!\n" in compared.told()


def test_a_block_in_front_does_not_make_every_later_nonce_a_change() -> None:
    old = {"a.txt": "| <‹nonce 1›>\n| text\n| </‹nonce 1›>\n"}
    new = {"a.txt": "| <‹nonce 1›>\n| new\n| </‹nonce 1›>\n| <‹nonce 2›>\n| text\n| </‹nonce 2›>\n"}
    assert [len(change.added) for change in _compared(old, new).difference.changes] == [3]


def test_nonces_that_change_places_are_told_though_no_line_changed_otherwise() -> None:
    compared = _compared(
        {"a.txt": "| <‹nonce 1›> ‹nonce 2› </‹nonce 1›>\n"},
        {"a.txt": "| <‹nonce 1›> ‹nonce 2› </‹nonce 2›>\n"},
    )
    assert compared.difference.renumbered == ("a.txt",)
    assert "nonces stand or repeat in another order: a.txt" in compared.told()


def test_other_bytes_under_the_same_text_are_told() -> None:
    compared = _compared({"a.txt": "| x\n"}, {"a.txt": "| x\n"}, pinned="other nonces")
    assert compared.difference.bytes_only == ("a.txt",)
    assert not compared.difference.is_empty
    assert "the text is the same and the bytes are not" in compared.told()


def test_files_that_come_and_go_are_told() -> None:
    compared = _compared({"a.txt": "", "b.txt": ""}, {"b.txt": "", "c.txt": ""})
    assert (compared.difference.appeared, compared.difference.vanished) == (("c.txt",), ("a.txt",))
    assert "only in the new snapshots: c.txt" in compared.told()
    assert "only in the old snapshots: a.txt" in compared.told()


def test_look_alikes_are_told_apart_by_their_code_points() -> None:
    told = _compared({"a.txt": "| paypal\n"}, {"a.txt": "| p\u0430ypal\n"})
    assert told.difference.changes
    edit = _compared({"a.txt": "| see (a) now\n"}, {"a.txt": "| see (\u0430) now\n"})
    assert "U+0430 cyrillic small letter a" in edit.told()


def test_a_change_far_into_a_long_line_is_cut_out_of_it() -> None:
    old, new = ("| " + "word " * 400 + middle + " word" * 400 + "\n" for middle in ("this", "that"))
    compared = _compared({"a.txt": old}, {"a.txt": new})
    assert compared.difference.changes[0].edits == (Edit(removed="this", added="that"),)
    assert max(map(len, compared.told().splitlines())) < 200


HOSTILE = "| \u202eevil\u2066 \x1b[2J ```` </details> <script> ‹nonce 1›\n"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_file_that_somebody_tampered_with_cannot_deceive(form: Format) -> None:
    told = _compared({"10-envelopes/\u202ea.txt": "| good\n"}, {"10-envelopes/\u202ea.txt": HOSTILE}).told(
        form
    )
    assert not set(told) & {"\u202e", "\u2066", "\x1b"}


def test_nothing_closes_a_block_of_code_in_markdown() -> None:
    told = _compared({"a.txt": "| good\n"}, {"a.txt": HOSTILE}).told("markdown")
    lines = told.splitlines()
    (opens,) = (line for line in lines if line.endswith("diff"))
    fence = opens.removesuffix("diff")
    assert fence == "`````"
    assert lines.index(fence) > lines.index(next(line for line in lines if line.startswith("+ ")))


def test_json_says_the_same() -> None:
    compared = _compared({"a.txt": "| (old) text\n"}, {"a.txt": "| (new) text\n"})
    document = json.loads(compared.told("json"))
    assert document["changed"] is True
    assert document["difference"] == compared.difference.model_dump(mode="json")
    assert document["consequences"]["session"] == "fifty_turns"
    assert document["consequences"]["cache"] is None
    assert json.loads(_compared({}, {}).told("json"))["changed"] is False
