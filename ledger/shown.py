"""Which cells of a report stand where in a view's text, and which may print a word."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.trace import Spot
from ledger.views import cell_rows, full_texts, row_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.plan import PlannedView
    from ledger.views import View
    from ledger.work import Worked

#: A cell of a report; one of a row that is gone has the number -1 and no name.
Cell = tuple[str, Spot]
GONE = -1
_WORD = re.compile(r"[^\s,=|()<>：]+")


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A view, the rows of its sheet that it prints, those of a matrix's cells, and the cells by each word."""

    report: str
    view: PlannedView
    rows: range
    grid: Mapping[tuple[int, int], int]
    words: Mapping[str, tuple[Cell, ...]]

    def cell(self, row: int, column: int) -> tuple[Cell, ...]:
        """Return the cell that stands in a row and a column of the view's table, both from 0."""
        columns = self.view.columns
        match self.view.kind:
            case "matrix" if (row, max(column - 1, 0)) in self.grid:
                number, name = self.grid[row, max(column - 1, 0)], columns[-1 if column else 0].node
            case "table" if row < len(self.rows) and 0 <= column < len(columns):
                number, name = self.rows[row], columns[column].node
            case "record" if row < len(columns):
                number, name = self.rows[0], columns[row].node
            case _:
                return ()
        return (self._spot(number, name),)

    def row(self, row: int) -> tuple[Cell, ...]:
        """Return every cell of a row of the view's table."""
        width = len(self.view.columns) + len(self.grid)
        return tuple(cell for column in range(width) for cell in self.cell(row, column))

    def gone(self) -> tuple[Cell, ...]:
        """Return what stands for the cells of a row that is gone."""
        return (self._spot(GONE, ""),)

    def heading(self, column: int) -> tuple[Cell, ...]:
        """Return the cells that the heading of a column prints."""
        if self.view.kind == "matrix":
            numbers = [number for (_, across), number in self.grid.items() if across == column - 1]
            return tuple(self._spot(number, self.view.columns[1].node) for number in numbers[:1])
        parts = self.view.columns[column].heading if 0 <= column < len(self.view.columns) else ()
        return tuple(self._spot(0, name) for _, name in parts if name)

    def _spot(self, row: int, name: str) -> Cell:
        return self.report, Spot(self.view.sheet, row, name)

    def printing(self, was: str, now: str) -> tuple[Cell, ...]:
        """Return the cells that may print what came into a line."""
        came = Counter(_WORD.findall(now)) - Counter(_WORD.findall(was))
        return tuple(dict.fromkeys(cell for word in came for cell in self.words.get(word, ())))


def shown(worked: Worked, name: str) -> Shown | None:
    """Return the view of a report that goes by `name`, None if there is none."""
    texts = {view.name: view for view in worked.views}
    for view in worked.plan.views:
        if view.name == name and name in texts:
            result = worked.result.sheets[view.sheet]
            grid = cell_rows(view, result) if view.kind == "matrix" else {}
            rows = row_numbers(view, result)
            return Shown(worked.plan.name, view, rows, grid, _words(worked, view, rows, texts[name]))
    return None


def _words(worked: Worked, view: PlannedView, rows: range, text: View) -> dict[str, tuple[Cell, ...]]:
    """Return the cells that print each word, rounded or with every digit; a matrix's places tell more."""
    found: dict[str, list[Cell]] = {}
    for i, column in enumerate(view.columns) if view.kind != "matrix" else ():
        printed = [row[i] for row in text.rows]
        full = full_texts(worked.result.sheets[view.sheet].values[column.node], rows)
        for number, texts in zip(rows, zip(printed, full, strict=True), strict=True):
            cell = (worked.plan.name, Spot(view.sheet, number, column.node))
            for word in {word for each in texts for word in _WORD.findall(each)}:
                found.setdefault(word, []).append(cell)
    return {word: tuple(cells) for word, cells in found.items()}
