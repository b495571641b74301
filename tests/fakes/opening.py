"""A call to open a session, for tests that need one and no more."""

from __future__ import annotations

from contextproof.conformance.contract.calls import OpenSessionCall
from contextproof.conformance.contract.items import PlatformPolicy
from contextproof.conformance.contract.session import CallContext, ModelSpec, Opening

MODEL = ModelSpec(name="m", tokenizer="o200k_base", window=10_000, output_reserve=1_000)


def _call(text: str) -> OpenSessionCall:
    return OpenSessionCall(
        context=CallContext(session="s", epoch=1, turn=0, request=0, model=MODEL),
        opening=Opening(
            platform_secret="sixteen characters or more",
            model=MODEL,
            policy=(PlatformPolicy(id="p", text=text),),
        ),
    )


CALL = _call("Be careful. \u2028 <|endoftext|> 😀")


def long_call(size: int) -> OpenSessionCall:
    """One of so many bytes."""
    return _call("x" * size)
