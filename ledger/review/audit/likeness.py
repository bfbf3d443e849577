"""Columns without a record, such as helpers: the cells that are not as most of their column."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ledger.review.audit.cellrules import held, quoted
from ledger.review.audit.rules import CONSTANT, FORMULA, Finding
from ledger.xlsx.formulas import column_letters, shape, shifted
from ledger.xlsx.places import FIXED_SHEETS, PRINTED
from ledger.xlsx.record import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.xlsx.cells import Cell
    from ledger.xlsx.reading import Reading
    from ledger.xlsx.workbook import Worksheet

_EMPTY: Mapping[int, Cell] = {}
_FEWEST = 3
_HIDDEN = "_"


def unlike(reading: Reading) -> Iterator[Finding]:
    """Yield the odd cells of columns that were not published: helpers, and what a reader has added."""
    for (title, kind), region in reading.regions.items():
        if kind != ROWS:
            continue
        ids = {row: id_ for id_, row in region.rows.items()}
        rows = list(ids)
        names = {column: name for name, column in region.columns.items()}
        recorded = {region.columns[name] for name in region.names if name in region.recorded.values}
        columns = {column for row in rows for column in region.sheet.rows.get(row, _EMPTY)} - recorded
        for column in sorted(columns):
            for rule, row, what in odd(region.sheet, rows, column):
                address = f"{title}!{column_letters(column)}{row}"
                yield Finding(rule, title, ids[row], names.get(column, ""), address, what)


def between(reading: Reading) -> Iterator[Finding]:
    """Yield the constants that stand between two formulas of a column, on sheets that have no record.

    Our own checks differ from row to row; on a reader's sheet the two formulas must be alike.
    """
    for title, sheet in reading.book.sheets.items():
        if title in reading.places or title == PRINTED or title.startswith(_HIDDEN):
            continue
        for row, cells in sheet.rows.items():
            for column, cell in cells.items():
                if cell.formula is not None or cell.value is None:
                    continue
                above, below = (_formula(sheet, number, column) for number in (row - 1, row + 1))
                if above and below and (title in FIXED_SHEETS or shifted(above, 2, 0) == below):
                    address = f"{title}!{column_letters(column)}{row}"
                    yield Finding(CONSTANT, title, "", "", address, f"{held(cell)} between two formulas")


def _formula(sheet: Worksheet, row: int, column: int) -> str | None:
    cell = sheet.rows.get(row, _EMPTY).get(column)
    return None if cell is None else cell.formula


def odd(sheet: Worksheet, rows: Sequence[int], column: int) -> Iterator[tuple[str, int, str]]:
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
            like = f"its column is like {column_letters(column)}{first}, ={quoted(model.formula)}"
            yield rule, row, f"{held(cell)}; {like}"
