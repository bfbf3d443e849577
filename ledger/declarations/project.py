"""Where a project is, and what the package brings along: files for projects without their own, a version."""

from __future__ import annotations

from pathlib import Path

#: The version of Tile Ledger, which workbooks and stamps name; the package's own is read from here.
VERSION = "0.2.0"
PROJECT_FILE = "ledger.toml"


def find_root(start: Path) -> Path:
    """Return the folder of the project that `start` lies in."""
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    from ledger.errors import LedgerError, Problem  # noqa: PLC0415  # a fresh check has no use for it

    hint = f"run it in a project, write an empty {PROJECT_FILE}, or start one: tile-ledger init DIR"
    raise LedgerError(Problem(f"no {PROJECT_FILE} in {start.name or start} or above it", hint=hint))


_PACKAGE = Path(__file__).parents[1]
# In a checkout, templates and models stand beside the package; in a wheel, inside it.
_BESIDE = {"templates": "templates", "models": "reports/models"}


def packaged(folder: str) -> Path:
    """Return where the package keeps `folder`: "templates", "models" or "book"."""
    inside = _PACKAGE / "brought" / folder
    return inside if inside.is_dir() or folder not in _BESIDE else _PACKAGE.parent / _BESIDE[folder]
