"""The layout of the workbook: the rows and columns of names, tables, ladders and of the record."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ledger.declarations.scenario import NUMBER
from ledger.plan.plan import ID, Given, Node, Plan, PlannedSheet, PlannedTable, PrintedText, RowField
from ledger.values import Values, texts
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.places import LADDER_HEADS, PUBLISHED, VALUE, Places
from ledger.xlsx.record import BLOCK, FIRST, HEADS, ROWS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ledger.display.rules import Ladder
    from ledger.evaluate.evaluate import Result
    from ledger.evaluate.lookups import TableRows

#: Helper cells of a printed text: k, y, n.
HELPERS = 3
#: Rows of a block: title, basis, a blank one, the header.
BLOCK_HEADER = 4
_PLAIN_SHEET = re.compile(r"[A-Za-z_]+")
# Label, unit and formula are above the header.
_ABOVE_HEADER = 3
_DISPLAY_FIRST = 3
_KEY = "key"
_LONGEST_HEADER = 120
# The square of a number beyond this is none to a spreadsheet.
_SQUARE = 1e150


@dataclass(frozen=True, slots=True)
class LedgerLayout:
    """A ledger sheet: `block` has the rows of names that do not vary, `columns` the columns of the others.

    `helpers` has the first of three helper columns of each printed text; `header` is 0 on a sheet of one row.
    """

    block: Mapping[str, int]
    columns: Mapping[str, int]
    helpers: Mapping[str, int]
    header: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table: the sheet, column and header of its keys, its fields' columns, its rows.

    `documents` are columns of its file that no formula reads: they are at the right, on its own sheet.
    """

    sheet: str
    keys: int
    parts: Mapping[str, int]
    columns: Mapping[str, int]
    documents: Mapping[str, int]
    header: int
    first: int
    last: int
    key: str

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of a table on its own sheet, in the order of the columns."""
        return (self.key, *self.parts, *self.columns, *self.documents)


@dataclass(frozen=True, slots=True)
class RegionLayout:
    """The record of a block or of the rows of a worksheet: a row of its name, of names, of formulas, values.

    `names` are the headers in the order of the columns, `start` is the first row, `count` how many values
    each name has, `live` the row of the first live value on the worksheet.  Right of the values, cells mark
    the rows in which the live value of one of the `marked` names differs: those on which formulas over a
    range fail: with errors, empty or typed texts, huge numbers.
    """

    sheet: str
    kind: str
    names: tuple[str, ...]
    marked: tuple[str, ...]
    start: int
    count: int
    live: int

    @property
    def first(self) -> int:
        """The row of the first values."""
        return self.start + HEADS

    @property
    def last(self) -> int:
        """The row of the last values."""
        return self.first + self.count - 1

    def column(self, name: str) -> int:
        """Return the column of a name, in the record and among the rows of the worksheet."""
        return 1 + self.names.index(name)

    def mark(self, name: str) -> int:
        """Return the column of the marks of a name."""
        return len(self.names) + 2 + self.marked.index(name)

    def cells(self, name: str) -> str:
        """Return the reference to the live values of a name: one cell of a block, or a range of rows."""
        if self.kind == BLOCK:
            return self.home(name)
        return span(self.sheet, self.column(name), self.live, self.live + self.count - 1)

    def home(self, name: str) -> str:
        """Return the cell that a name is found by: its value in a block, or its header above the rows."""
        column = self.column(name)
        place = (VALUE, self.live + column - 1) if self.kind == BLOCK else (column, self.live - 1)
        return f"{sheet_reference(self.sheet)}!{cell(*place)}"

    def published(self, column: int) -> str:
        """Return the reference to the values of the record in a column, of one cell for a block."""
        if self.kind == BLOCK:
            return f"{PUBLISHED}!{cell(column, self.first)}"
        return span(PUBLISHED, column, self.first, self.last)


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole workbook."""

    sheets: Mapping[str, LedgerLayout]
    tables: Mapping[str, TableLayout]
    ladders: Mapping[Ladder, int]
    regions: tuple[RegionLayout, ...] = ()

    def places(self) -> dict[str, Places]:
        """Return the rows and columns of names, by worksheet."""
        found = {}
        for title, on in self.sheets.items():
            columns = {column: name for name, column in on.columns.items()}
            rows = (on.first, on.last) if columns else (0, 0)
            found[title] = Places({row: name for name, row in on.block.items()}, columns, *rows)
        for title, at in self.tables.items():
            if at.sheet == title:
                found[title] = Places({}, dict(enumerate(at.headers, 1)), at.first, at.last)
        return found

    def region(self, sheet: str, name: str) -> RegionLayout:
        """Return the record of the block or of the rows that a name of a worksheet is in."""
        return next(each for each in self.regions if each.sheet == sheet and name in each.names)

    def cells(self, sheet: str, name: str) -> str:
        """Return the reference to the values of a name from another sheet: one cell, or a range of rows."""
        return self.region(sheet, name).cells(name)

    def ladder(self, ladder: Ladder) -> tuple[int, int, int]:
        """Return the first of the four columns of a ladder on the hidden sheet, its first and last row."""
        column = 1 + self.ladders[ladder] * (len(LADDER_HEADS) + 1)
        return column, _DISPLAY_FIRST, _DISPLAY_FIRST + len(ladder.steps) - 1


def lay_out(plan: Plan, result: Result) -> Layout:
    """Return the layout of a report's workbook: sheets, tables, ladders, and the regions of the record."""
    sheets = {name: _ledger(sheet, len(result.sheets[name].ids)) for name, sheet in plan.sheets.items()}
    tables = {name: _table(table, result.tables[name], sheets) for name, table in plan.tables.items()}
    ladders = {ladder: i for i, ladder in enumerate(dict.fromkeys(_ladders(plan)))}
    return Layout(sheets, tables, ladders, tuple(_regions(plan, result, sheets, tables)))


def _regions(
    plan: Plan, result: Result, sheets: Mapping[str, LedgerLayout], tables: Mapping[str, TableLayout]
) -> Iterable[RegionLayout]:
    """Yield the record of each block and of the rows of each worksheet, one below the other."""
    start = FIRST
    wanted: list[tuple[str, str, tuple[str, ...], tuple[str, ...], int, int]] = []
    for title, on in sheets.items():
        values, nodes = result.sheets[title].values, plan.sheets[title].nodes
        names, block = tuple(on.columns), tuple(on.block)
        if block:
            wanted.append((title, BLOCK, block, block, 1, BLOCK_HEADER + 1))
        if names:
            fields = {each.name for each in nodes.values() if isinstance(each.how, RowField)}
            marked = _marked(names, values, {name for name in fields if nodes[name].kind.kind == "text"})
            wanted.append((title, ROWS, names, marked, on.last - on.header, on.first))
    for title, at in tables.items():
        if at.sheet == title:
            names, values = (*at.parts, *at.columns, *at.documents), table_values(result.tables[title])
            marked = _marked(names, values, {name for name in names if values[name].data.dtype == object})
            wanted.append((title, ROWS, at.headers, marked, at.last - at.header, at.first))
    for title, kind, names, marked, count, live in wanted:
        yield RegionLayout(title, kind, names, marked, start, count, live)
        start += HEADS + count + 1


def table_values(rows: TableRows) -> dict[str, Values]:
    """Return the values of a table's fields, and the texts of the columns that no field declares."""
    documents = rows.scenario.documents if rows.scenario else {}
    return {**{name: texts(column) for name, column in documents.items()}, **rows.fields}


def _marked(names: Iterable[str], values: Mapping[str, Values], typed: Collection[str]) -> tuple[str, ...]:
    """Return the names on whose columns a formula over a range would fail, or would pass over capitals.

    A typed text may change in its capitals alone, which formulas tell apart and comparisons of ranges do not.
    """
    return tuple(name for name in names if name in typed or not _is_clean(values[name]))


def _is_clean(values: Values) -> bool:
    if values.errors is not None and values.errors.any():
        return False
    if values.data.dtype == np.float64:
        return bool((np.abs(values.data) < _SQUARE).all())
    return values.data.dtype != object or all(isinstance(each, str) and each for each in values.data.tolist())


def _ledger(sheet: PlannedSheet, count: int) -> LedgerLayout:
    """Return a ledger sheet: inputs first in its block, then its table, helper columns right of both."""
    constant = [name for name, node in sheet.nodes.items() if not node.varies]
    # Inputs come first, each part in the order of the declarations.
    constant.sort(key=lambda name: not isinstance(sheet.nodes[name].how, Given))
    block = {name: number for number, name in enumerate(constant, BLOCK_HEADER + 1)}
    varying = (name for name, node in sheet.nodes.items() if node.varies)
    columns = {name: number for number, name in enumerate(varying, 1)}
    above = max(block.values(), default=BLOCK_HEADER - 2) + 1
    header = above + _ABOVE_HEADER + 1 if sheet.axes else 0
    right = max(len(columns), HELPERS + 1) + 2
    printed = (name for name, node in sheet.nodes.items() if _ladder(node))
    helpers = {name: right + HELPERS * i for i, name in enumerate(printed)}
    return LedgerLayout(block, columns, helpers, header, header + 1, header + count)


def _ladder(node: Node) -> Ladder | None:
    """Return the ladder of a printed text, None if it has none, or one without steps."""
    ladder = node.how.ladder if isinstance(node.how, PrintedText) else None
    return ladder if ladder and ladder.steps else None


def _table(table: PlannedTable, rows: TableRows, sheets: Mapping[str, LedgerLayout]) -> TableLayout:
    """Return a table: columns of its ledger sheet, or on its own keys, their parts, fields, documents."""
    if table.sheet:
        on = sheets[table.sheet]
        columns = {field.name: on.columns[field.name] for field in table.fields}
        return TableLayout(table.sheet, 1, {}, columns, {}, on.header, on.first, on.last, ID)
    keys = table.source.key if table.source else ()
    parts = keys if len(keys) > 1 else ()
    declared = {field.column for field in table.typed}
    free = itertools.count(2)
    own_parts = {part: next(free) for part in parts if part not in declared}
    columns = {field.name: next(free) for field in table.fields}
    own = keys[0] if len(keys) == 1 else _KEY
    # The CSV's own header of its keys, unless they are put together or it names a field.
    key = _KEY if own in columns else own
    documents = {name: next(free) for name in _documents(rows, (key, *parts, *columns))}
    header = 2 + _ABOVE_HEADER
    last = header + len(rows.keys)
    return TableLayout(table.name, 1, own_parts, columns, documents, header, header + 1, last, key)


def _documents(rows: TableRows, names: Iterable[str]) -> Iterable[str]:
    """Yield the columns with texts about the rows: numbers that no formula reads say nothing of them."""
    if rows.scenario is None:
        return
    taken = {name.casefold() for name in (*names, *rows.scenario.source.key)}
    for header, cells in rows.scenario.documents.items():
        has_text = any(cell and not NUMBER.fullmatch(cell) for cell in cells)
        fits = header.strip() and header.isprintable() and len(header) <= _LONGEST_HEADER
        if has_text and fits and header.casefold() not in taken:
            taken.add(header.casefold())
            yield header


def _ladders(plan: Plan) -> Iterable[Ladder]:
    """Yield every ladder with steps: of printed texts on ledger sheets, of columns of views, of headings."""
    for sheet in plan.sheets.values():
        yield from filter(None, map(_ladder, sheet.nodes.values()))
    for view in plan.views:
        nodes = plan.sheets[view.sheet].nodes
        for column in view.columns:
            named = (nodes[name].ladder for _, name in column.heading if name)
            yield from (ladder for ladder in (column.ladder, *named) if ladder and ladder.steps)


def sheet_reference(title: str) -> str:
    """Return a sheet's title as a formula writes it."""
    return title if _PLAIN_SHEET.fullmatch(title) else "'" + title.replace("'", "''") + "'"


def cell(column: int, row: int | str) -> str:
    """Return a reference to a cell whose column is fixed: `$B5`, and `$B$5` for a fixed row.

    >>> cell(2, 5)
    '$B$5'
    """
    letters = column_letters(column)
    return f"${letters}${row}" if isinstance(row, int) else f"${letters}{row}"


def span(sheet: str, column: int, first: int, last: int) -> str:
    """Return the absolute reference to rows of a column on a sheet."""
    return f"{sheet_reference(sheet)}!{cell(column, first)}:{cell(column, last)}"
