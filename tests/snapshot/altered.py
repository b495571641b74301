"""Three render changes of the reference, each as somebody might make it."""

from __future__ import annotations

import re
from typing import Any

from contextproof.calibration.recompose import recomposed


def _attribute_added(module: Any) -> None:
    """Every envelope says which version of the grammar it is written in."""
    wrapped = module._wrapped

    def with_version(nonce: str, item_type: str, trust: Any, source: str, interior: str) -> Any:
        sealed = wrapped(nonce, item_type, trust, source, interior)
        return _spliced(module, sealed, sealed.envelope.opening.end - len("⟫\n".encode()), " version=2")

    module._wrapped = with_version


def _spliced(module: Any, sealed: Any, at: int, text: str) -> Any:
    """Text put into a sealed one, and every extent that lies behind it moved along."""
    data, moved = sealed.text.encode(), len(text.encode())
    extents = {
        name: extent.model_copy(
            update={
                "start": extent.start + moved * (extent.start >= at),
                "end": extent.end + moved * (extent.end >= at),
            }
        )
        for name, extent in sealed.envelope
    }
    envelope = sealed.envelope.model_copy(update=extents)
    return module.Sealed((data[:at] + text.encode() + data[at:]).decode(), envelope)


def _delimiter_changed(module: Any) -> None:
    """Envelopes open with another bracket."""
    module._BRACKET, module.OPENING, module.CLOSING = "⦃", "⦃ctx", "⦃/ctx"
    module.DELIMITERS = (module.OPENING, module.CLOSING)
    module.MARK, module.END_OF_MARK = "⦃+", "⦄"
    module.CODEC = module.Substitution(table=(("⦃", "⦃-"),))
    module.escape = lambda content: content.replace("⦃", "⦃-")


def _pointer_shorter(module: Any) -> None:
    """A pointer says no more than it must."""
    told = module._pointer_text

    def shorter(kind: Any, span: Any) -> tuple[str, str, str]:
        before, reference, after = told(kind, span)
        return re.sub("truncated|elided", "cut", before).replace(" bytes, kept as ", " "), reference, after

    module._pointer_text = shorter


def attribute_added() -> Any:
    return recomposed([("envelope", _attribute_added)]).ReferenceEngine()


def _framing_changed(module: Any) -> None:
    module.FRAMING = module.FRAMING.replace("⟪", "⦃").replace("⟫", "⦄").replace("angle", "curly")


def delimiter_changed() -> Any:
    parts = [("envelope", _delimiter_changed), ("framing", _framing_changed)]
    return recomposed(parts).ReferenceEngine()


def pointer_shorter() -> Any:
    return recomposed([("rendering", _pointer_shorter)]).ReferenceEngine()
