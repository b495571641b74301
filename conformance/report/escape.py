"""Showing text that came from elsewhere: nothing invisible, nothing that turns or moves the cursor."""

from __future__ import annotations

import unicodedata

#: Control, format, surrogate, private, unassigned, and the two line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: The two blocks of variation selectors: marks by category, and as invisible.
_VARIATION_SELECTORS = frozenset({*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)})
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: From here on an escape takes the longer form.
_LATIN_1_END = 0x100


def visible(text: str) -> str:
    """The text with every invisible or bidirectional character as an escape; newlines too."""
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    point = ord(character)
    if unicodedata.category(character) not in _HIDDEN and point not in _VARIATION_SELECTORS:
        return character
    escaped = f"\\x{point:02x}" if point < _LATIN_1_END else f"\\u{{{point:x}}}"
    return _NAMED.get(character, escaped)
