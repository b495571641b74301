"""Sessions: the mixtures of all words, one for each key, made for what that strategy is to stress.

Texts of a session are of one flavour, or of all.
"""

from __future__ import annotations

from functools import cache

from hypothesis.strategies import SearchStrategy

from contextproof.conformance.play.scenario import Scenario
from contextproof.strategies import changes, compactions, openings, pairs, pressure, state, texts, turns
from contextproof.strategies.author import Move
from contextproof.strategies.mixtures import Mixture, Moves, written
from contextproof.strategies.openings import ROOMY, TIGHT, Kind

FLAVOURS: tuple[texts.Flavour, ...] = ("plain", "plain", "any", "hostile", "scripts")


def _general(flavour: texts.Flavour, bodies: tuple[int, ...]) -> Mixture:
    brief = texts.brief(flavour)
    return Mixture(
        openings.of(Kind(flavour, bodies)),
        core=(turns.asks(flavour), turns.works(flavour), turns.says(flavour), turns.answers(flavour)),
        extra=(
            state.writes(brief),
            changes.passes_time(),
            changes.remembers(flavour),
            changes.corrects(brief),
            turns.recalls(brief),
            turns.tells(brief),
            changes.revokes(),
            changes.reconnects(flavour),
            compactions.orders(),
            turns.leaves_open(flavour),
            turns.requests_again() | turns.resumes(),
            changes.grants() | changes.routes() | changes.forces(),
        ),
    )


@cache
def sessions() -> SearchStrategy[Scenario]:
    """Everything that happens in sessions, in any order: roomy ones mostly, and some under pressure."""
    return written(
        "sessions",
        (
            *(_general(flavour, ROOMY) for flavour in FLAVOURS),
            _crowded(),
            _volatile(),
            _volatile(),
            _prose(),
        ),
    )


def _volatile() -> Mixture:
    """Sessions with every volatile class beside history: a plain text is all that each needs."""
    plain = texts.brief("plain")
    return Mixture(
        openings.of(Kind(memories=(1, 2), tools=(1, 2), control=True)),
        core=(
            turns.asks("plain"),
            turns.works("plain", most=2),
            turns.recalls(plain, most=2),
            state.writes(plain, most=2),
            changes.corrects(plain),
            turns.tells(plain),
            compactions.orders(),
            turns.shows_everything("plain"),
            changes.passes_time(),
        ),
    )


def _crowded() -> Mixture:
    """Sessions under pressure, with all else that goes on."""
    general = _general("plain", TIGHT)
    pressed = pressure.presses(), pressure.talks(), turns.works("plain", most=2), turns.resumes()
    return general._replace(core=pressed)


def _prose() -> Mixture:
    """Long ordinary prose and code from the first message on, and little else: what estimates are for."""
    return Mixture(
        openings.of(Kind(memories=(0,), tools=(0, 1))),
        core=(turns.quotes(), turns.asks("plain"), turns.works("plain", most=1)),
        extra=(state.writes(texts.brief("plain")), turns.tells(texts.brief("plain"))),
    )


@cache
def pressed() -> SearchStrategy[Scenario]:
    """Small bodies: recall dropped, results truncated by need and by cap, compaction, exhaustion."""
    tight = openings.of(Kind("plain", TIGHT, tools=(1, 2), memories=(0, 1, 2)))
    anything: Moves = (
        pressure.recalls_much(),
        pressure.stands(),
        pressure.keeps_in_mind(),
        pressure.exhausts(),
        compactions.summarizes(),
        turns.shows_everything("plain"),
        changes.corrects(texts.brief("plain")) | turns.tells(texts.brief("plain")),
        changes.routes(("tokenizer", "larger", "smaller")) | changes.forces(),
        pressure.cuts_hostile(),
    )
    return written(
        "pressure",
        (
            Mixture(
                tight,
                core=(pressure.presses(), pressure.talks(), pressure.exhausts(), pressure.recalls_much()),
                extra=anything,
            ),
            Mixture(tight, (pressure.presses(pressure.SMALL_RESULTS), pressure.talks()), anything),
            Mixture(
                openings.of(Kind("plain", (6_000, 12_000, 24_000), tools=(1,), memories=(0,))),
                core=(pressure.squeezes(), pressure.talks()),
                extra=anything,
                least=2,
                most=5,
            ),
            Mixture(
                openings.of(Kind("plain", (24_000,), tools=(1,), memories=(0,))),
                core=(pressure.trickles(), turns.asks("plain")),
                least=1,
                most=3,
            ),
        ),
    )


@cache
def revocations() -> SearchStrategy[Scenario]:
    """Permissions, tools, memory, clock and routing change between calls; tools are withdrawn by force."""

    def mixture(flavour: texts.Flavour) -> Mixture:
        return Mixture(
            openings.of(Kind(flavour, ROOMY, tools=(2, 1, 3, 4))),
            core=(turns.works(flavour, most=2), changes.revokes(), changes.reconnects(flavour)),
            extra=(
                changes.grants(),
                changes.forces(),
                changes.routes(),
                changes.passes_time(),
                changes.remembers(flavour) | changes.corrects(texts.brief(flavour)),
                turns.asks(flavour),
                compactions.orders() | turns.resumes(),
            ),
        )

    return written("revocations", (mixture("plain"), mixture("plain"), mixture("hostile")))


@cache
def routing() -> SearchStrategy[Scenario]:
    """Models change, and report more usage than was counted, by much or little, one more than another."""
    mixture = Mixture(
        openings.of(Kind("any", (4_000, *ROOMY))),
        core=(turns.asks("any"), changes.routes(), turns.works("plain", most=2)),
        extra=(state.writes(texts.brief("plain")), compactions.orders(), changes.forces(), turns.resumes()),
    )
    return written("routing", (mixture,))


@cache
def compacted() -> SearchStrategy[Scenario]:
    """Compaction, ordered and needed, once and to depth two and beyond, by every kind of summarizer."""
    brief = texts.brief("any")

    def mixture(bodies: tuple[int, ...], *more: SearchStrategy[Move]) -> Mixture:
        return Mixture(
            openings.of(Kind("plain", bodies, tools=(1, 2), memories=(0, 1))),
            core=(compactions.alternates(), compactions.orders(), compactions.fails(), *more),
            extra=(
                compactions.summarizes(),
                compactions.crowds(),
                turns.works("any", most=3),
                state.writes(brief) | changes.corrects(brief) | turns.tells(brief),
                compactions.compacts_over_open_call() | turns.leaves_open("plain"),
                turns.recalls(brief) | turns.resumes(),
                changes.routes() | changes.forces() | pairs.probes(),
            ),
        )

    return written(
        "compactions",
        (
            mixture(ROOMY, turns.asks("plain")),
            mixture(TIGHT, pressure.talks(), pressure.presses(pressure.SMALL_RESULTS)),
            mixture(ROOMY, compactions.compacts_again()),
        ),
    )


@cache
def hostile() -> SearchStrategy[Scenario]:
    """Only hostile texts, in every place that text comes from; some of them cut."""

    def mixture(bodies: tuple[int, ...], *more: SearchStrategy[Move]) -> Mixture:
        return Mixture(
            openings.of(Kind("hostile", bodies, memories=(1, 2, 3))),
            core=(
                turns.works("hostile", most=2),
                turns.says("hostile"),
                turns.asks("hostile"),
                pairs.probes_undeclared(),
            ),
            extra=(
                *more,
                turns.recalls(texts.hostile()),
                turns.tells(texts.hostile()) | changes.corrects(texts.hostile()),
                state.writes(texts.hostile()),
                changes.reconnects("hostile") | changes.remembers("hostile"),
                compactions.summarizes(("fixed", "echo", "verbose")),
                compactions.orders(),
            ),
        )

    return written("hostile", (mixture(ROOMY), mixture(TIGHT[2:], pressure.cuts_hostile())))


@cache
def working_state() -> SearchStrategy[Scenario]:
    """Writes of every kind by all three writers, up to and past each cap, over turn boundaries."""

    def mixture(flavour: texts.Flavour) -> Mixture:
        brief = texts.brief(flavour)
        return Mixture(
            openings.of(Kind(flavour, ROOMY, tools=(1, 2), memories=(0, 1), control=True)),
            core=(
                state.writes(brief),
                turns.says(flavour),
                turns.works(flavour, most=2),
                state.demands(),
                state.rewords(brief) | state.removes(),
            ),
            extra=(
                state.fills(),
                state.weighs(),
                state.malformed(),
                state.imitates(),
                state.writes_in_parallel(brief),
                compactions.orders() | turns.resumes() | changes.revokes(),
            ),
        )

    return written("working_state", (mixture("plain"), mixture("plain"), mixture("hostile")))


@cache
def formation() -> SearchStrategy[Scenario]:
    """Facts by all writers, trusted or resting on what is not, beside other entries; mostly closed."""
    brief = texts.brief("any")
    mixture = Mixture(
        openings.of(Kind("plain", ROOMY, tools=(1, 2), memories=(0, 1), control=True)),
        core=(
            state.writes(brief, ("established_facts",)),
            turns.works("plain", most=2),
            turns.says("plain"),
            state.establishes(),
        ),
        extra=(
            state.writes(brief),
            state.fills(),
            state.writes_in_parallel(brief),
            compactions.orders() | turns.resumes() | turns.leaves_open("plain"),
        ),
        closes=3,
    )
    return written("formation", (mixture,))


@cache
def paired() -> SearchStrategy[Scenario]:
    """Calls: parallel, with recurring ids, in every order, denied, interrupted, compacted and torn."""
    mixture = Mixture(
        openings.of(Kind("plain", (*ROOMY, 4_000), tools=(1, 2, 3), memories=(0,))),
        core=(turns.works("plain"), pairs.probes(), turns.asks("plain")),
        extra=(
            pairs.probes_undeclared(),
            turns.leaves_open("plain"),
            pairs.probes_open_call(),
            compactions.orders(),
            changes.revokes(),
            turns.resumes(),
            pressure.presses(),
        ),
    )
    return written("pairs", (mixture,))
