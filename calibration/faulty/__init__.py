"""Engines with one fault each: the class is named after the fault, `breaks` is what must notice it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from contextproof.calibration.edits import with_blocks
from contextproof.calibration.recompose import recomposed
from contextproof.conformance.contract.answers import BuildAnswer, Built
from contextproof.conformance.contract.plan import BuildInputs, Calibration
from contextproof.conformance.contract.request import Block
from contextproof.conformance.contract.session import CallContext
from contextproof.conformance.contract.vocabulary import Region
from contextproof.reference_impl.engine import ReferenceEngine

Edit = Callable[[tuple[Block, ...]], Iterable[Block]]


def each(edit: Callable[[Block], Block]) -> Edit:
    """An edit of every block by itself."""
    return lambda blocks: map(edit, blocks)


class Faulty(ReferenceEngine):
    """The reference, to be spoiled in one place. ``breaks`` is the requirement named first."""

    breaks: ClassVar[str]

    def edited(
        self, context: CallContext, inputs: BuildInputs, answer: BuildAnswer, edit: Edit
    ) -> BuildAnswer:
        """The answer with its request's blocks edited, hashed and estimated anew; refusals as they are."""
        if not isinstance(answer, Built):
            return answer
        sent = with_blocks(answer, edit(answer.request.blocks))
        by_class = self.estimate(context, inputs.calibration, sent.request.blocks).by_class
        prefix = tuple(block for block in sent.request.blocks if block.region is Region.A)
        measured = self.estimate(context, Calibration(), prefix).by_class
        estimate = sent.request.estimate.model_copy(
            update={
                "by_class": by_class,
                "prefix_tokens": sum(entry.tokens for entry in measured),
            }
        )
        return sent.model_copy(update={"request": sent.request.model_copy(update={"estimate": estimate})})


class Altered(Faulty):
    """The reference, spoiled deep inside: in a copy of its own modules, `alter` changes one.

    What is made is that copy's engine, whose type is not this one.
    """

    #: The reference's module that is altered. It comes before those that import from it.
    module: ClassVar[str]

    def __new__(cls) -> Any:
        return recomposed([(cls.module, cls.alter)]).ReferenceEngine()

    @staticmethod
    def alter(module: Any) -> None:
        """Change the module, before any other imports from it."""
        raise NotImplementedError


def faulty_engines() -> dict[str, type[Faulty]]:
    """Every faulty engine, by name. Raises ValueError where two share one."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    found = [engine for engine in _below(Faulty) if "breaks" in vars(engine)]
    by_name = {engine.__name__: engine for engine in sorted(found, key=lambda engine: engine.__name__)}
    if len(by_name) < len(found):
        raise ValueError("two faulty engines have one name")
    return by_name


def _below(base: type[Faulty]) -> Iterator[type[Faulty]]:
    for engine in base.__subclasses__():
        yield engine
        yield from _below(engine)


def spec(engine: type[Faulty]) -> str:
    """How the command line names it."""
    return f"{engine.__module__}:{engine.__name__}"
