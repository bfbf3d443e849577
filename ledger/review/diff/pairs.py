"""Pairs of workbooks compared: two files, or what git keeps of them at two moments."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.declarations.project import find_root
from ledger.errors import LedgerError, Problem
from ledger.review.diff import git
from ledger.xlsx.changes import Change, changes, uncomputed
from ledger.xlsx.reading import read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


SUFFIX = ".xlsx"
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
    return name.lower().endswith(SUFFIX) or Path(name).exists()


def _files(old: str, new: str, tolerance: float) -> Comparison:
    sides = {side: _content(side) for side in (old, new)}
    # One that is empty is where git has no file.
    names = dict.fromkeys(Path(side).name for side, data in sides.items() if data)
    return _pair(" → ".join(names), (old, sides[old]), (new, sides[new]), tolerance)


def _content(name: str) -> bytes:
    """Return the bytes of a file; /dev/null, which git names where there is no file, has none."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise LedgerError(Problem(f"{name}: cannot be read: {error.strerror}")) from None


def _revisions(
    names: Sequence[str], paths: Sequence[str] | None, tolerance: float, here: Path
) -> tuple[Comparison, ...]:
    inside = git.repository(here)
    under = paths or [str(find_root(here))]
    commits = [git.commit(inside, name) for name in names]
    sides = [git.committed(inside, commit, under, SUFFIX) for commit in commits]
    if len(sides) == 1:
        sides.append(git.present(inside, under, SUFFIX))
    old, new = sides
    if not old and not new:
        raise LedgerError(Problem(f"no workbook under {' '.join(under)}", hint=_USAGE))
    said = [*names, "the working tree"]
    found = []
    for name in sorted({*old, *new}):
        left, right = old.get(name, b""), new.get(name, b"")
        if left == right:
            found.append(Comparison(name, SAME))
            continue
        try:
            found.append(
                _pair(name, (f"{name} at {said[0]}", left), (f"{name} at {said[1]}", right), tolerance)
            )
        except LedgerError as error:
            why = "; ".join(str(each).removeprefix(f"{name} ").replace("\n ", ":") for each in error.problems)
            found.append(Comparison(name, UNREAD, why=why))
    return tuple(found)


def _pair(name: str, old: tuple[str, bytes], new: tuple[str, bytes], tolerance: float) -> Comparison:
    if not old[1] and not new[1]:
        raise LedgerError(Problem(f"{old[0]} and {new[0]} are empty", hint=_USAGE))
    if not old[1] or not new[1]:
        return Comparison(name, REMOVED if old[1] else ADDED)
    before, after = read(*old), read(*new)
    if before.record.report != after.record.report:
        what = f"is of the report {after.record.report!r}, and {old[0]} of {before.record.report!r}"
        raise LedgerError(Problem(f"{new[0]}: {what}", hint="compare two workbooks of one report"))
    counts = {side: uncomputed(reading) for side, reading in ((old[0], before), (new[0], after))}
    found = changes(before, after, tolerance)
    missing = {side: count for side, count in counts.items() if count}
    return Comparison(name, CHANGED if found else SAME, found, missing)
