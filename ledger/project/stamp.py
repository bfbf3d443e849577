"""Whether anything changed since the last build, found out without doing its work.

The stamp holds a hash of every declaration, input, template, chapter and output, and of the engine.  It is
trusted only when all of them match, so that deleting it changes no answer.  This module imports next to
nothing: a check with nothing to do must not wait for a library.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

from ledger.declarations.project import VERSION, packaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

#: The file of the stamp in a project's folder; git ignores it.
STAMP = ".ledger/stamp.json"
#: What a check says first when nothing is stale, by a stamp or by the whole work.
FRESH = "fresh: every output and chapter is what it should be"
_VERSION = 3
_ENGINE = Path(__file__).parents[1]


def is_fresh(root: Path) -> bool:
    """Whether every file of the project at `root` is as the last whole build left it."""
    return told(root) is not None


def told(root: Path) -> Mapping[str, Any] | None:
    """Return what a check is to say while every file is as the last whole build left it, None if one is not.

    It holds the `text` and the `json` of the answer, and whether the check has `found` something.
    """
    try:
        stamp = json.loads((root / STAMP).read_bytes())
        where, files = stamp["where"], stamp["files"]
        fresh = bool(
            stamp["version"] == _VERSION
            and stamp["engine"] == engine_hash()
            and set(inputs(root, where)) <= files.keys()
            and all(hash_of(root / name) == digest for name, digest in files.items())
        )
        found: Mapping[str, Any] = stamp["told"]
        return found if fresh and found.keys() >= {"text", "json", "found"} else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def stamp_text(
    where: Mapping[str, Sequence[str]], files: Mapping[str, str], told: Mapping[str, object]
) -> str:
    """Return the stamp of files and their hashes; `where` maps a folder to the patterns that count in it.

    `told` is what a check is to say while nothing changes.
    """
    stamp = {
        "version": _VERSION,
        "built_by": f"Tile Ledger {VERSION}",
        "engine": engine_hash(),
        "where": where,
        "files": files,
        "told": told,
    }
    return json.dumps(stamp, indent=1, sort_keys=True) + "\n"


def inputs(root: Path, where: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of all files that a build reads: those that match the patterns of each folder."""
    found = []
    for folder, patterns in where.items():
        base = root / folder
        for pattern in patterns:
            with contextlib.suppress(ValueError, NotImplementedError):  # no pattern: the build raises it
                found += [path for path in base.glob(pattern) if path.is_file()]
    return sorted({os.path.relpath(path, root).replace(os.sep, "/") for path in found})


def engine_hash() -> str:
    """Return a hash of the engine's own files, of what it brings along, and of Python's version."""
    digest = hashlib.sha256(sys.version.encode())
    for top in dict.fromkeys((_ENGINE, packaged("templates"), packaged("models"))):
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(each for each in folders if each != "__pycache__")
            for name in sorted(names):
                digest.update(name.encode())
                digest.update(Path(folder, name).read_bytes())
    return digest.hexdigest()


def hash_of(path: Path) -> str:
    """Return the hash of a file's bytes, empty if there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
