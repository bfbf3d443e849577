"""The rules of an audit: what holds in a sound workbook, how each is checked, and what a finding is.

Nothing is calculated. A value is called stale where it is not the published one although neither an input nor
a formula that it rests on was changed; that a value should have moved, only an engine can tell.

A rule is one function and its row in RULES: a function of a cell that has a name, of a formula in its place,
or of the whole workbook.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ledger.review.audit.precedents import At, Precedents
from ledger.values import utf16_length
from ledger.xlsx.changes import same_value, text_of
from ledger.xlsx.formulas import (
    Reads,
    Reference,
    beside,
    cell_address,
    column_letters,
    corner,
    reads,
    same_formula,
    shape,
    shifted,
)
from ledger.xlsx.limits import (
    MAX_FORMULA,
    MAX_LIST,
    MAX_TEXT,
    MAX_TITLE,
    REACHING,
    TITLE_FAULTS,
    VOLATILE,
    faults,
    name_fault,
)
from ledger.xlsx.parts import opened
from ledger.xlsx.places import CHECKS, DISPLAY, FIXED_SHEETS, PRINTED, PUBLISHED, VALUE, Places, cell_name
from ledger.xlsx.reading import Reading, Region, id_text, printed, read
from ledger.xlsx.record import BLOCK, ROWS, PrintedCell
from ledger.xlsx.workbook import Cell, CellValue, ErrorValue, shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ledger.xlsx.workbook import Shell, TableObject, Worksheet

#: A number may be wrong or the file unsafe; or a reader should know.
ERROR, WARNING = "error", "warning"
CONSTANT, FORMULA, RANGE, ERROR_VALUE = "constant", "formula", "range", "error value"
GONE, STALE, UNCACHED, KIND, ID = "gone", "stale value", "no value", "kind", "id"
UNKNOWN, LINK, REACH, MACRO, CHANGING = "unknown name", "link", "reaches out", "macro", "volatile"
NAME, TABLE, TITLE, LENGTH, LIST, HIDDEN = "name", "table", "sheet title", "too long", "list", "hidden"

#: The longest text that a finding quotes.
_LONGEST = 120
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9,_ ]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?%?")
_TWICE = re.compile(r"(.*) \([0-9]+\)", re.DOTALL)
_NO_ID = re.compile("row [0-9]+")
# A column of fewer rows has no formula that most of them have.
_FEWEST = 3
_AREA = re.compile("[A-Z]{1,3}[1-9][0-9]*:[A-Z]{1,3}[1-9][0-9]*")
# Excel writes these itself: print areas, filters, functions newer than the reader's version.
_EXCELS_OWN = ("_xlnm.", "_xlfn.", "_xlpm.", "_xleta.")
_PARAMETERS = ("_xlpm.", "_xlnm.")
_NETWORK = ("http://", "https://", "mailto:", "#")
_NOWHERE = Places()
#: The titles of our own hidden sheets begin so.
_OURS = "_"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: by which rule, where in names (as far as there are any) and as an address, and what."""

    rule: str
    sheet: str = ""
    row: str = ""
    column: str = ""
    address: str = ""
    what: str = ""

    @property
    def where(self) -> str:
        """The place, as `explain` takes it."""
        return cell_name(self.sheet, self.row, self.column)


class CheckedCell(NamedTuple):
    """A cell of a name: its formula in names now and as published, None for a constant; its values.

    `type` is str or float where the published column held nothing else, None where no rule can be made of it;
    `is_new` says that the row or the name was not there.
    """

    cell: Cell | None
    formula: str | None
    declared: str | None
    published: CellValue
    type: type | None
    is_new: bool

    @property
    def value(self) -> CellValue:
        """The value that the cell has now, None for an empty one."""
        return None if self.cell is None else self.cell.value


@dataclass(frozen=True, slots=True)
class CheckedFormula:
    """A formula in its place: its sheet and row, what it reads, the titles and names that there are."""

    sheet: str
    row: int
    text: str
    reads: Reads
    places: Mapping[str, Places]
    titles: frozenset[str]
    names: frozenset[str]


@dataclass(slots=True, eq=False)
class CheckedWorkbook:
    """A workbook: its cells by names, what is around them, and which of its cells were changed so far."""

    reading: Reading
    shell: Shell
    precedents: Precedents

    def tables(self) -> Iterator[tuple[Worksheet, TableObject]]:
        """Yield every table with its sheet."""
        for sheet in self.reading.book.sheets.values():
            for table in sheet.tables:
                yield sheet, table


@dataclass(frozen=True, slots=True)
class AuditRule:
    """What a rule finds, how grave it is, what to do about it, and the checks that find it.

    A check of a cell returns what is wrong, an empty text if nothing is; one of a formula yields it; one of
    the workbook yields findings, of another rule too where both are found in one pass.
    """

    severity: str
    meaning: str
    hint: str
    of_cell: Callable[[CheckedCell], str] | None = None
    of_formula: Callable[[CheckedFormula], Iterator[str]] | None = None
    of_workbook: tuple[Callable[[CheckedWorkbook], Iterator[Finding]], ...] = ()


def _quoted(text: str) -> str:
    """Return a text, its beginning if it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _content(cell: Cell | None) -> str:
    """Return what a cell holds, in words."""
    if cell is None or (cell.value is None and cell.formula is None):
        return "is empty"
    return (
        f"holds {_quoted(text_of(cell.value))}" if cell.formula is None else f"holds ={_quoted(cell.formula)}"
    )


# Cells that have names, each compared with what was published and with its column.


def constant(spot: CheckedCell) -> str:
    """Return a constant where the column has a formula, and the formula.

    Every cell of a calculated column holds the column's published formula: a constant there no longer follows
    its inputs.
    """
    if spot.declared is None or spot.formula is not None:
        return ""
    return f"{_content(spot.cell)}, published as ={_quoted(spot.declared)}"


def other_formula(spot: CheckedCell) -> str:
    """Return a formula that is not the published one, and that one.

    Whoever saved the workbook, each formula computes what the report declares: another one gives a number
    that the report does not vouch for.
    """
    if spot.formula is None or (spot.declared is None and spot.is_new):
        return ""
    if spot.declared is None:
        return f"holds ={_quoted(spot.formula)}, published as an input"
    if same_formula(spot.formula, spot.declared):
        return ""
    return f"holds ={_quoted(spot.formula)}, published as ={_quoted(spot.declared)}"


def error_value(spot: CheckedCell) -> str:
    """Return an error value where none was published, and the value that was.

    A cell that had a value has one still: an error spreads to all that read it, and a sum over it is one.
    """
    if not isinstance(spot.value, ErrorValue) or isinstance(spot.published, ErrorValue):
        return ""
    was = text_of(spot.published)
    return f"shows {spot.value}" + (f", published as {_quoted(was)}" if was else "")


def other_kind(spot: CheckedCell) -> str:
    """Return a text among numbers, or a number among texts.

    The inputs of a column are all numbers or all texts: sums pass over a text that looks like a number, and
    lookups do not find it.
    """
    if spot.declared is not None or spot.formula is not None:
        return ""
    value = spot.value
    if spot.type is float and isinstance(value, str) and value:
        plain = unicodedata.normalize("NFKC", value).strip().removeprefix("'")
        looks = "a text that looks like a number" if _NUMBER.fullmatch(plain) else "a text"
        return f"holds {_quoted(value)!r}, {looks}"
    if spot.type is str and isinstance(value, float):
        return f"holds the number {text_of(value)}, published as a text"
    return ""


def named_cells(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield what the rules of a cell find in every region, then the values that changed for no reason.

    A value is as published, or rests on a cell that was changed: otherwise nothing that it reads explains it,
    and it is stale.
    """
    stale: list[tuple[At, Finding]] = []
    for region in book.reading.regions.values():
        yield from _ids(region)
        if set(region.ids) != set(region.recorded.ids()):
            book.precedents.change((region.sheet.title, 0, 0))
        for name in region.names:
            for id_, spot in _checked(book.reading, region, name):
                broken = {rule: what for rule, check in _OF_CELL.items() if (what := check(spot))}
                yield from (_of_cell(rule, region, id_, name, what) for rule, what in broken.items())
                at = (region.sheet.title, *region.place(id_, name))
                if spot.is_new or CONSTANT in broken or FORMULA in broken:
                    book.precedents.change(at)
                elif not _is_published(spot):
                    if spot.formula is None:
                        book.precedents.change(at)
                    elif ERROR_VALUE not in broken:
                        was, now = _quoted(text_of(spot.published)), _quoted(text_of(spot.value))
                        what = f"holds {now}, published as {was}"
                        stale.append((at, _of_cell(STALE, region, id_, name, what)))
    yield from (finding for at, finding in stale if not book.precedents.is_changed(at))


def _checked(reading: Reading, region: Region, name: str) -> Iterator[tuple[str, CheckedCell]]:
    """Yield the cells of a column by the ids of their rows."""
    published, declared = region.recorded.column(name), region.recorded.formulas.get(name)
    # A blank one was published as an error.
    types = {type(value) for value in published.values()} - {ErrorValue, type(None)}
    type_ = types.pop() if len(types) == 1 else None
    for id_ in region.ids:
        cell = region.cell(id_, name)
        formula = reading.formula_of(region, id_, name, cell)
        yield id_, CheckedCell(cell, formula, declared, published.get(id_), type_, id_ not in published)


def _of_cell(rule: str, region: Region, id_: str, name: str, what: str) -> Finding:
    title, address = region.sheet.title, region.address(id_, name)
    return Finding(rule, sheet=title, row=id_, column=name, address=address, what=what)


def _is_published(spot: CheckedCell) -> bool:
    """Whether a cell has its published value, or none that could be compared."""
    live, was = spot.value, spot.published
    if isinstance(was, ErrorValue):
        return isinstance(live, ErrorValue) or live is None
    if live is None:
        return spot.formula is not None or was in {None, ""}
    if isinstance(live, bool):
        live = float(live)
    if isinstance(was, str) and isinstance(live, float):
        live = f"{live:g}"
    return same_value(was, live)


def _ids(region: Region) -> Iterator[Finding]:
    """Yield the rows without an id, and those with the id of another row; case makes no difference.

    Every row of a table has an id of its own: a lookup finds the first of two, and the numbers of the other
    are read by nobody.
    """
    key = region.recorded.names[0]
    if region.kind == BLOCK or key not in region.columns:
        return
    known, seen = set(region.recorded.ids()), dict[str, str]()
    for id_ in region.ids:
        cell = region.cell(id_, key)
        if _NO_ID.fullmatch(id_) and (cell is None or cell.value is None):
            yield _of_cell(ID, region, id_, key, "has no id")
            continue
        again = _TWICE.fullmatch(id_) if id_ not in known else None
        own = again[1] if again else id_
        if cell is not None and cell.value is not None:
            own = id_text(cell.value)
        if (first := seen.setdefault(own.casefold(), id_)) != id_:
            yield _of_cell(ID, region, id_, key, f"has the id of another row: {first!r}")


def gone(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield the sheets, columns and names that were published and are not found.

    Everything that was published is there under its name: of what is not, nothing can be checked.
    """
    reading, lost = book.reading, set[str]()
    for key, recorded in reading.record.regions.items():
        region, title = reading.regions.get(key), recorded.sheet
        if region is not None:
            what = f"the {'name' if recorded.kind == BLOCK else 'column'} is gone"
            for name in recorded.names:
                if name not in region.columns:
                    yield Finding(GONE, sheet=title, column=name, what=what)
        elif title in reading.book.sheets:
            where = "block of names" if recorded.kind == BLOCK else "table"
            yield Finding(GONE, sheet=title, what=f"its {where} is not there")
        elif title not in lost:
            lost.add(title)
            yield Finding(GONE, sheet=title, what="the sheet is gone")
    if reading.record.printed and PRINTED not in reading.book.sheets:
        yield Finding(GONE, sheet=PRINTED, what="the sheet is gone")


# Printed texts, and columns without a record.


def printed_texts(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield printed cells and helpers that are no formulas or look another row up, errors, and stale texts.

    Every text on `Printed` is a formula, and so is every helper that it reads: a text typed over one is that
    of a number that may have changed since.  A text that changed with an input is none of these.
    """
    sheet = book.reading.book.sheets.get(PRINTED)
    if sheet is None:
        return
    views: dict[tuple[str, str, int], list[tuple[PrintedCell, set[int]]]] = {}
    seen: set[tuple[int, int]] = set()
    for published, cell in printed(book.reading):
        column, row = corner(published.address)
        helpers = [] if cell is None or cell.formula is None else list(_helpers(sheet, row, column))
        own = list(_printed_cell(published, cell))
        broken = [*own, *_broken_helpers(published, helpers, seen)]
        seen.update([(row, column)] if own else [])
        yield from broken
        if not broken and cell is not None and cell.value is not None:
            yield from _stale_text(published, text_of(cell.value), book.precedents)
        columns = {place for number, place, _, _ in helpers if number == row}
        views.setdefault((published.view, published.column, column), []).append((published, columns))
    for (_, _, column), cells in views.items():
        yield from _unlike_printed(sheet, column, cells, seen)


def _of_printed(rule: str, published: PrintedCell, address: str, what: str) -> Finding:
    view, row, column = published.view, published.row, published.column
    return Finding(rule, sheet=view, row=row, column=column, address=f"{PRINTED}!{address}", what=what)


def _printed_cell(published: PrintedCell, cell: Cell | None) -> Iterator[Finding]:
    """Yield what is wrong with the cell itself: no formula, one that reads nothing, an error."""
    address = published.address
    if cell is None or cell.formula is None:
        yield _of_printed(CONSTANT, published, address, f"{_content(cell)}, published as a formula")
    elif not any(beside(cell.formula)) and not reads(cell.formula).references:
        yield _of_printed(CONSTANT, published, address, f"{_content(cell)}, which reads nothing")
    elif isinstance(cell.value, ErrorValue) and str(cell.value) != published.text:
        what = f"shows {cell.value}, published as {_quoted(published.text)}"
        yield _of_printed(ERROR_VALUE, published, address, what)


def _stale_text(published: PrintedCell, text: str, precedents: Precedents) -> Iterator[Finding]:
    column, row = corner(published.address)
    if text != published.text and not precedents.is_changed((PRINTED, row, column)):
        what = f"shows {_quoted(text)}, published as {_quoted(published.text)}"
        yield _of_printed(STALE, published, published.address, what)


#: A helper by its row and column, its cell, and whether it is looked up as the id of a row.
Helper = tuple[int, int, "Cell | None", bool]


def _helpers(sheet: Worksheet, row: int, column: int) -> Iterator[Helper]:
    """Yield every cell of the sheet that a cell reads, one through the other."""
    waiting, met = [(row, column)], {(row, column)}
    while waiting:
        cell = sheet.cell(*waiting.pop())
        formula = (cell.formula if cell else None) or ""
        for place in beside(formula):
            if place not in met:
                met.add(place)
                waiting.append(place)
                yield *place, sheet.cell(*place), formula.startswith("MATCH(")


def _broken_helpers(
    published: PrintedCell, helpers: Sequence[Helper], seen: set[tuple[int, int]]
) -> Iterator[Finding]:
    """Yield helpers that are no formula, and those that look another row up; note them as seen."""
    for row, column, cell, is_id in helpers:
        if (row, column) in seen or (cell is not None and cell.formula is not None):
            continue
        seen.add((row, column))
        address = f"{column_letters(column)}{row}"
        if not is_id or cell is None or not isinstance(cell.value, str):
            yield _of_printed(CONSTANT, published, address, f"{_content(cell)}, published as a formula")
        elif published.row and cell.value != published.row:
            what = f"looks up {cell.value!r}, published for {published.row!r}"
            yield _of_printed(ID, published, address, what)


def _unlike_printed(
    sheet: Worksheet, column: int, cells: Sequence[tuple[PrintedCell, set[int]]], seen: set[tuple[int, int]]
) -> Iterator[Finding]:
    """Yield the cells of a view's column, and of its helpers, whose formulas are not like most of them."""
    rows = {corner(published.address)[1]: published for published, _ in cells}
    for place in sorted({column}.union(*(columns for _, columns in cells))):
        for rule, row, what in _unlike(sheet, list(rows), place):
            if rule != CONSTANT and (row, place) not in seen:
                seen.add((row, place))
                yield _of_printed(rule, rows[row], f"{column_letters(place)}{row}", what)


def unlike_cells(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield the odd cells of columns that were not published: helpers, and what a reader has added.

    The formulas of a column differ in their own row only: the one that differs is what somebody typed into
    it.
    """
    for (title, kind), region in book.reading.regions.items():
        if kind != ROWS:
            continue
        ids = {row: id_ for id_, row in region.rows.items()}
        rows = list(ids)
        names = {column: name for name, column in region.columns.items()}
        recorded = {region.columns[name] for name in region.names if name in region.recorded.values}
        for column in sorted({each for row in rows for each in region.sheet.rows.get(row, ())} - recorded):
            for rule, row, what in _unlike(region.sheet, rows, column):
                address, name = cell_address(title, row, column), names.get(column, "")
                yield Finding(rule, sheet=title, row=ids[row], column=name, address=address, what=what)


def _unlike(sheet: Worksheet, rows: Sequence[int], column: int) -> Iterator[tuple[str, int, str]]:
    """Yield each cell of some rows of a column that is not as most are: the rule, its row, what it holds."""
    cells = {row: sheet.cell(row, column) for row in rows}
    formulas = {row: cell.formula for row, cell in cells.items() if cell and cell.formula is not None}
    shapes = {row: shape(formula, row) for row, formula in formulas.items()}
    if len(rows) < _FEWEST or not shapes:
        return
    ((usual, count),) = Counter(shapes.values()).most_common(1)
    if count * 2 <= len(rows):
        return
    first = next(row for row in shapes if shapes[row] == usual)
    like = f"its column is like {column_letters(column)}{first}, ={_quoted(formulas[first])}"
    for row, cell in cells.items():
        if shapes.get(row) != usual:
            yield FORMULA if row in shapes else CONSTANT, row, f"{_content(cell)}; {like}"


def between_formulas(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield the constants between two formulas of a column, on sheets that have no record.

    A column of formulas has no constant among them.  Our own checks differ from row to row; on a reader's
    sheet the two formulas must be alike.
    """
    skipped = {*book.reading.places, PRINTED}
    for title, sheet in book.reading.book.sheets.items():
        if title in skipped or title.startswith(_OURS):
            continue
        for row, column, cell in sheet.cells():
            if cell.formula is None and cell.value is not None:
                above, below = (sheet.formula(number, column) for number in (row - 1, row + 1))
                if above and below and (title in FIXED_SHEETS or shifted(above, 2, 0) == below):
                    what = f"{_content(cell)} between two formulas"
                    yield Finding(CONSTANT, sheet=title, address=cell_address(title, row, column), what=what)


# What formulas read; once for each shape of a column.


def formulas(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield what the rules of a formula find in every one, and the formulas that have no value.

    Each formula has the value that a spreadsheet computed of it: without, whatever does not calculate, such
    as a preview, shows an empty cell.
    """
    places, workbook = book.reading.places, book.reading.book
    titles = frozenset(title.casefold() for title in workbook.sheets)
    tables = (table.name for _, table in book.tables())
    names = frozenset(each.casefold() for each in (*dict(workbook.names), *tables, "TRUE", "FALSE"))
    known: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for title, row, column, cell in workbook.cells():
        if cell.formula is None:
            continue
        key = title, shape(cell.formula, row)
        if key not in known:
            spot = CheckedFormula(title, row, cell.formula, reads(cell.formula), places, titles, names)
            known[key] = [(rule, what) for rule, check in _OF_FORMULA.items() for what in check(spot)]
        found = known[key]
        if cell.value is None and title != PUBLISHED:
            found = [*found, (UNCACHED, "no value")]
        for rule, what in found:
            id_, name = places.get(title, _NOWHERE).names(row, column)
            address = cell_address(title, row, column)
            yield Finding(rule, sheet=title, row=id_, column=name, address=address, what=what)


def short_range(spot: CheckedFormula) -> Iterator[str]:
    """Yield ranges that start late or end early in a column of a table.

    A range over a column of a table has all its rows: a sum passes over those that it leaves out.  Our own
    records and checks are left alone, for they compare the rows that were published.
    """
    if spot.sheet in {PUBLISHED, DISPLAY, CHECKS}:
        return
    for each in spot.reads.references:
        title = each.sheet or spot.sheet
        on = spot.places.get(title, _NOWHERE)
        if missing := _missing_rows(on, each, spot.row if title == spot.sheet else 0):
            columns = dict.fromkeys(on.columns.get(i, "") for i in (each.column, each.last_column))
            yield f"{_range_text(each)} leaves out {missing} of {title}/{' to '.join(columns)}"


def _missing_rows(on: Places, each: Reference, row: int) -> str:
    """Return which rows of a table a range leaves out; a running total from its own row is meant so."""
    is_running = each.row_moves and on.first <= row <= on.last
    is_beside = each.last_row < on.first or each.row > on.last
    if each.is_cell or is_running or is_beside or not {each.column, each.last_column} <= on.columns.keys():
        return ""
    before, after = range(on.first, each.row), range(each.last_row + 1, on.last + 1)
    parts = [f"{part[0]}" if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in (before, after) if part]
    return f"row{'s' if len(before) + len(after) > 1 else ''} {' and '.join(parts)}" if parts else ""


def _range_text(each: Reference) -> str:
    """Return a range as an address."""
    start = f"{column_letters(each.column)}{each.row}"
    end = f"{column_letters(each.last_column)}{each.last_row}"
    return f"{each.sheet}!{start}:{end}" if each.sheet else f"{start}:{end}"


def unknown(spot: CheckedFormula) -> Iterator[str]:
    """Yield references that were lost, and names and sheets that are not there.

    All that a formula reads is there: else it is an error as soon as it is computed again, whatever value is
    kept beside it.
    """
    if "#REF!" in spot.reads.errors:
        yield "reads #REF!, a cell that was deleted"
        return
    if spot.reads.links or spot.reads.exchanges:
        return
    for title in dict.fromkeys(each.sheet for each in spot.reads.references):
        if title and title.casefold() not in spot.titles:
            yield f"reads the sheet {title!r}, which is not there"
    for name in dict.fromkeys(spot.reads.names):
        plain = name.rpartition("!")[2].partition("[")[0].casefold()
        if plain not in spot.names and not plain.startswith(_PARAMETERS):
            yield f"reads the name {name!r}, which is not there"


def link(spot: CheckedFormula) -> Iterator[str]:
    """Yield other files that are read.

    A workbook holds all that its numbers rest on: what another file holds was read by nobody who checked
    this.
    """
    for each in dict.fromkeys(spot.reads.links):
        yield f"reads {_quoted(each)}"


def reach(spot: CheckedFormula) -> Iterator[str]:
    """Yield functions that reach for the network or for another program, and links to files.

    No formula sends or fetches anything: to open the workbook must not tell anybody, nor run a program.
    """
    yield from (f"calls {each}" for each in dict.fromkeys(spot.reads.functions) if each in REACHING)
    yield from (f"starts {_quoted(each)}" for each in spot.reads.exchanges)
    yield from (f"leads to {_quoted(each)}" for each in spot.reads.targets if not each.startswith("#"))


def changing(spot: CheckedFormula) -> Iterator[str]:
    """Yield functions that give another value each time, or whose precedents nobody sees.

    The same inputs give the same values on every day and in every program, or no value could be compared with
    the published one.
    """
    yield from (f"calls {each}" for each in dict.fromkeys(spot.reads.functions) if each in VOLATILE)


def long_formula(spot: CheckedFormula) -> Iterator[str]:
    """Yield the length of a formula that is longer than Excel reads.

    Every formula is one that Excel opens: a longer one makes it repair the file, which leaves the formula
    out.
    """
    if len(spot.text) > MAX_FORMULA:
        yield f"holds a formula of {len(spot.text):,} characters, at most {MAX_FORMULA:,}"


# The workbook itself: what Excel would refuse or repair, what can run, what is hidden.


def names(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield names and table names that cannot be, and those that are there twice without case.

    Each name leads to one place in every spreadsheet: Excel renames or drops one that it cannot read, and the
    formulas that read it are errors.
    """
    seen: dict[tuple[str, str], str] = {}
    own = [each for each in book.shell.names if not each.name.startswith(_EXCELS_OWN)]
    found = [("", each.name, each.scope) for each in own]
    found += [(sheet.title, table.name, "") for sheet, table in book.tables()]
    for sheet, name, scope in found:
        what = f"table {name!r}" if sheet else f"name {name!r}"
        if fault := name_fault(name):
            yield Finding(NAME, sheet=sheet, what=f"{_quoted(what)} {fault}")
        if (before := seen.setdefault((name.casefold(), scope), what)) is not what:
            yield Finding(NAME, sheet=sheet, what=f"{_quoted(what)} is there already: {_quoted(before)}")


def lost_names(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield names for a deleted cell.

    Each name stands for a cell that is there: every formula that reads another is an error.
    """
    for each in book.shell.names:
        # A broken name of the spreadsheet's own, such as an area to print, is of no number.
        if "#REF!" in reads(each.text).errors and not each.name.startswith(_EXCELS_OWN):
            yield Finding(UNKNOWN, what=f"name {each.name!r} stands for #REF!, a cell that was deleted")


def tables(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield tables whose headers are blank, twice there, no text or not their columns' names; overlaps.

    A table has its own cells, and headers that are its columns' names: Excel repairs any other, and a
    structured reference then leads to another column or to none.
    """
    found = [(sheet, table) for sheet, table in book.tables() if _AREA.fullmatch(table.area)]
    for sheet, table in book.tables():
        if (sheet, table) not in found:
            yield Finding(TABLE, sheet=sheet.title, what=f"table {table.name!r} has no range: {table.area!r}")
    headless = {name for sheet in book.shell.sheets for name in sheet.headless}
    for sheet, table in found:
        for address, what in _headers(sheet, table, has_row=table.name not in headless):
            yield Finding(TABLE, sheet=sheet.title, address=address, what=f"table {table.name!r}: {what}")
    for (sheet, one), (other_sheet, other) in combinations(found, 2):
        if sheet is other_sheet and _overlap(one.area, other.area):
            address = f"{sheet.title}!{other.area}"
            what = f"tables {one.name!r} ({one.area}) and {other.name!r} ({other.area}) overlap"
            yield Finding(TABLE, sheet=sheet.title, address=address, what=what)


def _headers(sheet: Worksheet, table: TableObject, *, has_row: bool) -> Iterator[tuple[str, str]]:
    """Yield the address of each header of a table that Excel would repair, and what is wrong with it."""
    column, row = corner(table.area.partition(":")[0])
    seen: set[str] = set()
    for number, header in enumerate(table.headers, column):
        cell, address = sheet.value(row, number), cell_address(sheet.title, row, number)
        if not header.strip():
            yield address, "a header is blank"
        elif header.casefold() in seen:
            yield address, f"header {_quoted(header)!r} is there twice"
        elif has_row and not isinstance(cell, str):
            yield address, f"the header cell of {_quoted(header)!r} holds no text"
        elif has_row and cell != header:
            yield address, f"the header cell holds {_quoted(str(cell))!r}, the table has {_quoted(header)!r}"
        seen.add(header.casefold())


def _overlap(one: str, other: str) -> bool:
    (a, b), (c, d) = (map(corner, area.split(":")) for area in (one, other))
    return a[0] <= d[0] and c[0] <= b[0] and a[1] <= d[1] and c[1] <= b[1]


def titles(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield sheet titles that cannot be, or are there twice.

    Each title is one that Excel takes: it renames a sheet of another, and what reads the sheet by its title,
    as a macro or another workbook does, finds nothing.
    """
    for title, fault in faults((each.title for each in book.shell.sheets), TITLE_FAULTS, MAX_TITLE):
        yield Finding(TITLE, sheet=title, what=fault)


def long_texts(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield texts that are longer than Excel keeps.

    Every text is kept whole: Excel cuts off what is longer, without a word.
    """
    for title, row, column, cell in book.reading.book.cells():
        # Few texts are so long that they could be, and only these are counted in UTF-16 units.
        if isinstance(cell.value, str) and len(cell.value) * 2 > MAX_TEXT:
            length = utf16_length(cell.value)
            if length > MAX_TEXT:
                what = f"holds a text of {length:,} characters, at most {MAX_TEXT:,}"
                yield Finding(LENGTH, sheet=title, address=cell_address(title, row, column), what=what)


def long_lists(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield drop-downs that list more text than Excel takes.

    Every drop-down is one that Excel opens: a longer list makes it repair the file, which leaves out what was
    checked about the input.
    """
    for sheet in book.shell.sheets:
        for place, formula in sheet.lists:
            if formula.startswith('"') and (length := utf16_length(formula) - 2) > MAX_LIST:
                what = f"its drop-down lists {length} characters, at most {MAX_LIST}"
                yield Finding(LIST, sheet=sheet.title, address=f"{sheet.title}!{place}", what=what)


def short_lists(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield drop-downs that leave out rows of the table that they list.

    A drop-down offers every row of its table: what it leaves out, nobody can choose.
    """
    for sheet in book.shell.sheets:
        for place, formula in sheet.lists:
            for each in reads(formula).references:
                on = book.reading.places.get(each.sheet or sheet.title, _NOWHERE)
                if missing := _missing_rows(on, each, 0):
                    what = f"its drop-down lists {_range_text(each)} and leaves out {missing}"
                    yield Finding(RANGE, sheet=sheet.title, address=f"{sheet.title}!{place}", what=what)


def links(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield names, other workbooks, files and data that the workbook is linked to; a web page is only a link.

    A workbook holds all that its numbers rest on; a program that opens it asks for nothing else.
    """
    for name in book.shell.names:
        for each in reads(name.text).links:
            yield Finding(LINK, what=f"name {name.name!r} reads {_quoted(each)}")
    for target in book.reading.book.links:
        yield Finding(LINK, what=f"is linked to {_quoted(target)}")
    for connection in book.shell.connections:
        yield Finding(LINK, what=f"has the data connection {_quoted(connection)!r}")
    for sheet in book.shell.sheets:
        for target in dict.fromkeys(sheet.links):
            if not target.lower().startswith(_NETWORK):
                yield Finding(LINK, sheet=sheet.title, what=f"links to the file {_quoted(target)}")


def macros(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield the parts that a spreadsheet could run.

    A workbook of ours holds cells and charts only: a program in it can do anything that its reader can.
    """
    for part in book.reading.book.macros:
        yield Finding(MACRO, what=f"holds {part}")


def hidden(book: CheckedWorkbook) -> Iterator[Finding]:
    """Yield hidden sheets, rows and named columns; helper columns are hidden from the start.

    What was published in sight is in sight: a reader must see each row that a sum adds.
    """
    for sheet in book.shell.sheets:
        title, on = sheet.title, book.reading.places.get(sheet.title, _NOWHERE)
        if sheet.state != "visible" and not title.startswith(_OURS):
            yield Finding(HIDDEN, sheet=title, what="the sheet is hidden")
        for row in sheet.rows:
            if row in on.ids or row in on.block:
                id_, name, what = on.ids.get(row, ""), on.block.get(row, ""), f"row {row} is hidden"
                address = cell_address(title, row, 1)
                yield Finding(HIDDEN, sheet=title, row=id_, column=name, address=address, what=what)
        named = {**dict.fromkeys(range(1, VALUE + 1 if on.block else 1), ""), **on.columns}
        for column in sorted({column for a, b in sheet.columns for column in named if a <= column <= b}):
            address, what = cell_address(title, 1, column), f"column {column_letters(column)} is hidden"
            yield Finding(HIDDEN, sheet=title, column=named[column], address=address, what=what)


#: Every rule, in the order in which findings are listed.
RULES: Mapping[str, AuditRule] = {
    GONE: AuditRule(
        ERROR,
        "what was published is not there, and nothing of it is checked",
        "put it back under its name, or build the workbook again",
        of_workbook=(gone,),
    ),
    CONSTANT: AuditRule(
        ERROR,
        "a constant stands where a formula was published",
        "put the formula back, or make it an input of the report",
        constant,
        of_workbook=(printed_texts, unlike_cells, between_formulas),
    ),
    FORMULA: AuditRule(
        ERROR,
        "a formula is not the one of its column",
        "copy the column's formula into the cell, or change the report",
        other_formula,
    ),
    RANGE: AuditRule(
        ERROR,
        "a range leaves out rows of its table",
        "let it reach from the first row to the last",
        of_formula=short_range,
        of_workbook=(short_lists,),
    ),
    ERROR_VALUE: AuditRule(
        ERROR, "an error value where none was published", "follow what its formula reads", error_value
    ),
    STALE: AuditRule(
        ERROR, "a value changed although nothing that it reads did", "recalculate the workbook and save it"
    ),
    UNCACHED: AuditRule(
        WARNING,
        "a formula has no value: what does not calculate shows nothing",
        "open it in a spreadsheet and save it",
    ),
    KIND: AuditRule(
        ERROR,
        "a text in a column of numbers, or a number in a column of texts",
        "type it again: lookups and sums pass over it",
        other_kind,
    ),
    ID: AuditRule(
        ERROR, "a row has no id, or that of another row", "a lookup finds the first: give each its own"
    ),
    UNKNOWN: AuditRule(
        ERROR,
        "a formula reads what is not there",
        "put back what was deleted or renamed",
        of_formula=unknown,
        of_workbook=(lost_names,),
    ),
    LINK: AuditRule(
        ERROR,
        "it reads another file",
        "put the number in as an input with its source",
        of_formula=link,
        of_workbook=(links,),
    ),
    REACH: AuditRule(
        ERROR,
        "a formula reaches out of the workbook",
        "do not recalculate it; delete the formula",
        of_formula=reach,
    ),
    MACRO: AuditRule(
        ERROR, "a part of it can run", "do not enable it; ask for a workbook without", of_workbook=(macros,)
    ),
    CHANGING: AuditRule(
        WARNING,
        "a function gives another value at every calculation, or hides what it reads",
        "write the value, or a plain reference",
        of_formula=changing,
    ),
    NAME: AuditRule(ERROR, "a name that Excel refuses or repairs", "rename it", of_workbook=(names,)),
    TABLE: AuditRule(
        ERROR,
        "a table that Excel refuses or repairs",
        "repair its header, its name or its range",
        of_workbook=(tables,),
    ),
    TITLE: AuditRule(
        ERROR, "a sheet title that Excel refuses or repairs", "rename the sheet", of_workbook=(titles,)
    ),
    LENGTH: AuditRule(
        ERROR,
        "a text or a formula longer than Excel keeps",
        "shorten it",
        of_formula=long_formula,
        of_workbook=(long_texts,),
    ),
    LIST: AuditRule(
        ERROR, "a drop-down list that Excel refuses", "let it name a range", of_workbook=(long_lists,)
    ),
    HIDDEN: AuditRule(
        WARNING, "something is hidden that was published in sight", "show it", of_workbook=(hidden,)
    ),
}
_OF_CELL = {name: rule.of_cell for name, rule in RULES.items() if rule.of_cell}
_OF_FORMULA = {name: rule.of_formula for name, rule in RULES.items() if rule.of_formula}


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit found: in which workbook, of which report, how many formulas it read."""

    name: str
    report: str
    formulas: int
    findings: tuple[Finding, ...]


def audit(name: str, data: bytes) -> Audited:
    """Return every finding in the workbook `data`, by rule and in its order; a LedgerError if it is none.

    Cells that have names come first: which of them were changed tells what else is stale.
    """
    reading = read(name, data)
    book = CheckedWorkbook(reading, shell(opened(name, data)), Precedents(reading.book))
    found = [*named_cells(book), *formulas(book)]
    found += (each for rule in RULES.values() for check in rule.of_workbook for each in check(book))
    # A formula with a short range is not that of its column: it is listed once.
    short = {each.address for each in found if each.rule == RANGE}
    found = [each for each in found if each.rule != FORMULA or each.address not in short]
    order = list(RULES)
    found.sort(key=lambda each: order.index(each.rule))
    count = sum(cell.formula is not None for *_, cell in reading.book.cells())
    return Audited(name, reading.record.report, count, tuple(found))
