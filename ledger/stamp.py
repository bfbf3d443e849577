"""Whether anything changed since the last build, told without doing its work.

The stamp holds a hash of every declaration, input, template, chapter and output, and of the engine.  It is
trusted only when all of them match, so that deleting it changes no answer.  This module imports next to
nothing: a check with nothing to do must not wait for a library.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = ".ledger"
_NAME = f"{FOLDER}/stamp.json"
_VERSION = 1
_ENGINE = Path(__file__).parent


def is_fresh(root: Path) -> bool:
    """Whether every file of the project at `root` is as the last whole build left it."""
    try:
        stamp = json.loads((root / _NAME).read_bytes())
        where, files = stamp["where"], stamp["files"]
        return bool(
            stamp["version"] == _VERSION
            and stamp["engine"] == engine_hash()
            and set(inputs(root, where)) <= files.keys()
            and all(_hash(root / name) == digest for name, digest in files.items())
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def stamp_text(root: Path, where: Mapping[str, list[str]], outputs: Iterable[str]) -> str:
    """Return the stamp of the project as it is now; `where` maps a folder to what counts in it."""
    names = sorted({*inputs(root, where), *outputs})
    files = {name: _hash(root / name) for name in names}
    stamp = {"version": _VERSION, "engine": engine_hash(), "where": where, "files": files}
    return json.dumps(stamp, indent=1, sort_keys=True) + "\n"


def stamp_path(root: Path) -> Path:
    """Return where the stamp of a project lies; git ignores it."""
    return root / _NAME


def inputs(root: Path, where: Mapping[str, list[str]]) -> list[str]:
    """Return the names of all files that a build reads: those that match the patterns of each folder."""
    found = []
    for folder, patterns in where.items():
        base = root / folder
        for pattern in patterns:
            found += [path for path in base.glob(pattern) if path.is_file()]
    return sorted({os.path.relpath(path, root).replace(os.sep, "/") for path in found})


def engine_hash() -> str:
    """Return a hash of the engine's own files, and of what it brings along."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(_ENGINE):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for name in sorted(names):
            digest.update(name.encode())
            digest.update(Path(folder, name).read_bytes())
    return digest.hexdigest()


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
