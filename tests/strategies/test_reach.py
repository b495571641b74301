"""Every situation that a strategy is there for is reached, often enough to be found by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest

import contextproof.scenarios as scripted
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.items import WORKING_STATE_TOOL, UndeclaredItem
from contextproof.conformance.contract.tokenizers import count
from contextproof.conformance.contract.vocabulary import Trust
from contextproof.conformance.play import scenario as s
from contextproof.conformance.play.recipes import cycle
from contextproof.conformance.play.scenario import Scenario
from generated import KEYS, SUMMARIZERS, calls, sessions, steps, texts

Situation = Callable[[Scenario], bool]


def has(*kinds: type[Frozen]) -> Situation:
    return lambda scenario: all(steps(scenario, kind) for kind in kinds)


def holds(test: Callable[[s.Text], bool]) -> Situation:
    return lambda scenario: any(test(text) for text in texts(scenario))


def calls_so(test: Callable[[s.Call], bool]) -> Situation:
    return lambda scenario: any(test(call) for call in calls(scenario))


def steps_so(test: Callable[..., bool], kind: type[Frozen]) -> Situation:
    return lambda scenario: any(test(step) for step in steps(scenario, kind))


def length(text: s.Text) -> int:
    """Characters of what can be told without a builder."""
    return len(resolved(text))


def resolved(text: s.Text) -> str:
    said = text if isinstance(text, str) else ""
    for piece in () if isinstance(text, str) else text:
        match piece:
            case s.Literally():
                said += piece.text
            case s.Repeat():
                said += piece.text * piece.times
            case s.FromCorpus():
                said += cycle(scripted.corpus(piece.name), piece.start, piece.characters)
    return said


def recipe(kind: type[Frozen]) -> Callable[[s.Text], bool]:
    return lambda text: not isinstance(text, str) and any(isinstance(piece, kind) for piece in text)


def character(test: Callable[[str], bool]) -> Situation:
    return holds(lambda text: any(test(letter) for letter in resolved(text)[:400]))


def tokens(scenario: Scenario, items: Iterable[s.TextItem]) -> int:
    return sum(count(scenario.opening.model.tokenizer, resolved(item.text)) for item in items)


def near(cap: int, plus: int, which: str) -> Situation:
    return lambda scenario: tokens(scenario, getattr(scenario.opening, which)) == cap + plus


def permits(number: int) -> Situation:
    return lambda scenario: len(scenario.opening.permissions) == number


def remembers(number: int) -> Situation:
    return lambda scenario: len(scenario.opening.memory) == number


def has_body(tokens: int) -> Situation:
    return lambda scenario: scenario.opening.model.body_tokens == tokens


def leaves(least: int, most: int) -> Situation:
    def found(scenario: Scenario) -> bool:
        model = scenario.opening.model
        return model.window is not None and least <= model.window - model.output_reserve <= most

    return found


def routed(aspect: str) -> Situation:
    """To a model that differs in that from the one before."""

    def found(scenario: Scenario) -> bool:
        changes = [step for step in scenario.steps if isinstance(step, s.ChangeRouting)]
        models = [scenario.opening.model, *(step.model for step in changes)]
        return any(getattr(before, aspect) != getattr(after, aspect) for before, after in pairwise(models))

    return found


def recurs(scenario: Scenario) -> bool:
    named = [{call.call_id for call in r.calls} for r in scenario.steps if isinstance(r, s.ModelReplies)]
    return any(first & second for first, second in pairwise(named))


def fills(field: str, number: int) -> Situation:
    def found(scenario: Scenario) -> bool:
        written = [step.change for step in scenario.steps if isinstance(step, s.WriteState)]
        written += [call.update for call in calls(scenario) if call.update]
        return any(len(getattr(change, field)) >= number for change in written)

    return found


def chains(scenario: Scenario) -> bool:
    """Something derives from something in the log that itself derives from something in the log."""
    bases: dict[str, tuple[str, ...]] = {}
    for step in scenario.steps:
        if isinstance(step, s.ModelReplies):
            bases[step.id] = step.derived_from
            outcomes = [call.outcome for call in step.calls if call.outcome]
            bases.update({outcome.id: outcome.derived_from for outcome in outcomes})
    return any(bases.get(name) for names in bases.values() for name in names)


def summarizes(mode: str) -> Situation:
    return steps_so(lambda step: step.mode == mode, s.SetSummarizer)


def share(part: float) -> Situation:
    """A result of at least that part of the body, by a rough measure."""

    def found(scenario: Scenario) -> bool:
        body = scenario.opening.model.body_tokens or 0
        return any(
            c.outcome is not None and length(c.outcome.text) > part * body * 4 for c in calls(scenario)
        )

    return found


REACHED: dict[str, dict[str, Situation]] = {
    "openings": {
        **{f"policy at cap {plus:+}": near(2_000, plus, "policy") for plus in (-1, 0, 1)},
        **{f"instructions at cap {plus:+}": near(4_000, plus, "instructions") for plus in (-1, 0, 1)},
        **{f"memory at cap {plus:+}": near(1_500, plus, "memory") for plus in (-1, 0, 1)},
        **{f"{n} tools": permits(n) for n in (0, 29, 30, 31)},
        **{f"{n} memories": remembers(n) for n in (0, 39, 40, 41)},
        **{f"{n} tokens left": leaves(n, n) for n in (999, 1_000, 1_001)},
        **{f"a body of {n}": has_body(n) for n in (999, 1_000, 1_001)},
        "nothing left": leaves(-1, 0),
        "a million tokens": lambda it: it.opening.model.window == 1_000_000,
        "the other tokenizer": lambda it: it.opening.model.tokenizer == "cl100k_base",
        "a tool that is not permitted": lambda it: len(it.opening.permissions) < len(it.opening.tools),
        "a rotation": has(s.ChangeRouting),
        "a forced revocation": has(s.RevokeByForce),
    },
    "sessions": {
        "four parallel calls": steps_so(lambda reply: len(reply.calls) == 4, s.ModelReplies),
        "another order of completion": steps_so(lambda reply: bool(reply.order), s.ModelReplies),
        "a call id that recurs": recurs,
        "an empty call id": calls_so(lambda call: not call.call_id),
        "an error": calls_so(lambda call: bool(call.outcome and call.outcome.status == "error")),
        "a call left open": calls_so(lambda call: call.outcome is None and call.name != WORKING_STATE_TOOL),
        "a result labelled above its ceiling": calls_so(
            lambda call: bool(call.outcome and call.outcome.trust is Trust.PLATFORM)
        ),
        "provenance through two steps": chains,
        "retries": steps_so(lambda request: request.failures == 3, s.SendRequest),
        "usage above the count": steps_so(lambda request: bool(request.extra_ppm), s.SendRequest),
        "all that stands beside history": has(s.Recall, s.WriteState, s.CorrectMemory, s.SetEnvironment),
        "midnight": steps_so(lambda step: step.clock.startswith("2026-03-28T00:00"), s.SetClock),
        "a leap day": steps_so(lambda step: step.clock.startswith("2028-02-29"), s.SetClock),
        "a resume": has(s.Resume),
        "a compaction": has(s.ForceCompaction),
        "a close": has(s.CloseSession),
        "no tools": lambda it: not it.opening.tools,
    },
    "revocations": {
        "a soft revocation": has(s.SetPermissions),
        "tools in another order": steps_so(lambda step: len(step.tools) > 1, s.RegisterTools),
        "all tools gone": steps_so(lambda step: not step.tools, s.RegisterTools),
        "a tool of nobody's revoked by force": steps_so(
            lambda step: step.tool == "somebody_elses_tool", s.RevokeByForce
        ),
        "revoked by force twice": lambda it: any(
            isinstance(first, s.RevokeByForce) and first == second for first, second in pairwise(it.steps)
        ),
        "a rotation after changes": has(s.ChangeRouting, s.RegisterTools),
        "a call of nobody's tool": calls_so(lambda call: call.name == "somebody_elses_tool"),
    },
    "routing": {
        **{
            aspect: routed(aspect)
            for aspect in ("name", "provider", "endpoint", "reasoning_mode", "tokenizer", "body_tokens")
        },
        "back to the first": lambda it: any(
            step.model == it.opening.model for step in it.steps if isinstance(step, s.ChangeRouting)
        ),
        "usage far above": steps_so(lambda request: request.extra_ppm > 500_000, s.SendRequest),
        "usage a little above": steps_so(lambda request: request.extra_tokens == 40, s.SendRequest),
    },
    "pressure": {
        "a result of half the body": share(0.4),
        "a result of more than the body": share(1.0),
        "recall": has(s.Recall),
        "a message of more than the body": steps_so(lambda step: length(step.text) > 4_800, s.UserSays),
        "working state beside it": has(s.WriteState),
        "another summarizer": has(s.SetSummarizer),
    },
    "compactions": {
        **{mode: summarizes(mode) for mode in SUMMARIZERS},
        "four in a session": lambda it: len(steps(it, s.ForceCompaction)) >= 4,
        "twelve pairs in a turn": lambda it: len(calls(it)) >= 12,
        "by need alone": lambda it: not steps(it, s.ForceCompaction),
    },
    "hostile": {
        "the builder's delimiter": holds(recipe(s.OwnDelimiter)),
        "a part that was sent": holds(recipe(s.SentPart)),
        "a long run": holds(lambda text: length(text) >= 3_000),
        "special tokens": holds(lambda text: "<|im_start|>" in resolved(text)),
        "control characters": character(lambda letter: letter in "\x00\x1b"),
        "tag characters": character(lambda letter: "\U000e0020" <= letter <= "\U000e007f"),
        "variation selectors": character(lambda letter: "\ufe00" <= letter <= "\ufe0f"),
        "right to left": character(lambda letter: letter in "\u202e\u2066"),
        "zero width": character(lambda letter: letter in "\u200b\u200d\u2060"),
        "line separators": character(lambda letter: letter == "\u2028"),
        "noncharacters": character(lambda letter: letter == "\uffff"),
        "arguments that are no JSON": calls_so(lambda call: not resolved(call.arguments).endswith("}")),
        "a forged source": calls_so(
            lambda call: bool(call.outcome and "trust=" in resolved(call.outcome.source))
        ),
        "a forged tool name": lambda it: any("trust=" in resolved(t.name) for t in it.opening.tools),
        "a forged id": lambda it: any("trust" in item.id for item in it.opening.memory),
        "an undeclared type": steps_so(
            lambda probe: any(isinstance(item, UndeclaredItem) for item in probe.items), s.ProbeBuild
        ),
    },
    "working_state": {
        **{
            f"{field} to the cap": fills(field, cap - 1)
            for field, cap in (
                ("constraints", 20),
                ("tasks", 30),
                ("established_facts", 40),
                ("open_questions", 20),
            )
        },
        "by the user": steps_so(lambda step: step.by == "user", s.WriteState),
        "by the runtime": steps_so(lambda step: step.by == "runtime", s.WriteState),
        "by the model": calls_so(lambda call: call.update is not None),
        "arguments that are no update": calls_so(
            lambda call: call.name == WORKING_STATE_TOOL and call.update is None
        ),
        "a removal": calls_so(lambda call: bool(call.update and call.update.remove_constraints)),
        "an imitation": holds(lambda text: "context.update_working_state(" in resolved(text)),
        "two updates in a message": steps_so(
            lambda reply: sum(call.update is not None for call in reply.calls) > 1, s.ModelReplies
        ),
    },
    "formation": {
        "a fact and a close": lambda it: fills("established_facts", 1)(it) and has(s.CloseSession)(it),
        "a fact that rests on something": calls_so(
            lambda call: bool(call.update and any(f.derived_from for f in call.update.established_facts))
        ),
        "other entries": lambda it: fills("tasks", 1)(it) or fills("constraints", 1)(it),
    },
    "pairs": {
        "a probe": has(s.ProbeBuild),
        "a probe over what is open": steps_so(lambda probe: not probe.items, s.ProbeBuild),
        "a call id that recurs": recurs,
        "the same id twice in a message": steps_so(
            lambda reply: len({call.call_id for call in reply.calls}) < len(reply.calls), s.ModelReplies
        ),
        "an order of completion": steps_so(lambda reply: bool(reply.order), s.ModelReplies),
        "a compaction": has(s.ForceCompaction),
    },
}


def test_reach_is_stated_for_every_strategy() -> None:
    assert set(REACHED) == set(KEYS)


@pytest.mark.parametrize(
    ("key", "situation"), [(key, name) for key, situations in REACHED.items() for name in situations]
)
def test_a_situation_is_reached_in_two_hundred_sessions(key: str, situation: str) -> None:
    reached = sum(REACHED[key][situation](scenario) for scenario in sessions(key))
    assert reached >= 2, f"{situation}: in {reached} of {len(sessions(key))} sessions"
