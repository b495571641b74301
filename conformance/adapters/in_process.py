"""A builder that lives in this process, named ``package.module:factory``."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from contextproof.conformance.builder import Builder, BuilderError
from contextproof.conformance.contract.base import Frozen
from contextproof.conformance.contract.calls import METHOD_OF, METHODS, Call
from contextproof.conformance.contract.manifest import Manifest
from contextproof.conformance.contract.ports import Summarize
from contextproof.conformance.shape import explain, told


class InProcess:
    """Calls an object's methods. ``spec`` is its name, where a fresh process can be started from one."""

    def __init__(self, engine: object, spec: str | None = None) -> None:
        self._engine = engine
        self._spec = spec
        self._runner: asyncio.Runner | None = None
        manifest = getattr(engine, "manifest", None)
        if not isinstance(manifest, Manifest):
            raise BuilderError(
                f"{spec or type(engine).__name__} has no `manifest` attribute that is a contract Manifest "
                f"(found {type(manifest).__name__})"
            )
        self.manifest: Manifest = manifest
        self.ports = frozenset(name for name in METHODS if callable(getattr(engine, name, None)))

    def call(self, call: Call, summarize: Summarize | None = None) -> Any:
        """Make a call in this process. Raises BuilderError."""
        method = METHOD_OF[type(call)]
        arguments: dict[str, Any] = {name: getattr(call, name) for name in type(call).model_fields}
        if summarize is not None:
            arguments["summarize"] = summarize
        try:
            # Our standard output is for results; what an engine prints is not one.
            with contextlib.redirect_stdout(sys.stderr):
                answer = getattr(self._engine, method.name)(**arguments)
                if inspect.isawaitable(answer):
                    answer = self._wait(answer)
        except (Exception, SystemExit) as error:
            raise BuilderError(f"`{method.name}` raised {told(error)}") from error
        if isinstance(answer, Frozen):
            try:
                return method.answer.validate_python(answer)
            except ValidationError as error:
                raise BuilderError(f"`{method.name}` answered a wrong shape: {explain(error)}") from error
        raise BuilderError(
            f"`{method.name}` answered a {type(answer).__name__}, which is none of the contract's answers: "
            f"{', '.join(kind.__name__ for kind in method.answers)}"
        )

    def _wait(self, awaitable: Any) -> Any:
        async def run() -> Any:
            return await awaitable

        self._runner = self._runner or asyncio.Runner()
        return self._runner.run(run())

    def fresh(self) -> Builder | None:
        """The builder served by a new process, where it has a name to start it by."""
        if self._spec is None:
            return None
        from contextproof.conformance.adapters.stdio import host

        return host(self._spec)

    def close(self) -> None:
        """End the event loop, if there was one."""
        if self._runner is not None:
            self._runner.close()


def load(spec: str) -> InProcess:
    """Load ``package.module:factory`` and call the factory. The working directory is importable.

    Raises:
        BuilderError: where the name is malformed or missing, or the factory raises.
    """
    module_name, _, factory_name = spec.partition(":")
    if not module_name or not factory_name or module_name.startswith("."):
        raise BuilderError(f"{spec!r} does not name a builder; write package.module:factory")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and module_name.startswith(error.name):
            raise BuilderError(f"no module to import for {spec!r}: {error}") from error
        raise BuilderError(f"importing {module_name} raised {told(error)}") from error
    except (Exception, SystemExit) as error:
        raise BuilderError(f"importing {module_name} raised {told(error)}") from error
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise BuilderError(f"{module_name} has no callable named {factory_name!r}")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            engine = factory()
    except (Exception, SystemExit) as error:
        raise BuilderError(f"the factory {spec} raised {told(error)}") from error
    return InProcess(engine, spec)
