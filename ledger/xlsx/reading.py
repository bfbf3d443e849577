"""A workbook of ours by names: the row of each id and the column of each name, whoever sorted or saved it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ledger.xlsx.formulas import cell_address, column_letters, corner, in_names
from ledger.xlsx.parts import refused
from ledger.xlsx.places import PRINTED, VALUE, Places, locator
from ledger.xlsx.record import BLOCK, ROWS, PrintedCell, PublishedRegion, Record, line_mark, record
from ledger.xlsx.workbook import Cell, CellValue, ErrorValue, Workbook, Worksheet, read_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_EMPTY: Mapping[int, Cell] = {}
#: The formula of an input that is blank.
BLANK = "NA()"
_OWN_ROW = re.compile(r'"[^"]*"|(?<=[A-Za-z])[0-9]+(?![0-9(])')
_OTHER_SHEET = re.compile(r"![A-Za-z$]*\x00")
_PART = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A block or the rows of a worksheet as they are now; a blank input is an empty cell.

    `names` are the live headers, `ids` the live ids, one empty id for a block; `rows` has the row of each id,
    of each name in a block; `recorded` is what was published.
    """

    sheet: Worksheet
    kind: str
    names: tuple[str, ...]
    ids: tuple[str, ...]
    rows: Mapping[str, int]
    columns: Mapping[str, int]
    recorded: PublishedRegion

    def place(self, id_: str, name: str) -> tuple[int, int]:
        """Return the row and the column of a value."""
        return self.rows[name if self.kind == BLOCK else id_], self.columns[name]

    def cell(self, id_: str, name: str) -> Cell | None:
        """Return a cell, None if it is empty."""
        row, column = self.place(id_, name)
        cell = self.sheet.rows.get(row, _EMPTY).get(column)
        if cell is None or name in self.recorded.formulas:
            return cell
        blank = cell.formula == BLANK or (cell.formula is None and cell.value == ErrorValue("#N/A"))
        return None if blank else cell

    def cells(self, ids: Sequence[str], name: str) -> list[Cell | None]:
        """Return the cells of a column in some rows, as `cell` does, several times faster."""
        if self.kind == BLOCK or name not in self.recorded.formulas:
            return [self.cell(id_, name) for id_ in ids]
        rows, column = self.sheet.rows, self.columns[name]
        return [rows.get(self.rows[id_], _EMPTY).get(column) for id_ in ids]

    def address(self, id_: str, name: str) -> str:
        """Return the address of a value, such as `sweep!F23`."""
        return cell_address(self.sheet.title, *self.place(id_, name))


@dataclass(slots=True, eq=False)
class Reading:
    """A workbook by names: its record, its regions by worksheet and kind, where names are on each sheet."""

    book: Workbook
    record: Record
    regions: Mapping[tuple[str, str], Region]
    places: Mapping[str, Places]
    known: dict[tuple[str, int, str], str] = field(default_factory=dict)

    def formula(self, region: Region, id_: str, name: str) -> str | None:
        """Return the formula of a value in names, None for a constant."""
        return self.formula_of(region, id_, name, region.cell(id_, name))

    def formula_of(self, region: Region, id_: str, name: str, cell: Cell | None) -> str | None:
        """Return the same of a cell that was found already, as in a walk down a column."""
        if cell is None or cell.formula is None:
            return None
        return self.in_names(region.sheet.title, *region.place(id_, name), cell.formula)

    def in_names(self, sheet: str, row: int, column: int, formula: str) -> str:
        """Return the formula of a cell in names, kept for the column: its rows differ in their number."""
        own = str(row)
        shape = _OWN_ROW.sub(lambda found: "\0" if found[0] == own else found[0], formula)
        key = sheet, column, shape
        if key in self.known:
            return self.known[key]
        found = in_names(formula, locator(self.places, sheet, row))
        if not _OTHER_SHEET.search(shape):
            self.known[key] = found
        return found


def read(name: str, data: bytes) -> Reading:
    """Return the workbook `data` by names; raise a LedgerError if it is none of ours."""
    return named(read_workbook(name, data))


def named(book: Workbook) -> Reading:
    """Return a workbook by names; raise a LedgerError if it is none of ours."""
    published, regions = record(book), dict[tuple[str, str], Region]()
    for key, recorded in published.regions.items():
        sheet = book.sheets.get(recorded.sheet)
        if sheet is not None and (region := _located(book.name, sheet, recorded)):
            regions[key] = region
    places = {title: _places(title, regions) for title, _ in regions}
    return Reading(book, replace(published, printed=tuple(_moved(book, published.printed))), regions, places)


def _moved(book: Workbook, cells: tuple[PrintedCell, ...]) -> Iterator[PrintedCell]:
    """Yield printed cells with the addresses that they have now: rows may have been inserted above them."""
    wanted = {line_mark(each.view, corner(each.address)[1]) for each in cells}
    sheet, marks = book.sheets.get(PRINTED), dict[CellValue, int]()
    for row, _, cell in sheet.cells() if sheet else ():
        if cell.formula is None and isinstance(cell.value, str) and cell.value in wanted:
            marks.setdefault(cell.value, row)
    for each in cells:
        column, row = corner(each.address)
        now = marks.get(line_mark(each.view, row), row)
        yield replace(each, address=f"{column_letters(column)}{now}")


def _places(title: str, regions: Mapping[tuple[str, str], Region]) -> Places:
    block, rows = regions.get((title, BLOCK)), regions.get((title, ROWS))
    names = {row: name for name, row in block.rows.items()} if block else {}
    if rows is None:
        return Places(names)
    columns = {column: name for name, column in rows.columns.items()}
    ids = {row: id_ for id_, row in rows.rows.items()}
    return Places(names, columns, min(ids, default=0), max(ids, default=0), ids)


def _located(file: str, sheet: Worksheet, recorded: PublishedRegion) -> Region | None:
    """Return a region with its rows and columns of now, None if it is gone."""
    if recorded.kind == BLOCK:
        rows = _block_rows(sheet, recorded.names)
        names = tuple(name for name in recorded.names if name in rows)
        columns = dict.fromkeys(names, VALUE)
        return Region(sheet, BLOCK, names, ("",), rows, columns, recorded) if names else None
    if (header := _header(sheet, recorded.names)) == 0:
        return None
    columns = _columns(file, sheet, header)
    ids = _ids(sheet, header, columns, recorded)
    return Region(sheet, ROWS, tuple(columns), tuple(ids), ids, columns, recorded)


def _columns(file: str, sheet: Worksheet, header: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for column, cell in sorted(sheet.rows[header].items()):
        head = "" if cell.value is None else str(cell.value)
        if head in found:
            raise refused(file, f"sheet {sheet.title!r} has two columns {head!r}", "rename one of them")
        if head:
            found[head] = column
    return found


def _block_rows(sheet: Worksheet, names: Sequence[str]) -> dict[str, int]:
    wanted, found = set(names), dict[str, int]()
    for row in sorted(sheet.rows):
        text = sheet.value(row, 1)
        if isinstance(text, str) and text in wanted:
            found.setdefault(text, row)
    return found


def _header(sheet: Worksheet, names: Sequence[str]) -> int:
    """Return the row that holds most of the names as texts, at least half of them; 0 if there is none."""
    wanted, best, most = set(names), 0, len(names) / 2
    for row in sorted(sheet.rows):
        found = sum(cell.formula is None and cell.value in wanted for cell in sheet.rows[row].values())
        if found >= most and found > 0 and (best == 0 or found > most):
            best, most = row, found
        if found == len(wanted):
            break
    return best


def _ids(
    sheet: Worksheet, header: int, columns: Mapping[str, int], recorded: PublishedRegion
) -> dict[str, int]:
    """Return the row of each id below a header, down to the first row that is blank in all columns."""
    found: dict[str, int] = {}
    row = header + 1
    while any(column in sheet.rows.get(row, _EMPTY) for column in columns.values()):
        own = _id(sheet.rows[row], columns, recorded)
        id_ = own or f"row {row}"
        number = 1
        while id_ in found:
            number += 1
            id_ = f"{own} ({number})"
        found[id_] = row
        row += 1
    return found


def _id(cells: Mapping[int, Cell], columns: Mapping[str, int], recorded: PublishedRegion) -> str:
    """Return the id of a row; one that is put together is, where no spreadsheet left its value."""
    key = recorded.names[0]
    cell = cells.get(columns.get(key, 0))
    if cell is not None and cell.value is not None:
        return id_text(cell.value)
    parts = _PART.findall(recorded.formulas.get(key, ""))
    found = (cells.get(columns.get(part, 0)) for part in parts)
    return "|".join(id_text(each.value) for each in found if each is not None)


def id_text(value: object) -> str:
    """Return an id as text: a spreadsheet may have made a number of it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def printed(reading: Reading) -> Iterator[tuple[PrintedCell, Cell | None]]:
    """Yield each printed cell as published, with the cell that is at its address now."""
    sheet = reading.book.sheets.get(PRINTED)
    for each in reading.record.printed:
        column, row = corner(each.address)
        yield each, None if sheet is None else sheet.cell(row, column)
