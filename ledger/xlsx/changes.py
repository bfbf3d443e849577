"""What differs between two workbooks of ours: rows by id, columns by name, at whatever address they are.

Structure, formulas, values and printed texts are separate: a formula may change and its value not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.values import number_text
from ledger.xlsx.formulas import same_formula
from ledger.xlsx.places import PRINTED, cell_name
from ledger.xlsx.reading import Reading, Region, printed
from ledger.xlsx.record import BLOCK
from ledger.xlsx.workbook import Cell, CellValue, ErrorValue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence


STRUCTURE, FORMULA, VALUE, DISPLAY = "structure", "formula", "value", "display"
#: What became of a line of a table.
GONE, NEW, REORDERED = "gone", "new", "in another order"
SECTIONS = (STRUCTURE, FORMULA, VALUE, DISPLAY)
#: Numbers are the same within this, relative to the larger; whole numbers up to 15 digits must be equal.
TOLERANCE = 1e-12
_EXACT = 1e15
_UNNAMED = {"#NUM!", "#VALUE!"}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: in which section, on which sheet, in which row (empty for all) and column.

    `rows` says how many rows of the column it is true of.
    """

    section: str
    sheet: str
    row: str
    column: str
    old: str
    new: str
    rows: int = 1

    @property
    def where(self) -> str:
        """The place, as `explain` takes it."""
        return cell_name(self.sheet, self.row, self.column)


def changes(old: Reading, new: Reading, tolerance: float = TOLERANCE) -> tuple[Change, ...]:
    """Return every difference, by section and in the order of the workbook."""
    found = [*_structure(old, new)]
    for key, region in new.regions.items():
        if key in old.regions:
            found += _region(old, old.regions[key], new, region, tolerance)
    found += _printed(old, new)
    return tuple(change for section in SECTIONS for change in found if change.section == section)


def same_value(old: CellValue, new: CellValue, tolerance: float = TOLERANCE) -> bool:
    """Whether two values are the same; an empty cell is an empty text, and some errors have two names."""
    match old, new:
        case float(), float():
            if old.is_integer() and new.is_integer() and max(abs(old), abs(new)) < _EXACT:
                return old == new
            return math.isclose(old, new, rel_tol=tolerance)
        case ErrorValue(a), ErrorValue(b):
            return a == b or {a, b} <= _UNNAMED
        case (None, "") | ("", None):
            return True
    return type(old) is type(new) and old == new


def uncomputed(reading: Reading) -> int:
    """Return how many formulas have no value: a program saved them that does not compute."""
    return sum(
        cell.formula is not None and cell.value is None
        for title in (*reading.places, PRINTED)
        if title in reading.book.sheets
        for *_, cell in reading.book.sheets[title].cells()
    )


def text_of(value: CellValue) -> str:
    """Return a value as text: a number with all its digits, an empty text for an empty cell."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float():
            return number_text(value)
    return str(value)


def _structure(old: Reading, new: Reading) -> Iterator[Change]:
    """Yield sheets, regions, columns, rows and views that came or went, or are in another order."""
    for title, was, is_ in _lines("sheet", old.book.sheets, new.book.sheets):
        if title:
            yield Change(STRUCTURE, title, "", "", was, is_)
    for key, region in old.regions.items():
        if key not in new.regions and region.sheet.title in new.book.sheets:
            yield Change(STRUCTURE, region.sheet.title, "", "", region.kind, GONE)
    for key, region in new.regions.items():
        if key in old.regions:
            title, word = region.sheet.title, "name" if region.kind == BLOCK else "column"
            for name, was, is_ in _lines(word, old.regions[key].names, region.names):
                yield Change(STRUCTURE, title, "", name, was, is_)
            for id_, was, is_ in _lines("row", old.regions[key].ids, region.ids):
                yield Change(STRUCTURE, title, id_, "", was, is_)
    yield from _views(_printed_columns(old), _printed_columns(new))


def _views(old: Mapping[str, Collection[str]], new: Mapping[str, Collection[str]]) -> Iterator[Change]:
    """Yield views and columns of views that came or went; their rows are rows of a worksheet."""
    for view, was, is_ in _lines("view", old, new):
        if view:
            yield Change(STRUCTURE, PRINTED, view, "", was, is_)
    for view in new:
        for column, was, is_ in _lines("column", old[view], new[view]) if view in old else ():
            if column:
                yield Change(STRUCTURE, PRINTED, view, column, was, is_)


def _printed_columns(reading: Reading) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = {}
    for each in reading.record.printed:
        found.setdefault(each.view, {})[each.column] = None
    return found


def _lines(word: str, before: Collection[str], now: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each row, column or sheet that came or went, and how both workbooks are described there.

    The empty name is that of all, where those that stayed are in another order.
    """
    texts = {GONE: (word, GONE), NEW: ("", f"a new {word}"), REORDERED: (f"{word}s", REORDERED)}
    for each, change in moves(before, now):
        yield each, *texts[change]


def moves(before: Collection[str], now: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that went or came, and the empty name if those that stayed are in another order."""
    was, is_ = set(before), set(now)
    yield from ((each, GONE) for each in before if each not in is_)
    yield from ((each, NEW) for each in now if each not in was)
    if [each for each in before if each in is_] != [each for each in now if each in was]:
        yield "", REORDERED


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of a region in the rows that both workbooks have: its cells before and now."""

    name: str
    was: Region
    now: Region
    ids: Sequence[str]
    before: Sequence[Cell | None]
    after: Sequence[Cell | None]

    def change(self, section: str, row: str, old: str, new: str, rows: int = 1) -> Change:
        """Return a difference in this column."""
        return Change(section, self.now.sheet.title, row, self.name, old, new, rows)


def _region(old: Reading, was: Region, new: Reading, now: Region, tolerance: float) -> Iterator[Change]:
    ids = [id_ for id_ in now.ids if id_ in was.rows or now.kind == BLOCK]
    for name in now.names:
        if name in was.columns:
            column = _Column(name, was, now, ids, was.cells(ids, name), now.cells(ids, name))
            yield from _formulas(old, new, column)
            yield from _values(column, tolerance)


def _formulas(old: Reading, new: Reading, column: _Column) -> Iterator[Change]:
    """Yield formulas that changed: once for a whole column, else row by row."""
    found: dict[tuple[str | None, str | None, str, str], list[str]] = {}
    for id_, left, right in zip(column.ids, column.before, column.after, strict=True):
        if (left is None or left.formula is None) and (right is None or right.formula is None):
            continue
        before = old.formula_of(column.was, id_, column.name, left)
        after = new.formula_of(column.now, id_, column.name, right)
        if before != after:
            found.setdefault((before, after, _content(before, left), _content(after, right)), []).append(id_)
    for (before, after, was, now), rows in found.items():
        if before is not None and after is not None and same_formula(before, after):
            continue
        if len(rows) == len(column.ids) and len(rows) > 1:
            yield column.change(FORMULA, "", was, now, len(rows))
        else:
            for id_ in rows:
                yield column.change(FORMULA, id_, was, now)


def _content(formula: str | None, cell: Cell | None) -> str:
    """Return the formula in names or the constant of a cell, an empty text for an empty one."""
    return text_of(None if cell is None else cell.value) if formula is None else f"={formula}"


def _values(column: _Column, tolerance: float) -> Iterator[Change]:
    """Yield values that changed; a formula whose value no program has left in its cell is not compared."""
    for id_, before, after in zip(column.ids, column.before, column.after, strict=True):
        left = None if before is None else before.value
        right = None if after is None else after.value
        if left == right and type(left) is type(right):
            continue
        is_unknown = any(cell and cell.formula is not None and cell.value is None for cell in (before, after))
        if not is_unknown and not same_value(left, right, tolerance):
            yield column.change(VALUE, id_, text_of(left), text_of(right))


def _printed(old: Reading, new: Reading) -> Iterator[Change]:
    """Yield printed texts that changed, by view, row and column."""
    before = {
        (each.view, each.row, each.column): _printed_text(each.text, cell) for each, cell in printed(old)
    }
    after = {
        (each.view, each.row, each.column): _printed_text(each.text, cell) for each, cell in printed(new)
    }
    for key, text in after.items():
        if key in before and before[key] != text:
            yield Change(DISPLAY, *key, before[key], text)


def _printed_text(published: str, cell: Cell | None) -> str:
    return published if cell is None or cell.value is None else text_of(cell.value)
