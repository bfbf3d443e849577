"""A workbook as lines of text that git can compare: one formula or value a line, nothing of its looks.

Rows are sorted by id, for a reviewer may have sorted the sheet otherwise; `diff` finds a changed order.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ledger.display.answer import visible
from ledger.errors import LedgerError
from ledger.xlsx.changes import text_of
from ledger.xlsx.formulas import column_letters, corner
from ledger.xlsx.places import PUBLISHED, cell_name
from ledger.xlsx.reading import Reading, Region, named, printed
from ledger.xlsx.record import BLOCK
from ledger.xlsx.workbook import Workbook, Worksheet, read_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ledger.xlsx.workbook import Cell

_UNKNOWN = "?"
# What a file is called in errors; git names a temporary one.
_NAME = "workbook"


def file_text(path: Path) -> str:
    """Return the text of a file; why it cannot be read, if it cannot, for git would stop at an error."""
    try:
        data = path.read_bytes()
        return "\n".join(_lines(data)) if data else ""
    except OSError as error:
        reason = error.strerror
    except LedgerError as error:
        reason = visible(error.problems[0].what)
    return f"cannot be read: {reason}"


def _lines(data: bytes) -> Iterator[str]:
    book = read_workbook(_NAME, data)
    if PUBLISHED not in book.sheets:
        return _cells(book)
    try:
        return _names(named(book))
    except LedgerError as error:
        return iter((f"[not read by names: {visible(error.problems[0].what)}]", *_cells(book)))


def _cells(book: Workbook) -> Iterator[str]:
    """Yield every cell of a workbook that is not ours, then its notes."""
    for title, sheet in book.sheets.items():
        yield f"[sheet {visible(title)}]"
        for row, cells in sorted(sheet.rows.items()):
            for column, cell in sorted(cells.items()):
                yield _line(f"{title}!{column_letters(column)}{row}", cell, cell.formula)
        yield from _notes(sheet, ())


def _names(reading: Reading) -> Iterator[str]:
    """Yield every value of a workbook of ours by names, then its printed texts."""
    yield f"[report {visible(reading.record.report)}]"
    for title, sheet in reading.book.sheets.items():
        regions = [region for (on, _), region in reading.regions.items() if on == title]
        if regions:
            yield f"[sheet {visible(title)}]"
        for region in regions:
            for name in region.names if region.kind == BLOCK else ():
                yield _line(f"{title}/{name}", region.cell("", name), reading.formula(region, "", name))
            yield from _rows(reading, region) if region.kind != BLOCK else ()
        yield from _notes(sheet, regions)
    yield "[printed]"
    for published, cell in printed(reading):
        text = published.text if cell is None or cell.value is None else text_of(cell.value)
        where = cell_name(published.view, published.row, published.column)
        yield f"{visible(where)} = {visible(text)}"


def _rows(reading: Reading, region: Region) -> Iterator[str]:
    """Yield the formula of each column, then the cells row by row, with a formula where it is another."""
    title, columns = region.sheet.title, {}
    for name in region.names:
        found = region.cells(region.ids, name)
        formulas = [
            reading.formula_of(region, id_, name, cell) for id_, cell in zip(region.ids, found, strict=True)
        ]
        usual = next((formula for formula, _ in Counter(formulas).most_common(1)), None)
        if usual is not None:
            yield f"{visible(f'{title}/*/{name}')} ={visible(usual)}"
        cells = zip(found, formulas, strict=True)
        columns[name] = usual, dict(zip(region.ids, cells, strict=True))
    for id_ in sorted(region.ids):
        for name, (usual, column) in columns.items():
            cell, own = column[id_]
            line = _line(f"{title}/{id_}/{name}", cell, own if own != usual else None)
            yield f"{line}  no formula" if own is None and usual is not None else line


def _line(where: str, cell: Cell | None, formula: str | None) -> str:
    value = "" if cell is None else text_of(cell.value)
    if cell is not None and cell.formula is not None and cell.value is None:
        value = _UNKNOWN
    line = f"{visible(where)} = {visible(value)}".rstrip()
    return line if formula is None else f"{line}  ={visible(formula)}"


def _notes(sheet: Worksheet, regions: Sequence[Region]) -> Iterator[str]:
    """Yield the notes on cells, sorted by address, each under the name of its cell."""
    for note in sorted(sheet.notes, key=lambda each: corner(each.address)):
        column, row = corner(note.address)
        found = (_called(region, row, column) for region in regions)
        where = next((each for each in found if each), f"{sheet.title}!{note.address}")
        yield f"note {visible(where)} = {visible(note.text)}"


def _called(region: Region, row: int, column: int) -> str:
    """Return the address in names of a cell that has a note, empty if it is no cell of the region."""
    title = region.sheet.title
    if region.kind == BLOCK:
        return next((f"{title}/{name}" for name in region.names if region.rows[name] == row), "")
    name = next((name for name, each in region.columns.items() if each == column), None)
    if name is None or not region.rows:
        return ""
    if row == min(region.rows.values()) - 1:
        return f"{title}/*/{name}"
    return next((f"{title}/{id_}/{name}" for id_, each in region.rows.items() if each == row), "")
