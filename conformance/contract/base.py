"""What every message of the contract has in common: frozen, strict, and one canonical JSON form."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Self

import rfc8785
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_jsonable_python

#: Largest integer that every JSON implementation keeps exactly (RFC 8785, section 3.2.2.3).
MAX_INTEGER = 2**53 - 1

Id = Annotated[str, Field(min_length=1)]
"""Names an item. Any Unicode text but the empty one: ids come from outside and may be hostile."""

Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
"""A number of tokens, bytes or things."""


class Frozen(BaseModel):
    """Base of every message: immutable, unknown fields refused, no coercion between types.

    Strings are Unicode scalar values; a lone surrogate is refused with the field that holds it.
    """

    # The length constraint constrains nothing: it makes pydantic look into every string, and with that
    # refuse lone surrogates in strings that come from Python too.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, str_min_length=0)

    def canonical(self) -> bytes:
        """The one RFC 8785 form of this value, UTF-8. Equal values have equal bytes."""
        return canonical_json(self)

    @classmethod
    def from_json(cls, data: str | bytes) -> Self:
        """Read a value back. Raises ``pydantic.ValidationError``, naming the place."""
        return cls.model_validate_json(data)


def canonical_json(value: object) -> bytes:
    """RFC 8785 bytes of any contract value or plain JSON value.

    Raises:
        rfc8785.CanonicalizationError: for what JSON cannot hold exactly.
    """
    return rfc8785.dumps(to_jsonable_python(value))


def sha256(data: str | bytes) -> str:
    """Lower-case hexadecimal SHA-256 of text (as UTF-8) or bytes."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def parse_json_object(text: str) -> dict[str, Any]:
    """Read JSON text that came from outside: an object, no duplicate keys, no floats, no big numbers.

    Raises:
        ValueError: says what is wrong with it.
    """
    value = json.loads(
        text,
        object_pairs_hook=_no_duplicates,
        parse_float=_no_float,
        parse_int=_small_int,
        parse_constant=_no_float,
    )
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")  # noqa: TRY004 -- pydantic reports ValueErrors
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice in one JSON object")
    return result


def _no_float(text: str) -> Any:
    raise ValueError(f"numbers with a fraction are not carried by the contract: {text}")


def _small_int(text: str) -> int:
    number = int(text)
    if abs(number) > MAX_INTEGER:
        raise ValueError(f"number beyond 2^53 - 1: {text}")
    return number
