"""A twin of a builder: the same code in a process that differs in all that must not matter."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from contextproof.conformance.adapters.environment import passed_on
from contextproof.conformance.adapters.stdio import Stdio, host
from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.target import Target

#: The two ends of the world's time zones, 26 hours apart: in one of them it is another day than here.
_EAST, _WEST = ("Pacific/Kiritimati", 14), ("Etc/GMT+12", -12)


def other_zone(now: datetime) -> str:
    """A zone in which the date is not the one that ``now`` (an aware local time) has."""
    eastern = now.astimezone(UTC) + timedelta(hours=_EAST[1])
    return _EAST[0] if eastern.date() != now.date() else _WEST[0]


@contextmanager
def twin(target: Target) -> Iterator[Builder]:
    """The builder with another zone, locale, home and hash seed.

    A factory is hosted in another working directory too. A command is started in the same one, since
    commands name their files relative to it.

    Raises:
        BuilderError: where it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="contextproof-twin-") as folder:
        builder = _start(target, folder)
        try:
            yield builder
        finally:
            builder.close()


def _start(target: Target, folder: str) -> Builder:
    try:
        return _in(folder, target)
    except BuilderError as error:
        raise BuilderError(
            f"with another time zone, locale, hash seed, home and temporary folder, {error}; what needs its "
            "home (a launcher, a version manager) is better started by its whole path"
        ) from error


def _in(folder: str, target: Target) -> Builder:
    other = _other_environment(folder)
    if target.factory is not None:
        return host(target.factory, env=other, cwd=folder, limits=target.limits)
    return Stdio(target.command, env={**passed_on(target.limits.pass_env), **other}, limits=target.limits)


def _other_environment(folder: str) -> dict[str, str]:
    return {
        "PYTHONHASHSEED": "4242" if os.environ.get("PYTHONHASHSEED") != "4242" else "17",
        "TZ": other_zone(datetime.now().astimezone()),
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
        "HOME": folder,
        "TMPDIR": folder,
    }
