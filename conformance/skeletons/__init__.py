"""What `contextproof init` writes: for each language the files of a builder that claims nothing yet."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from contextproof.conformance.trimming.skeleton import trimmer_skeleton

Language = Literal["python", "typescript", "trimmer"]

_FILES: dict[Language, tuple[str, ...]] = {
    "python": ("my_engine.py", "README.md"),
    "typescript": ("package.json", "tsconfig.json", "README.md", "src/main.ts", "src/wire.ts"),
}

#: What to run next, in the folder's parent.
NEXT: dict[Language, tuple[str, str, str]] = {
    "python": (
        "cd {folder}",
        "contextproof smoke --builder my_engine:MyEngine",
        "contextproof gate --builder my_engine:MyEngine",
    ),
    "typescript": (
        "cd {folder} && npm install && npm run build",
        'contextproof smoke --command "node dist/main.js"',
        'contextproof gate --command "node dist/main.js"',
    ),
    "trimmer": (
        "cd {folder}",
        "contextproof gate --trimmer trimmer:trim",
        "contextproof certify --trimmer trimmer:trim --profile smoke --out run",
    ),
}


def skeleton(language: Language) -> dict[str, str]:
    """The text of each file, by its path below the folder that it goes into."""
    if language == "trimmer":
        return trimmer_skeleton()
    folder = files(__name__).joinpath(language)
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in _FILES[language]}
