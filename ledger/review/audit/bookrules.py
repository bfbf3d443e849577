"""Rules on the workbook itself: what Excel would refuse or repair, what can run, what is hidden."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from ledger.review.audit.cellrules import quoted
from ledger.review.audit.formularules import missing_rows, range_text
from ledger.review.audit.rules import (
    HIDDEN,
    LENGTH,
    LINK,
    LIST,
    MACRO,
    NAME,
    RANGE,
    TABLE,
    TITLE,
    UNKNOWN,
    Finding,
)
from ledger.values import utf16_length
from ledger.xlsx.formulas import column_letters, column_number, corner, reads
from ledger.xlsx.limits import MAX_TITLE, TITLE_FAULTS, faults
from ledger.xlsx.places import VALUE, Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.xlsx.reading import Reading
    from ledger.xlsx.workbook import DefinedName, Shell, TableObject, Worksheet

_LONGEST_NAME, _LONGEST_TEXT, _LONGEST_LIST = 255, 32_767, 255
_LAST_COLUMN, _LAST_ROW = 16_384, 1_048_576
_ADDRESS = re.compile("([A-Za-z]{1,3})0*([1-9][0-9]*)")
_AREA = re.compile("[A-Z]{1,3}[1-9][0-9]*:[A-Z]{1,3}[1-9][0-9]*")
_NAME_FAULTS = (
    (re.compile(r"(?![^\W\d]|\\).*|.*[^\w.\\?].*", re.DOTALL), "holds what a name cannot hold"),
    (re.compile("(?i)(?=.)(r[0-9]*)?(c[0-9]*)?"), "is an address in R1C1 notation"),
    (re.compile("(?i)true|false|_xl.*"), "is a word that Excel keeps for itself"),
)
# Excel writes these itself: print areas, filters, functions newer than the reader's version.
_EXCELS_OWN = ("_xlnm.", "_xlfn.", "_xlpm.", "_xleta.")
_NETWORK = ("http://", "https://", "mailto:", "#")
_HIDDEN_BY_US = "_"
_NOWHERE = Places()


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """A workbook: its cells by names, and what stands around them."""

    reading: Reading
    shell: Shell

    def tables(self) -> Iterator[tuple[Worksheet, TableObject]]:
        """Yield every table with its sheet."""
        for sheet in self.reading.book.sheets.values():
            for table in sheet.tables:
                yield sheet, table


def name_fault(name: str) -> str:
    """Return what Excel has against a defined name or the name of a table, nothing if it takes it.

    >>> name_fault("AB12"), name_fault("ABCD12")
    ('is the address of a cell', '')
    """
    address = _ADDRESS.fullmatch(name)
    if address and column_number(address[1]) <= _LAST_COLUMN and int(address[2]) <= _LAST_ROW:
        return "is the address of a cell"
    if (length := utf16_length(name)) > _LONGEST_NAME:
        return f"has {length} characters, at most {_LONGEST_NAME}"
    return next((fault for pattern, fault in _NAME_FAULTS if pattern.fullmatch(name)), "")


def names(book: Book) -> Iterator[Finding]:
    """Yield names and table names that cannot be, and those that are there twice without case."""
    seen: dict[tuple[str, str], str] = {}
    own = [each for each in book.shell.names if not each.name.startswith(_EXCELS_OWN)]
    found = [("", each.name, each.scope) for each in own]
    found += [(sheet.title, table.name, "") for sheet, table in book.tables()]
    for sheet, name, scope in found:
        what = f"table {name!r}" if sheet else f"name {name!r}"
        if fault := name_fault(name):
            yield Finding(NAME, sheet, "", "", "", f"{quoted(what)} {fault}")
        if (before := seen.setdefault((name.casefold(), scope), what)) is not what:
            yield Finding(NAME, sheet, "", "", "", f"{quoted(what)} is there already: {quoted(before)}")


def name_targets(book: Book) -> Iterator[Finding]:
    """Yield names that stand for a deleted cell or for another file."""
    for each in book.shell.names:
        yield from _target(each)


def _target(name: DefinedName) -> Iterator[Finding]:
    read = reads(name.text)
    # A broken name of the spreadsheet's own, such as an area to print, stands in no number.
    if "#REF!" in read.errors and not name.name.startswith(_EXCELS_OWN):
        yield Finding(
            UNKNOWN, "", "", "", "", f"name {name.name!r} stands for #REF!, a cell that was deleted"
        )
    for each in read.links:
        yield Finding(LINK, "", "", "", "", f"name {name.name!r} reads {quoted(each)}")


def tables(book: Book) -> Iterator[Finding]:
    """Yield tables whose headers are blank, twice there, no text or not their columns' names; overlaps."""
    found = [(sheet, table) for sheet, table in book.tables() if _AREA.fullmatch(table.area)]
    for sheet, table in book.tables():
        if (sheet, table) not in found:
            what = f"table {table.name!r} has no range: {table.area!r}"
            yield Finding(TABLE, sheet.title, "", "", "", what)
    headless = {name for sheet in book.shell.sheets for name in sheet.headless}
    for sheet, table in found:
        for column, what in _headers(sheet, table, has_row=table.name not in headless):
            first = table.area.partition(":")[0]
            address = f"{sheet.title}!{column_letters(column)}{corner(first)[1]}"
            yield Finding(TABLE, sheet.title, "", "", address, f"table {table.name!r}: {what}")
    for (sheet, one), (beside, other) in combinations(found, 2):
        if sheet is beside and _overlap(one.area, other.area):
            what = f"tables {one.name!r} ({one.area}) and {other.name!r} ({other.area}) overlap"
            yield Finding(TABLE, sheet.title, "", "", f"{sheet.title}!{other.area}", what)


def _headers(sheet: Worksheet, table: TableObject, *, has_row: bool) -> Iterator[tuple[int, str]]:
    column, row = corner(table.area.partition(":")[0])
    seen: set[str] = set()
    for number, header in enumerate(table.headers, column):
        cell = sheet.value(row, number)
        if not header.strip():
            yield number, "a header is blank"
        elif header.casefold() in seen:
            yield number, f"header {quoted(header)!r} is there twice"
        elif has_row and not isinstance(cell, str):
            yield number, f"the header cell of {quoted(header)!r} holds no text"
        elif has_row and cell != header:
            yield number, f"the header cell holds {quoted(str(cell))!r}, the table has {quoted(header)!r}"
        seen.add(header.casefold())


def _overlap(one: str, other: str) -> bool:
    (a, b), (c, d) = (_corners(area) for area in (one, other))
    return a[0] <= d[0] and c[0] <= b[0] and a[1] <= d[1] and c[1] <= b[1]


def _corners(area: str) -> tuple[tuple[int, int], tuple[int, int]]:
    first, _, last = area.partition(":")
    return corner(first), corner(last or first)


def titles(book: Book) -> Iterator[Finding]:
    """Yield sheet titles that cannot be, or are there twice."""
    for title, fault in faults((each.title for each in book.shell.sheets), TITLE_FAULTS, MAX_TITLE):
        yield Finding(TITLE, title, "", "", "", fault)


def texts(book: Book) -> Iterator[Finding]:
    """Yield texts that are longer than Excel keeps."""
    for title, sheet in book.reading.book.sheets.items():
        for row, cells in sheet.rows.items():
            for column, cell in cells.items():
                value = cell.value
                if isinstance(value, str) and len(value) * 2 > _LONGEST_TEXT:
                    length = utf16_length(value)
                    if length > _LONGEST_TEXT:
                        what = f"holds a text of {length:,} characters, at most {_LONGEST_TEXT:,}"
                        yield Finding(LENGTH, title, "", "", f"{title}!{column_letters(column)}{row}", what)


def lists(book: Book) -> Iterator[Finding]:
    """Yield drop-downs that list more text than Excel takes."""
    for sheet in book.shell.sheets:
        for place, formula in sheet.lists:
            if formula.startswith('"') and (length := utf16_length(formula) - 2) > _LONGEST_LIST:
                what = f"its drop-down lists {length} characters, at most {_LONGEST_LIST}"
                yield Finding(LIST, sheet.title, "", "", f"{sheet.title}!{place}", what)


def list_ranges(book: Book) -> Iterator[Finding]:
    """Yield drop-downs that leave out rows of the table that they list."""
    for sheet in book.shell.sheets:
        for place, formula in sheet.lists:
            for each in reads(formula).references:
                on = book.reading.places.get(each.sheet or sheet.title, _NOWHERE)
                if not each.is_cell and (missing := missing_rows(on, each, 0)):
                    what = f"its drop-down lists {range_text(each)} and leaves out {missing}"
                    yield Finding(RANGE, sheet.title, "", "", f"{sheet.title}!{place}", what)


def links(book: Book) -> Iterator[Finding]:
    """Yield other workbooks, files and data that the workbook is linked to; a web page is only a link."""
    for target in book.reading.book.links:
        yield Finding(LINK, "", "", "", "", f"is linked to {quoted(target)}")
    for name in book.shell.connections:
        yield Finding(LINK, "", "", "", "", f"has the data connection {quoted(name)!r}")
    for sheet in book.shell.sheets:
        for target in dict.fromkeys(sheet.links):
            if not target.lower().startswith(_NETWORK):
                yield Finding(LINK, sheet.title, "", "", "", f"links to the file {quoted(target)}")


def macros(book: Book) -> Iterator[Finding]:
    """Yield the parts that a spreadsheet could run."""
    for part in book.reading.book.macros:
        yield Finding(MACRO, "", "", "", "", f"holds {part}")


def hidden(book: Book) -> Iterator[Finding]:
    """Yield hidden sheets, rows and named columns; helper columns are hidden from the start."""
    for sheet in book.shell.sheets:
        title, on = sheet.title, book.reading.places.get(sheet.title, _NOWHERE)
        if sheet.state != "visible" and not title.startswith(_HIDDEN_BY_US):
            yield Finding(HIDDEN, title, "", "", "", "the sheet is hidden")
        for row in sheet.rows:
            if row in on.ids or row in on.block:
                what = f"row {row} is hidden"
                yield Finding(
                    HIDDEN, title, on.ids.get(row, ""), on.block.get(row, ""), f"{title}!A{row}", what
                )
        named = {**dict.fromkeys(range(1, VALUE + 1 if on.block else 1), ""), **on.columns}
        for column in sorted({column for a, b in sheet.columns for column in named if a <= column <= b}):
            letters = column_letters(column)
            yield Finding(
                HIDDEN, title, "", named[column], f"{title}!{letters}1", f"column {letters} is hidden"
            )


#: The rules on the workbook: each yields what is wrong.
BOOK_RULES: tuple[Callable[[Book], Iterator[Finding]], ...] = (
    names,
    name_targets,
    tables,
    titles,
    texts,
    lists,
    list_ranges,
    links,
    macros,
    hidden,
)
