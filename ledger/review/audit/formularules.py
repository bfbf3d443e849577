"""Rules on what formulas read: ranges, names, other files, functions; once for each shape of a column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.review.audit.cellrules import quoted
from ledger.review.audit.rules import LENGTH, LINK, RANGE, REACH, UNCACHED, UNKNOWN, VOLATILE, Finding
from ledger.xlsx.formulas import Reads, Reference, column_letters, reads, shape
from ledger.xlsx.places import CHECKS, DISPLAY, PUBLISHED, VALUE, Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ledger.xlsx.reading import Reading

#: They may compare rows that were published, whatever came since.
_AS_PUBLISHED = (PUBLISHED, DISPLAY, CHECKS)
_VOLATILE = {"NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT", "CELL", "INFO"}
_REACHING = {
    *("WEBSERVICE", "IMAGE", "RTD", "DDE", "CALL", "REGISTER.ID", "EXEC", "SQL.REQUEST", "STOCKHISTORY"),
    *("IMPORTDATA", "IMPORTFEED", "IMPORTHTML", "IMPORTRANGE", "IMPORTXML"),
}
_TRUTHS = {"true", "false"}
_INSIDE = ("#", '"#')
_OWN_NAMES = ("_xlpm.", "_xlnm.")
_LONGEST = 8192
_NOWHERE = Places()


@dataclass(frozen=True, slots=True)
class Around:
    """A formula with what it stands in: its sheet and row, what it reads, the names that there are."""

    sheet: str
    row: int
    reads: Reads
    places: Mapping[str, Places]
    titles: frozenset[str]
    names: frozenset[str]


def short_range(at: Around) -> Iterator[str]:
    """Tell ranges that start late or end early in a column of a table."""
    if at.sheet in _AS_PUBLISHED:
        return
    for each in at.reads.references:
        title = each.sheet or at.sheet
        on = at.places.get(title, _NOWHERE)
        if not each.is_cell and (missing := missing_rows(on, each, at.row if title == at.sheet else 0)):
            columns = dict.fromkeys(on.columns.get(i, "") for i in (each.column, each.last_column))
            yield f"{range_text(each)} leaves out {missing} of {title}/{' to '.join(columns)}"


def missing_rows(on: Places, each: Reference, row: int) -> str:
    """Return which rows of a table a range leaves out; a running total from its own row is meant so."""
    is_running = each.row_moves and on.first <= row <= on.last
    if not on.columns or is_running or each.column not in on.columns or each.last_column not in on.columns:
        return ""
    if each.last_row < on.first or each.row > on.last or (each.row <= on.first and each.last_row >= on.last):
        return ""
    before = range(on.first, each.row)
    after = range(each.last_row + 1, on.last + 1)
    parts = [f"{part[0]}" if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in (before, after) if part]
    return f"row{'s' if len(before) + len(after) > 1 else ''} {' and '.join(parts)}"


def range_text(each: Reference) -> str:
    """Return a range as an address."""
    start = f"{column_letters(each.column)}{each.row}"
    end = f"{column_letters(each.last_column)}{each.last_row}"
    return f"{each.sheet}!{start}:{end}" if each.sheet else f"{start}:{end}"


def unknown(at: Around) -> Iterator[str]:
    """Tell references that were lost, and names and sheets that are not there."""
    if "#REF!" in at.reads.errors:
        yield "reads #REF!, a cell that was deleted"
        return
    if at.reads.links or at.reads.exchanges:
        return
    for title in dict.fromkeys(each.sheet for each in at.reads.references):
        if title and title.casefold() not in at.titles:
            yield f"reads the sheet {title!r}, which is not there"
    for name in dict.fromkeys(at.reads.names):
        plain = name.rpartition("!")[2].partition("[")[0].casefold()
        if plain not in at.names and not plain.startswith(_OWN_NAMES):
            yield f"reads the name {name!r}, which is not there"


def link(at: Around) -> Iterator[str]:
    """Tell other files that are read."""
    for each in dict.fromkeys(at.reads.links):
        yield f"reads {quoted(each)}"


def reach(at: Around) -> Iterator[str]:
    """Tell functions that reach for the network or for another program."""
    for each in dict.fromkeys(at.reads.functions):
        if each in _REACHING:
            yield f"calls {each}"
    for each in at.reads.exchanges:
        yield f"starts {quoted(each)}"
    for each in at.reads.targets:
        if not each.startswith(_INSIDE):
            target = each.removeprefix('"')
            yield f"leads to {quoted(target)}"


def volatile(at: Around) -> Iterator[str]:
    """Tell functions that give another value each time, or whose precedents nobody sees."""
    for each in dict.fromkeys(at.reads.functions):
        if each in _VOLATILE:
            yield f"calls {each}"


#: The rules on one formula: each tells what is wrong with it.
FORMULA_RULES: Mapping[str, Callable[[Around], Iterator[str]]] = {
    RANGE: short_range,
    UNKNOWN: unknown,
    LINK: link,
    REACH: reach,
    VOLATILE: volatile,
}


@dataclass(slots=True, eq=False)
class Formulas:
    """All formulas of a workbook; what was told of a shape is told of each of its cells."""

    reading: Reading
    titles: frozenset[str]
    names: frozenset[str]
    told: dict[tuple[str, str], tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def findings(self) -> Iterator[Finding]:
        """Yield what the rules find in every formula, and the formulas that have no value."""
        for title, sheet in self.reading.book.sheets.items():
            for row, cells in sheet.rows.items():
                for column, cell in cells.items():
                    if cell.formula is None:
                        continue
                    for rule, what in self._told(title, row, cell.formula):
                        yield self._finding(rule, title, row, column, what)
                    if cell.value is None and title != PUBLISHED:
                        yield self._finding(UNCACHED, title, row, column, "no value")

    def _told(self, title: str, row: int, formula: str) -> tuple[tuple[str, str], ...]:
        key = title, shape(formula, row)
        if key not in self.told:
            at = Around(title, row, reads(formula), self.reading.places, self.titles, self.names)
            found = [(rule, what) for rule, tell in FORMULA_RULES.items() for what in tell(at)]
            if len(formula) > _LONGEST:
                found.append(
                    (LENGTH, f"holds a formula of {len(formula):,} characters, at most {_LONGEST:,}")
                )
            self.told[key] = tuple(found)
        return self.told[key]

    def _finding(self, rule: str, title: str, row: int, column: int, what: str) -> Finding:
        on = self.reading.places.get(title, _NOWHERE)
        in_block = row in on.block and column == VALUE
        id_ = "" if in_block else on.ids.get(row, "")
        name = on.block[row] if in_block else on.columns.get(column, "") if id_ else ""
        return Finding(rule, title, id_, name, f"{title}!{column_letters(column)}{row}", what)


def formula_findings(reading: Reading) -> Iterator[Finding]:
    """Yield what is wrong with what formulas read."""
    book = reading.book
    titles = frozenset(title.casefold() for title in book.sheets)
    names = {name.casefold() for name, _ in book.names} | _TRUTHS
    names |= {table.name.casefold() for sheet in book.sheets.values() for table in sheet.tables}
    yield from Formulas(reading, titles, frozenset(names)).findings()
