"""Two workbooks compared: two files, or what git keeps of them in two revisions or in the working tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.declarations.files import content
from ledger.declarations.project import find_root
from ledger.errors import LedgerError, Problem
from ledger.review.diff import git
from ledger.xlsx.changes import Change, changes, uncomputed
from ledger.xlsx.reading import read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SAME, CHANGED, ADDED, REMOVED, UNREAD = "same", "changed", "added", "removed", "unread"
_USAGE = "name two workbooks, or one or two revisions: diff HEAD~1 -- reports"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of one workbook: its name, and its changes if both sides can be read, else `why` not.

    `uncomputed` has how many formulas of a side, by its name, no program has computed.
    """

    name: str
    became: str
    changes: tuple[Change, ...] = ()
    uncomputed: Mapping[str, int] = field(default_factory=dict)
    why: str = ""


def compared(
    names: Sequence[str], paths: Sequence[str] | None, tolerance: float, here: Path
) -> tuple[Comparison, ...]:
    """Return what differs between two files, or between revisions if `paths` or no files are named.

    Raise a LedgerError if a file cannot be read, or if there is nothing to compare.
    """
    if len(names) == 2 and paths is None and any(map(_is_file, names)):  # noqa: PLR2004  # old and new
        return (_files(names[0], names[1], tolerance),)
    if not 1 <= len(names) <= 2:  # noqa: PLR2004  # the same
        raise LedgerError(Problem(f"{len(names)} names are no pair", hint=_USAGE))
    if paths is None and _is_file(names[0]):
        raise LedgerError(Problem(f"{names[0]} is compared with nothing", hint=_USAGE))
    return _revisions(names, paths, tolerance, here)


def _is_file(name: str) -> bool:
    return name.lower().endswith(git.SUFFIX) or Path(name).exists()


def _files(old: str, new: str, tolerance: float) -> Comparison:
    # One that is empty, such as /dev/null, is where git has no file.
    sides = {side: content(Path(side)) for side in (old, new)}
    names = dict.fromkeys(Path(side).name for side, data in sides.items() if data)
    return _pair(" → ".join(names), (old, sides[old]), (new, sides[new]), tolerance)


def _revisions(
    names: Sequence[str], paths: Sequence[str] | None, tolerance: float, here: Path
) -> tuple[Comparison, ...]:
    """Return what differs between two revisions, or one and the working tree, workbook by workbook."""
    inside = git.repository(here)
    under = paths or [str(find_root(here))]
    commits = [git.commit(inside, name) for name in names]
    sides = [git.committed(inside, commit, under) for commit in commits]
    old, new = sides if len(sides) > 1 else (*sides, git.present(inside, under))
    if not old and not new:
        raise LedgerError(Problem(f"no workbook under {' '.join(under)}", hint=_USAGE))
    was, now = (*names, "the working tree")[:2]
    found = []
    for name in sorted({*old, *new}):
        left, right = old.get(name, b""), new.get(name, b"")
        try:
            found.append(
                Comparison(name, SAME)
                if left == right
                else _pair(name, (f"{name} at {was}", left), (f"{name} at {now}", right), tolerance)
            )
        except LedgerError as error:
            why = "; ".join(str(each).removeprefix(f"{name} ").replace("\n ", ":") for each in error.problems)
            found.append(Comparison(name, UNREAD, why=why))
    return tuple(found)


def _pair(name: str, old: tuple[str, bytes], new: tuple[str, bytes], tolerance: float) -> Comparison:
    """Return what became of a workbook of which a side, by its name, has no bytes or those of one report."""
    if not old[1] and not new[1]:
        raise LedgerError(Problem(f"{old[0]} and {new[0]} are empty", hint=_USAGE))
    if not old[1] or not new[1]:
        return Comparison(name, REMOVED if old[1] else ADDED)
    before, after = read(*old), read(*new)
    if before.record.report != after.record.report:
        what = f"is of the report {after.record.report!r}, and {old[0]} of {before.record.report!r}"
        raise LedgerError(Problem(f"{new[0]}: {what}", hint="compare two workbooks of one report"))
    found = changes(before, after, tolerance)
    counts = {old[0]: uncomputed(before), new[0]: uncomputed(after)}
    missing = {side: count for side, count in counts.items() if count}
    return Comparison(name, CHANGED if found else SAME, found, missing)
