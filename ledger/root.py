"""Where a project is."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

PROJECT_FILE = "ledger.toml"


def find_root(start: Path) -> Path:
    """Return the folder of the project that `start` lies in."""
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    from ledger.errors import LedgerError, Problem  # noqa: PLC0415  # a fresh check has no use for it

    hint = f"run it in a project, write an empty {PROJECT_FILE}, or start one: tile-ledger init DIR"
    raise LedgerError(Problem(f"no {PROJECT_FILE} in {start.name or start} or above it", hint=hint))
