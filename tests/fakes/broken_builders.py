"""Factories and engines that cannot be measured, each for one reason."""

from __future__ import annotations

import asyncio
from typing import Any

from contextproof.conformance.contract.answers import Planned, Refused, Validated
from contextproof.conformance.contract.caps import ContextBudget
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.plan import Plan
from contextproof.conformance.contract.request import prefix_sha256
from contextproof.conformance.contract.session import CallContext, Opening
from contextproof.conformance.contract.vocabulary import Decision, TokenClass

MANIFEST = Manifest(
    name="a fake", version="0", claims=tuple(Decision), delimiters=(), codecs=(), summary_bound=0
)
NOT_A_FACTORY = 7


def raises() -> object:
    """A factory that raises."""
    raise RuntimeError("no licence key found")


def without_manifest() -> object:
    """An engine that declares nothing."""
    return object()


class _Fake:
    manifest = MANIFEST


class AnswersADict(_Fake):
    """Answers something that is no message of the contract."""

    def open_session(self, context: CallContext, opening: Opening) -> Any:
        return {"answer": "planned"}


class AnswersAnotherPort(_Fake):
    """Answers with a message of another call."""

    def open_session(self, context: CallContext, opening: Opening) -> Any:
        return Validated()


class RaisesInACall(_Fake):
    """Raises where it should answer."""

    def open_session(self, context: CallContext, opening: Opening) -> Any:
        raise ZeroDivisionError("division by zero")


class PrintsToStdout(_Fake):
    """Prints where the protocol runs, and refuses every session."""

    def open_session(self, context: CallContext, opening: Opening) -> Any:
        print("opening a session now")
        return Refused(token_class=TokenClass.OUTPUT_RESERVE, measured=0, cap=1000)


class RefusesAsACoroutine(_Fake):
    """A port may be a coroutine."""

    async def open_session(self, context: CallContext, opening: Opening) -> Any:
        await asyncio.sleep(0)
        return Refused(token_class=TokenClass.OUTPUT_RESERVE, measured=0, cap=1000)


class Hangs(_Fake):
    """Never answers."""

    def open_session(self, context: CallContext, opening: Opening) -> Any:
        import time

        time.sleep(3600)


class Dies(_Fake):
    """Ends its process in the middle of a call."""

    def open_session(self, context: CallContext, opening: Opening) -> Any:
        import os
        import sys

        print("out of memory", file=sys.stderr, flush=True)
        os._exit(9)


class TellsItsProcess(_Fake):
    """Opens a session whose plan tells what its process looks like."""

    def open_session(self, context: CallContext, opening: Opening) -> Any:
        import os
        import time

        told = ";".join([os.getcwd(), str(hash("a text")), str(os.getpid()), time.strftime("%Y-%m-%d")])
        budget = ContextBudget(**dict.fromkeys(ContextBudget.model_fields, 0))
        plan = Plan(
            session=told,
            epoch=1,
            opening=opening,
            blocks=(),
            tokens=(),
            prefix_tokens=0,
            prefix_sha256=prefix_sha256(()),
            budget=budget,
        )
        return Planned(plan=plan)
