"""Columns without a record, such as helpers: the cells that are not as most of their column."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ledger.cellformula import letters_of
from ledger.cellrules import held, quoted
from ledger.reads import shape
from ledger.record import ROWS
from ledger.rules import CONSTANT, FORMULA, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.cells import Cell
    from ledger.reading import Reading
    from ledger.received import Sheet

_EMPTY: Mapping[int, Cell] = {}
_FEWEST = 3


def unlike(reading: Reading) -> Iterator[Finding]:
    """Yield the odd cells of columns that were not published: helpers, and what a reader has added."""
    for (title, kind), unit in reading.units.items():
        if kind != ROWS:
            continue
        ids = {row: id_ for id_, row in unit.rows.items()}
        rows = list(ids)
        names = {column: name for name, column in unit.columns.items()}
        recorded = {unit.columns[name] for name in unit.names if name in unit.recorded.values}
        columns = {column for row in rows for column in unit.sheet.rows.get(row, _EMPTY)} - recorded
        for column in sorted(columns):
            for rule, row, what in odd(unit.sheet, rows, column):
                address = f"{title}!{letters_of(column)}{row}"
                yield Finding(rule, title, ids[row], names.get(column, ""), address, what)


def odd(sheet: Sheet, rows: Sequence[int], column: int) -> Iterator[tuple[str, int, str]]:
    """Yield each cell of some rows of a column that is not as most are: the rule, its row, what it holds."""
    cells = {row: sheet.rows.get(row, _EMPTY).get(column) for row in rows}
    shapes = {
        row: shape(cell.formula, row) for row, cell in cells.items() if cell and cell.formula is not None
    }
    if len(rows) < _FEWEST or not shapes:
        return
    ((usual, count),) = Counter(shapes.values()).most_common(1)
    if count * 2 <= len(rows):
        return
    first = next(row for row in rows if shapes.get(row) == usual)
    model = cells[first]
    if model is None or model.formula is None:
        return
    for row, cell in cells.items():
        if shapes.get(row) != usual:
            rule = FORMULA if row in shapes else CONSTANT
            like = f"its column is like {letters_of(column)}{first}, ={quoted(model.formula)}"
            yield rule, row, f"{held(cell)}; {like}"
