"""Reaching the builder that a target names."""

from __future__ import annotations

from contextproof.conformance.adapters.environment import passed_on
from contextproof.conformance.adapters.in_process import load
from contextproof.conformance.adapters.stdio import Stdio
from contextproof.conformance.builder import Builder
from contextproof.conformance.target import Target


def reach(target: Target) -> Builder:
    """The builder itself: a factory in this process, a command in one of its own. Raises BuilderError."""
    if target.factory is not None:
        return load(target.factory)
    return Stdio(target.command, env=passed_on(target.limits.pass_env), limits=target.limits)
