"""The record in a workbook of ours: the report, and each value, formula and text as published."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.xlsx.parts import refused
from ledger.xlsx.places import DEFINITIONS, PUBLISHED
from ledger.xlsx.workbook import Workbook, Worksheet, read_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.xlsx.workbook import Cell, CellValue


#: The text of the first cell, and the number of this form of the record.
MAKER, FORM = "tile-ledger", 1
#: Where that form, the name of the report and the version that built the workbook stand beside it.
FORM_COLUMN, REPORT_COLUMN, VERSION_COLUMN = 2, 3, 4
#: What a region is of: names that do not vary by row, rows of a table, printed cells.
BLOCK, ROWS, PRINTED_CELLS = "block", "rows", "printed"
#: The row of the first region; rows of a region before its values: what it is of, its names, its formulas.
FIRST, HEADS = 3, 3
PRINTED_HEADS = ("cell", "view", "row", "column", "text")
_ADDRESS = re.compile("[A-Z]{1,3}[1-9][0-9]*")
_EMPTY: Mapping[int, Cell] = {}


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell of `Printed`: its address, the view, the row's id and the column that it prints, its text."""

    address: str
    view: str
    row: str
    column: str
    text: str

    def fields(self) -> tuple[str, ...]:
        """Return address, view, row, column and text, in the order of the record's columns."""
        return self.address, self.view, self.row, self.column, self.text


def line_mark(view: str, row: int) -> str:
    """Return the mark beside the printed cells of a row: their view, and the row's number as published."""
    return f"{view}/{row}"


def blank_or(value: CellValue) -> CellValue:
    """Return a published value, None for a blank one, which the record holds as an error."""
    return value if isinstance(value, str | float | bool) else None


@dataclass(frozen=True, slots=True, eq=False)
class PublishedRegion:
    """What was published of a block or of the rows of a worksheet.

    `formulas` holds formulas in names by name, `values` a list for each name; its first name has the ids.
    """

    sheet: str
    kind: str
    names: tuple[str, ...]
    formulas: Mapping[str, str]
    values: Mapping[str, tuple[CellValue, ...]]

    def ids(self) -> tuple[str, ...]:
        """Return the id of each row, one empty id of a block."""
        return ("",) if self.kind == BLOCK else tuple(str(each) for each in self.values[self.names[0]])

    def column(self, name: str) -> dict[str, CellValue]:
        """Return the published values of a name by the ids of their rows, none for a name without values."""
        return dict(zip(self.ids(), self.values.get(name, ()), strict=False))


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A workbook's record: the report, the version that built it, its regions, its printed cells.

    Regions go by worksheet and kind; the version is empty in a workbook of a version before 0.2.
    """

    report: str
    version: str
    regions: Mapping[tuple[str, str], PublishedRegion]
    printed: tuple[PrintedCell, ...]


def record(book: Workbook) -> Record:
    """Return the record of a workbook; raise a LedgerError if it has none that can be read."""
    sheet = book.sheets.get(PUBLISHED)
    if sheet is None or sheet.value(1, 1) != MAKER:
        what = f"has no sheet {PUBLISHED}: it is not a workbook of ours, or of an older version"
        raise refused(book.name, what, "build it again with this version, and edit that one")
    version = str(sheet.value(1, VERSION_COLUMN) or "")
    if (form := sheet.value(1, FORM_COLUMN)) != FORM:
        what = f"is a workbook of another version: its record has form {form}, not {FORM}"
        raise refused(book.name, what, f"use the version that built it{version and f', {version}'}")
    regions: dict[tuple[str, str], PublishedRegion] = {}
    start = FIRST
    while (kind := sheet.value(start, 1)) in {BLOCK, ROWS}:
        region = _region(sheet, start, str(kind), str(sheet.value(start, 2)))
        regions[region.sheet, region.kind] = region
        start += HEADS + len(region.ids()) + 1
    printed = tuple(_printed(sheet, start + 2)) if kind == PRINTED_CELLS else ()
    return Record(str(sheet.value(1, REPORT_COLUMN)), version, regions, printed)


def _is_blank(sheet: Worksheet, row: int) -> bool:
    return all(cell.value is None and cell.formula is None for cell in sheet.rows.get(row, _EMPTY).values())


def _region(sheet: Worksheet, start: int, kind: str, title: str) -> PublishedRegion:
    names: list[str] = []
    while (name := sheet.value(start + 1, len(names) + 1)) is not None:
        names.append(str(name))
    written = sheet.rows.get(start + 2, _EMPTY)
    formulas = {name: str(written[i].value) for i, name in enumerate(names, 1) if i in written}
    last = start + HEADS
    while kind != BLOCK and not _is_blank(sheet, last + 1):
        last += 1
    rows = [sheet.rows.get(row, _EMPTY) for row in range(start + HEADS, last + 1)]
    values = {
        name: tuple(row[i].value if i in row else None for row in rows) for i, name in enumerate(names, 1)
    }
    return PublishedRegion(title, kind, tuple(names), formulas, values)


def _printed(sheet: Worksheet, first: int) -> Iterator[PrintedCell]:
    row = first
    while not _is_blank(sheet, row):
        values = (sheet.value(row, i) for i in range(1, len(PRINTED_HEADS) + 1))
        found = PrintedCell(*("" if each is None else str(each) for each in values))
        if _ADDRESS.fullmatch(found.address):
            yield found
        row += 1


_FIRST_DEFINITION = 4
_NAME, _SHEET, _FORMULA = 1, 2, 5


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a workbook records: rows by sheet, key and header; values of blocks by sheet and name.

    `formulas` holds formulas in names by sheet and name, `files` the hash of each file it was made from.
    """

    rows: Mapping[str, Mapping[str, Mapping[str, CellValue]]]
    blocks: Mapping[str, Mapping[str, CellValue]]
    formulas: Mapping[tuple[str, str], str]
    files: Mapping[str, str]


def snapshot(name: str, data: bytes) -> Snapshot:
    """Return what the workbook `data` records; raise a LedgerError if it is none of ours."""
    book = read_workbook(name, data)
    regions = record(book).regions
    rows = {title: _rows(region) for (title, kind), region in regions.items() if kind != BLOCK}
    blocks = {title: _rows(region)[""] for (title, kind), region in regions.items() if kind == BLOCK}
    sheet = book.sheets.get(DEFINITIONS)
    return Snapshot(rows, blocks, dict(_formulas(sheet)) if sheet else {}, book.properties)


def _rows(region: PublishedRegion) -> dict[str, dict[str, CellValue]]:
    """Return the values by name of each row by id; what was blank is None."""
    return {
        id_: {name: blank_or(values[i]) for name, values in region.values.items()}
        for i, id_ in enumerate(region.ids())
    }


def _formulas(sheet: Worksheet) -> Iterator[tuple[tuple[str, str], str]]:
    for row in sorted(sheet.rows):
        if row >= _FIRST_DEFINITION:
            name, where, formula = (str(sheet.value(row, i) or "") for i in (_NAME, _SHEET, _FORMULA))
            yield (where, name), formula
