"""How a builder says its content can be recovered from what it rendered (requirement 13.3)."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Annotated, Literal

from pydantic import Field

from contextproof.conformance.contract.base import Frozen


class NotDecodable(ValueError):
    """The rendered text is not something the declared codec could have produced."""


class Substitution(Frozen):
    """Pairs of (plain, rendered), undone in one scan from left to right, longest rendered text first."""

    kind: Literal["substitution"] = "substitution"
    """Which codec it is."""
    table: tuple[tuple[str, Annotated[str, Field(min_length=1)]], ...] = ()
    """Pairs of the plain text and what stands for it."""

    def decode(self, rendered: str) -> str:
        """Undo every substitution; text that no entry matches stands for itself."""
        if not self.table:
            return rendered
        plain = {shown: original for original, shown in self.table}
        longest_first = sorted(plain, key=len, reverse=True)
        pattern = re.compile("|".join(re.escape(shown) for shown in longest_first))
        return pattern.sub(lambda match: plain[match.group()], rendered)


class JsonString(Frozen):
    """A JSON string literal, with its quotes."""

    kind: Literal["json-string"] = "json-string"
    """Which codec it is."""

    def decode(self, rendered: str) -> str:
        """Raises NotDecodable where it is no JSON string."""
        try:
            value = json.loads(rendered)
        except ValueError as error:
            raise NotDecodable(str(error)) from error
        if not isinstance(value, str):
            raise NotDecodable("not a JSON string")
        return value


class Xml(Frozen):
    """Character references and the five named entities of XML; no bare ``<`` or ``&``."""

    kind: Literal["xml"] = "xml"
    """Which codec it is."""

    def decode(self, rendered: str) -> str:
        """Raises NotDecodable for a bare ``<`` or an unknown entity."""
        if "<" in rendered:
            raise NotDecodable("a bare '<' in XML text")
        return re.sub(r"&([^;&\s]*;?)", _entity, rendered)


def _entity(match: re.Match[str]) -> str:
    name = match.group(1)
    if re.fullmatch(r"(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);", name) is None:
        raise NotDecodable(f"not an XML entity: &{name}")
    return html.unescape(match.group()) if name != "apos;" else "'"


class Base64(Frozen):
    """Standard base64 of the UTF-8 bytes, white space ignored."""

    kind: Literal["base64"] = "base64"
    """Which codec it is."""

    def decode(self, rendered: str) -> str:
        """Raises NotDecodable where it is no base64 of UTF-8 text."""
        try:
            return base64.b64decode("".join(rendered.split()), validate=True).decode()
        except ValueError as error:
            raise NotDecodable(str(error)) from error


Codec = Annotated[Substitution | JsonString | Xml | Base64, Field(discriminator="kind")]
"""One of the four codecs a manifest can declare for a type."""
