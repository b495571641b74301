"""Resolving recipes: from a scenario's texts to the very characters for the builder at hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from contextproof.conformance.contract.base import canonical_json
from contextproof.conformance.contract.items import (
    AgentInstructions,
    MemoryItem,
    PlatformPolicy,
    ToolDefinition,
)
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.request import Block, Extent
from contextproof.conformance.contract.session import ModelSpec, Opening
from contextproof.conformance.contract.working_state import Constraint, Fact, OpenQuestion, StateUpdate, Task
from contextproof.conformance.play.scenario import (
    FromCorpus,
    LabelledItem,
    Literally,
    OwnDelimiter,
    Piece,
    Repeat,
    ScenarioModel,
    ScenarioOpening,
    ScenarioTool,
    SentPart,
    StateChange,
    Text,
)

#: The key under which the framing's block is remembered, since it renders no item.
FRAMING_KEY = "framing"
CHECKPOINT_KEY = "checkpoint"


class Resolver:
    """Resolves texts against a builder's manifest, a corpus, and the blocks sent so far."""

    def __init__(self, manifest: Manifest, corpus: Callable[[str], str]) -> None:
        self._manifest = manifest
        self._corpus = corpus
        self._sent: dict[str, Block] = {}

    def remember(self, blocks: tuple[Block, ...]) -> None:
        """Note blocks as sent, for `SentPart` recipes; pointers do not replace what they point to."""
        for block in blocks:
            if block.pointer is None:
                self._sent[block.item_id or FRAMING_KEY] = block
                if block.type == CHECKPOINT_KEY:
                    self._sent[CHECKPOINT_KEY] = block

    def text(self, text: Text) -> str:
        """The characters of a text."""
        return text if isinstance(text, str) else "".join(self._piece(piece) for piece in text)

    def _piece(self, piece: Piece) -> str:
        match piece:
            case Literally():
                return piece.text
            case Repeat():
                return piece.text * piece.times
            case FromCorpus():
                return cycle(self._corpus(piece.name), piece.start, piece.characters)
            case OwnDelimiter():
                delimiters = self._manifest.delimiters
                return delimiters[piece.index % len(delimiters)] if delimiters else ""
            case SentPart():
                return self._part(piece)

    def _part(self, piece: SentPart) -> str:
        block = self._sent.get(piece.item)
        if block is None:
            return ""
        if piece.part == "whole":
            return block.text
        if block.envelope is None:
            return ""
        extents: Mapping[str, Extent] = {
            "nonce": block.envelope.nonce,
            "opening": block.envelope.opening,
            "closing": block.envelope.closing,
        }
        return extents[piece.part].of(block.text).decode(errors="replace")

    def tool(self, tool: ScenarioTool) -> ToolDefinition:
        """A tool as registered."""
        return ToolDefinition(
            id=tool.id,
            name=self.text(tool.name),
            description=self.text(tool.description),
            parameters_json=tool.parameters_json,
            source=self.text(tool.source),
        )

    def memory(self, item: LabelledItem) -> MemoryItem:
        """A memory item."""
        return MemoryItem(
            id=item.id, text=self.text(item.text), trust=item.trust, derived_from=item.derived_from
        )

    def opening(self, opening: ScenarioOpening, model: ModelSpec) -> Opening:
        """The session's opening, with the model as sized."""
        return Opening(
            platform_secret=opening.platform_secret,
            model=model,
            policy=tuple(PlatformPolicy(id=i.id, text=self.text(i.text)) for i in opening.policy),
            instructions=tuple(
                AgentInstructions(id=i.id, text=self.text(i.text)) for i in opening.instructions
            ),
            tools=tuple(self.tool(tool) for tool in opening.tools),
            permissions=tuple(self.text(name) for name in opening.permissions),
            memory=tuple(self.memory(item) for item in opening.memory),
        )

    def update(self, change: StateChange) -> StateUpdate:
        """A change of working state."""
        return StateUpdate(
            constraints=tuple(
                Constraint(id=e.id, text=self.text(e.text), derived_from=e.derived_from)
                for e in change.constraints
            ),
            tasks=tuple(
                Task(id=e.id, text=self.text(e.text), derived_from=e.derived_from, status=e.status)
                for e in change.tasks
            ),
            established_facts=tuple(
                Fact(id=e.id, text=self.text(e.text), derived_from=e.derived_from)
                for e in change.established_facts
            ),
            open_questions=tuple(
                OpenQuestion(
                    id=e.id, text=self.text(e.text), derived_from=e.derived_from, resolved=e.resolved
                )
                for e in change.open_questions
            ),
            remove_constraints=change.remove_constraints,
        )


def cycle(text: str, start: int, characters: int) -> str:
    """``characters`` characters of a text from ``start`` on, beginning again at its end."""
    if not text:
        return ""
    start %= len(text)
    rounds = (start + characters) // len(text) + 1
    return (text * rounds)[start : start + characters]


def size_model(model: ScenarioModel, prefix_tokens: int) -> ModelSpec:
    """The model with its window in tokens: as given, or reserve + prefix + body."""
    window = model.window
    if window is None:
        window = model.output_reserve + prefix_tokens + (model.body_tokens or 0)
    return ModelSpec(
        name=model.name,
        provider=model.provider,
        endpoint=model.endpoint,
        reasoning_mode=model.reasoning_mode,
        tokenizer=model.tokenizer,
        window=window,
        output_reserve=model.output_reserve,
        overhead_per_block=model.overhead_per_block,
    )


def arguments_of(update: StateUpdate) -> str:
    """A working-state update as the JSON arguments of a model's call."""
    return canonical_json(update).decode()


def reordered(opening: Opening) -> Opening:
    """The same opening with its tools the other way round, and every schema's keys too."""
    tools = tuple(
        tool.model_copy(update={"parameters_json": _reverse_keys(tool.parameters_json)})
        for tool in reversed(opening.tools)
    )
    return opening.model_copy(update={"tools": tools})


def _reverse_keys(text: str) -> str:
    def reverse(value: object) -> object:
        if isinstance(value, dict):
            return {key: reverse(inner) for key, inner in reversed(value.items())}
        if isinstance(value, list):
            return [reverse(inner) for inner in value]
        return value

    return json.dumps(reverse(json.loads(text)), ensure_ascii=False)
