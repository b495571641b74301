"""Showing text that came from elsewhere: nothing invisible, nothing that turns or moves the cursor."""

from __future__ import annotations

import unicodedata

#: Control, format, surrogate, private, unassigned, and the two line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: The two blocks of variation selectors: marks by category, and as invisible.
_VARIATION_SELECTORS = frozenset({*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)})
#: Fillers that are letters or symbols by category and show as nothing, or as a blank.
_FILLERS = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0})
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: From here on an escape takes the longer form.
_LATIN_1_END = 0x100


def visible(text: str) -> str:
    """The text with every invisible or bidirectional character as an escape; newlines too."""
    return "".join(_shown(character) for character in text)


def is_hidden(character: str) -> bool:
    """Whether a character is invisible, turns the text, moves the cursor, or is a blank but no space."""
    point, category = ord(character), unicodedata.category(character)
    if category == "Zs":
        return character != " "
    return category in _HIDDEN or point in _VARIATION_SELECTORS or point in _FILLERS


def _shown(character: str) -> str:
    if not is_hidden(character):
        return character
    point = ord(character)
    escaped = f"\\x{point:02x}" if point < _LATIN_1_END else f"\\u{{{point:x}}}"
    return _NAMED.get(character, escaped)
