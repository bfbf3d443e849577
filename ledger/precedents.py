"""Which cells a value rests on, and whether one of them was changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.reads import reads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.cells import Cell
    from ledger.received import Received

#: A cell by its sheet, row and column; row and column 0 stand for the set of a sheet's rows.
At = tuple[str, int, int]
_EMPTY: Mapping[int, Cell] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Precedents:
    """The cells of a workbook that were `changed`; those that rest on none are kept as `sound`."""

    book: Received
    changed: set[At] = field(default_factory=set)
    sound: set[At] = field(default_factory=set)

    def explain(self, start: At) -> bool:
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
        """Yield what the formula of a cell reads; of a range also the set of its rows."""
        title, row, column = at
        sheet = self.book.sheets.get(title)
        cell = sheet.rows.get(row, _EMPTY).get(column) if sheet else None
        for each in reads(cell.formula).references if cell and cell.formula else ():
            on = self.book.sheets.get(each.sheet or title)
            if on is None:
                continue
            if not each.is_cell:
                yield on.title, 0, 0
            for number in range(each.row, min(each.last_row, max(on.rows, default=0)) + 1):
                for place in range(each.column, each.last_column + 1):
                    yield on.title, number, place
