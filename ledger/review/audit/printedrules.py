"""Rules on `Printed`: every text is a formula, and so is every helper that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.review.audit.cellrules import held, quoted
from ledger.review.audit.likeness import odd
from ledger.review.audit.rules import CONSTANT, ERROR_VALUE, ID, STALE, Finding
from ledger.xlsx.cells import Cell, ErrorValue
from ledger.xlsx.changes import text_of
from ledger.xlsx.formulas import beside, column_letters, corner, reads
from ledger.xlsx.places import PRINTED
from ledger.xlsx.reading import Reading, printed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.review.audit.precedents import Precedents
    from ledger.xlsx.record import PrintedCell
    from ledger.xlsx.workbook import Worksheet

_EMPTY: Mapping[int, Cell] = {}
_FINDS_ITS_ROW = "MATCH("
#: A helper by its row and column, its cell, and whether it is looked up as the id of a row.
Helper = tuple[int, int, "Cell | None", bool]


def printed_findings(reading: Reading, precedents: Precedents) -> Iterator[Finding]:
    """Yield what is wrong on `Printed`; a text that moved with an input is not."""
    sheet = reading.book.sheets.get(PRINTED)
    if sheet is None:
        return
    views: dict[tuple[str, str, int], list[tuple[PrintedCell, set[int]]]] = {}
    seen: set[tuple[int, int]] = set()
    for told, cell in printed(reading):
        column, row = corner(told.address)
        helpers = [] if cell is None or cell.formula is None else list(_helpers(sheet, row, column))
        own = list(_own(told, cell))
        wrong = [*own, *_wrong_helpers(told, helpers, seen)]
        seen.update([(row, column)] if own else [])
        yield from wrong
        if not wrong:
            yield from _moved(told, cell, (PRINTED, row, column), precedents)
        columns = {place for number, place, _, _ in helpers if number == row}
        views.setdefault((told.view, told.column, column), []).append((told, columns))
    for (_, _, column), cells in views.items():
        yield from _alike(sheet, column, cells, seen)


def _finding(rule: str, told: PrintedCell, address: str, what: str) -> Finding:
    return Finding(rule, told.view, told.row, told.column, f"{PRINTED}!{address}", what)


def _own(told: PrintedCell, cell: Cell | None) -> Iterator[Finding]:
    """Yield what is wrong with the cell itself: no formula, one that reads nothing, an error."""
    if cell is None or cell.formula is None:
        yield _finding(CONSTANT, told, told.address, f"{held(cell)}, published as a formula")
    elif not any(beside(cell.formula)) and not reads(cell.formula).references:
        yield _finding(CONSTANT, told, told.address, f"{held(cell)}, which reads nothing")
    elif isinstance(cell.value, ErrorValue) and str(cell.value) != told.text:
        what = f"shows {cell.value}, published as {quoted(told.text)}"
        yield _finding(ERROR_VALUE, told, told.address, what)


def _helpers(sheet: Worksheet, row: int, column: int) -> Iterator[Helper]:
    """Yield every cell of the sheet that a cell reads, one through the other."""
    waiting, met = [(row, column)], {(row, column)}
    while waiting:
        at = waiting.pop()
        cell = sheet.rows.get(at[0], _EMPTY).get(at[1])
        formula = cell.formula if cell else None
        for place in beside(formula) if formula else ():
            if place not in met:
                met.add(place)
                waiting.append(place)
                is_id = str(formula).startswith(_FINDS_ITS_ROW)
                yield *place, sheet.rows.get(place[0], _EMPTY).get(place[1]), is_id


def _wrong_helpers(told: PrintedCell, helpers: list[Helper], seen: set[tuple[int, int]]) -> Iterator[Finding]:
    """Yield helpers that are no formula, and those that look another row up."""
    for row, column, cell, is_id in helpers:
        if (row, column) in seen or (cell is not None and cell.formula is not None):
            continue
        seen.add((row, column))
        address = f"{column_letters(column)}{row}"
        if not is_id or cell is None or not isinstance(cell.value, str):
            yield _finding(CONSTANT, told, address, f"{held(cell)}, published as a formula")
        elif told.row and cell.value != told.row:
            yield _finding(ID, told, address, f"looks up {cell.value!r}, published for {told.row!r}")


def _moved(
    told: PrintedCell, cell: Cell | None, at: tuple[str, int, int], precedents: Precedents
) -> Iterator[Finding]:
    """Yield a text that is not as published, though nothing that it reads was changed."""
    if cell is None or cell.value is None or text_of(cell.value) == told.text or precedents.is_changed(at):
        return
    what = f"shows {quoted(text_of(cell.value))}, published as {quoted(told.text)}"
    yield _finding(STALE, told, told.address, what)


def _alike(
    sheet: Worksheet, column: int, cells: list[tuple[PrintedCell, set[int]]], seen: set[tuple[int, int]]
) -> Iterator[Finding]:
    """Yield the cells of a view's column, and of its helpers, that are not as most of them."""
    rows = {corner(told.address)[1]: told for told, _ in cells}
    for place in sorted({column}.union(*(columns for _, columns in cells))):
        for rule, row, what in odd(sheet, list(rows), place):
            if rule != CONSTANT and (row, place) not in seen:
                seen.add((row, place))
                yield _finding(rule, rows[row], f"{column_letters(place)}{row}", what)
