"""Which cells a value rests on, and whether one of them was changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.xlsx.formulas import Reference, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.xlsx.workbook import Workbook, Worksheet

#: A cell by its sheet, row and column: row 0 is some row of a column, column 0 with it the set of rows.
At = tuple[str, int, int]


@dataclass(slots=True, eq=False)
class Precedents:
    """The cells of a workbook that were `changed`; those that rest on none are kept as `sound`."""

    book: Workbook
    changed: set[At] = field(default_factory=set)
    sound: set[At] = field(default_factory=set)

    def change(self, at: At) -> None:
        """Note a cell that was changed; a range finds it by its column, for it may be empty now."""
        title, _, column = at
        self.changed.update((at, (title, 0, column)))

    def is_changed(self, start: At) -> bool:
        """Whether a cell was changed, or rests on one that was.

        Each cell is followed once: what leads to a change is noted as changed, all else as sound.
        """
        if start in self.changed:
            return True
        path = [(start, self._read_by(start))]
        met = {start}
        while path:
            cell, rest = path[-1]
            for each in rest:
                if each in self.changed:
                    self.changed.update(before for before, _ in path)
                    return True
                if each not in self.sound and each not in met:
                    met.add(each)
                    path.append((each, self._read_by(each)))
                    break
            else:
                self.sound.add(cell)
                path.pop()
        return False

    def _read_by(self, at: At) -> Iterator[At]:
        """Yield what the formula of a cell reads."""
        title, row, column = at
        sheet = self.book.sheets.get(title)
        formula = sheet.formula(row, column) if sheet else None
        for each in reads(formula).references if formula else ():
            on = self.book.sheets.get(each.sheet or title)
            if on is None:
                continue
            if each.is_cell:
                yield on.title, each.row, each.column
            else:
                yield from _range(on, each)


def _range(on: Worksheet, each: Reference) -> Iterator[At]:
    """Yield the set of rows, the columns and the cells of a range, as far as there are any."""
    yield on.title, 0, 0
    for column in range(each.column, each.last_column + 1):
        yield on.title, 0, column
    for row in (row for row in on.rows if each.row <= row <= each.last_row):
        for column in on.rows[row]:
            if each.column <= column <= each.last_column:
                yield on.title, row, column
