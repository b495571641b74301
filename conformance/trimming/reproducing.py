"""A script that shows a violation with nothing of ours installed: the messages, the call, and a check."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pprint import pformat

from contextproof.conformance.trimming.aligning import missing
from contextproof.conformance.trimming.checks import CHECKS, CONTENTS, MAY_REFUSE, PARTS
from contextproof.conformance.trimming.formats import flat
from contextproof.conformance.trimming.rules import RULES
from contextproof.conformance.trimming.running import Example
from contextproof.conformance.trimming.session import Asked, Returned

_WIDTH = 100
#: Rules that compare answers to a conversation as it grows.
_GROWING = frozenset({"CTX-16.1", "CTX-16.3"})


def script(example: Example, spec: str) -> str:
    """The script. It ends with exit status 1 and says why, and with 0 once that is mended.

    Args:
        example: the violation.
        spec: the trimmer, as ``module:function``.
    """
    text = "\n".join(_lines(example, spec)) + "\n"
    return text.encode("ascii", "backslashreplace").decode()  # nothing in it is invisible, or turns the text


def _lines(example: Example, spec: str) -> Iterator[str]:
    rule, finding = RULES[example.finding.rule], example.finding
    assert finding.violation is not None
    module, _, function = spec.partition(":")
    body = list(_body(example))
    names = ["asyncio"] if example.manner.is_async else []
    names += [
        name
        for name in ("copy", "itertools", "json", "os", "signal", "subprocess")
        if any(f"{name}." in line for line in body)
    ]
    yield f'"""{rule.id}, {rule.name.replace("_", " ")}: run it where the trimmer can be imported.'
    yield ""
    yield f"Seen: {_quoted(finding.violation.seen)}"
    yield f"Required: {_quoted(finding.violation.required)}"
    yield '"""'
    yield ""
    yield from (f"import {name}" for name in sorted({*names, "sys"}))
    yield ""
    yield 'sys.path.insert(0, ".")'
    yield f"from {module} import {function} as trim  # noqa: E402"
    yield ""
    yield from body


def _quoted(text: str) -> str:
    """A text on one line of a docstring."""
    return text.replace("\\", "\\\\").replace('"""', "'''").replace("\n", "\\n").replace("\r", "\\r")


def _literal(value: object) -> str:
    return pformat(value, width=_WIDTH, sort_dicts=False)


def _body(example: Example) -> Iterator[str]:
    identifier, asked = example.finding.rule, example.asked
    if asked.system is not None:
        yield f"system = {asked.system!r}"
    yield f"limit = {asked.limit}"
    call = example.manner.call("trim")
    if identifier in _GROWING:
        yield f"conversation = {_literal(_stages(example))}"
        yield f"answers = [{call} for messages in conversation]"
    else:
        yield f"messages = {_literal(asked.given)}"
    if identifier in CONTENTS and not asked.can_fit:
        yield from MAY_REFUSE.replace("CALL", call).strip().splitlines()
    elif identifier in CONTENTS:
        yield from (f"kept = {call}", "print(kept)")
    if identifier in {*CONTENTS, *_GROWING}:
        yield from PARTS[asked.setting.format.name]
    own = identifier == "CTX-08.1" and "handed its own" in (_seen(example))
    check = CHECKS[f"{identifier} own" if own else identifier]
    text = check if isinstance(check, str) else check[asked.setting.format.name]
    facts = {"CALL": call, "PLACES": repr(_places(asked)), "TOKENIZER": repr(asked.setting.tokenizer)}
    facts["EXTRA"] = "[system]" if asked.system is not None else "[]"
    if own:
        facts["CALL"] = f"(lambda messages: {call})(copy.deepcopy(kept))"
    for name, value in facts.items():
        text = text.replace(name, value)
    yield from text.strip().splitlines()


def _seen(example: Example) -> str:
    return example.finding.violation.seen if example.finding.violation is not None else ""


def _stages(example: Example) -> list[object]:
    """What was handed over each time, from just before it first gave way, up to the violation."""
    assert example.finding.violation is not None
    asked = example.session.asked[: example.finding.violation.at.record + 1]
    if example.finding.rule == "CTX-16.1":
        return [one.given for one in asked[-2:]]
    gave_way = [n for n, (before, after) in enumerate(pairwise(asked)) if not _only_grew(before, after)]
    first = gave_way[-2] if len(gave_way) > 1 else 0
    return [one.given for one in asked[first:]]


def _only_grew(before: Asked, after: Asked) -> bool:
    if not isinstance(before.answer, Returned) or not isinstance(after.answer, Returned):
        return True
    return after.answer.messages[: len(before.answer.messages)] == before.answer.messages


def _places(asked: Asked) -> tuple[int, ...]:
    """Where what must not be given up, and was, stands among the parts handed over."""
    lost = missing([entry for entry in asked.least if not entry.is_blank], asked.kept or [])
    messages = asked.setting.format.read(asked.given)
    if not asked.setting.format.has_system:  # a part is a block there, and a message elsewhere
        messages = [[entry] for entry in flat(messages)]
    return tuple(sorted({max(n for n, message in enumerate(messages) if one in message) for one in lost}))
