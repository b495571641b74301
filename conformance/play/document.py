"""The JSON form of a trace. Requests repeat most of their blocks, so each block is written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contextproof.conformance.contract.answers import Built
from contextproof.conformance.contract.base import Count, Frozen
from contextproof.conformance.contract.request import Block, Request
from contextproof.conformance.play.trace import Record, Trace


class TraceDocument(Frozen):
    """A trace with its requests emptied, all distinct blocks, and for each request the blocks it had.

    ``requests`` are in the order in which requests stand in the records.
    """

    trace: Trace
    blocks: tuple[Block, ...]
    requests: tuple[tuple[Count, ...], ...]


def to_document(trace: Trace) -> TraceDocument:
    """The document of a trace."""
    places: dict[Block, int] = {}
    requests: list[tuple[int, ...]] = []

    def empty(request: Request) -> Request:
        requests.append(tuple(places.setdefault(block, len(places)) for block in request.blocks))
        return request.model_copy(update={"blocks": ()})

    records = tuple(_with_request(record, empty) for record in trace.records)
    return TraceDocument(
        trace=trace.model_copy(update={"records": records}),
        blocks=tuple(places),
        requests=tuple(requests),
    )


def from_document(document: TraceDocument) -> Trace:
    """The trace of a document. Raises IndexError or StopIteration where it contradicts itself."""
    requests = iter(document.requests)

    def fill(request: Request) -> Request:
        blocks = tuple(document.blocks[place] for place in next(requests))
        return request.model_copy(update={"blocks": blocks})

    records = tuple(_with_request(record, fill) for record in document.trace.records)
    return document.trace.model_copy(update={"records": records})


def _with_request(record: Record, change: Callable[[Request], Request]) -> Any:
    """The record with the request it holds, if any, changed."""
    answer = getattr(record, "answer", None)
    if isinstance(answer, Built):
        changed = answer.model_copy(update={"request": change(answer.request)})
        return record.model_copy(update={"answer": changed})
    request = getattr(record, "request", None)
    if isinstance(request, Request):
        return record.model_copy(update={"request": change(request)})
    return record
