"""Where the names of a workbook are, and what a formula's references are called by them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ledger.xlsx.formulas import Locator, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Sheets of every workbook, `Charts` of those that have some; the hidden ones hold the ladders, and what
#: was published.
ABOUT, PRINTED, CHARTS, DEFINITIONS, CHECKS = "About", "Printed", "Charts", "Definitions", "Checks"
DISPLAY, PUBLISHED = "_display", "_published"
FIXED_SHEETS = (ABOUT, PRINTED, CHARTS, DEFINITIONS, CHECKS, DISPLAY, PUBLISHED)
#: What the columns of a ladder on the hidden sheet hold; a blank one is between two ladders.
LADDER_HEADS = ("from", "scale", "power", "suffix")
#: The column of the values in a block of names.
VALUE = 2


@dataclass(frozen=True, slots=True)
class Places:
    """A worksheet: the names of its block by row, of its table by column, the ids of the table's rows.

    `first` and `last` are the rows of the table, 0 without one.
    """

    block: Mapping[int, str] = field(default_factory=dict)
    columns: Mapping[int, str] = field(default_factory=dict)
    first: int = 0
    last: int = 0
    ids: Mapping[int, str] = field(default_factory=dict)

    def names(self, row: int, column: int) -> tuple[str, str]:
        """Return the id of a cell's row and the cell's name, both empty for a cell beside block and table."""
        if column == VALUE and row in self.block:
            return "", self.block[row]
        return (self.ids[row], self.columns.get(column, "")) if row in self.ids else ("", "")


def locator(places: Mapping[str, Places], sheet: str, row: int) -> Locator:
    """Return how references are called from a row of a sheet.

    A name of the own row or block is called so, one of another sheet as `sheet!name`, which is a whole
    column or the value of a block; a cell of another row as `id/name`.
    """
    columns = places[sheet].columns.values() if sheet in places else ()
    return Locator(partial(_called, places, sheet, row), lambda header: header if header in columns else None)


def _called(places: Mapping[str, Places], sheet: str, row: int, reference: Reference) -> str | None:
    title = reference.sheet or sheet
    if title == DISPLAY:
        # Which ladder it is does not matter, or a new one would change the formulas of all others.
        return f"{DISPLAY}!{LADDER_HEADS[(reference.column - 1) % (len(LADDER_HEADS) + 1)]}"
    on = places.get(title)
    if on is None:
        return None
    prefix = "" if title == sheet else f"{title}!"
    name = on.columns.get(reference.column)
    if not reference.is_cell:
        whole = (reference.row, reference.last_row) == (on.first, on.last)
        return f"{title}!{name}" if whole and name and reference.column == reference.last_column else None
    if reference.column == VALUE and reference.row in on.block:
        return prefix + on.block[reference.row]
    if not prefix and (beside := _beside(on, row, reference)):
        return beside
    if name is None or not on.first <= reference.row <= on.last:
        return None
    if not prefix and reference.row_moves and reference.row == row:
        return name
    return f"{prefix}{on.ids.get(reference.row, reference.row)}/{name}"


def _beside(on: Places, row: int, reference: Reference) -> str | None:
    """Return what a helper cell is called, right of the table or of the block."""
    if reference.column in on.columns or reference.column <= VALUE:
        return None
    # Counted from the table's end, so that a column that comes in between changes nothing.
    beside = reference.column - max(on.columns, default=0)
    if reference.row_moves and reference.row == row:
        return f"@{beside}"
    return f"{on.block[reference.row]}@{beside}" if reference.row in on.block else None


def cell_name(*parts: str) -> str:
    """Return the name of a cell as `explain` takes it: its sheet, row and column, those that it has.

    >>> cell_name("sweep", "", "time")
    'sweep/time'
    """
    return "/".join(part for part in parts if part)
