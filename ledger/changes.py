"""What differs between two workbooks of ours: rows by id, columns by name, whatever stands where.

Structure, formulas, values and printed texts are told apart: a formula may change and its value not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.cells import ErrorValue
from ledger.formulatree import same_formula
from ledger.reading import printed
from ledger.record import BLOCK
from ledger.values import number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.cells import Cell, Scalar
    from ledger.reading import Reading, Unit

STRUCTURE, FORMULA, VALUE, DISPLAY = "structure", "formula", "value", "display"
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
        return "/".join(each for each in (self.sheet, self.row, self.column) if each)


def changes(old: Reading, new: Reading, tolerance: float = TOLERANCE) -> tuple[Change, ...]:
    """Return every difference, by section and in the order of the workbook."""
    found = [*_structure(old, new)]
    for key, unit in new.units.items():
        if key in old.units:
            found += _unit(old, old.units[key], new, unit, tolerance)
    found += _printed(old, new)
    return tuple(change for section in SECTIONS for change in found if change.section == section)


def same_value(old: Scalar, new: Scalar, tolerance: float = TOLERANCE) -> bool:
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


def text_of(value: Scalar) -> str:
    """Return a value as it is told: a number with all its digits, nothing for an empty cell."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float():
            return number_text(value)
    return str(value)


def _structure(old: Reading, new: Reading) -> Iterator[Change]:
    for title in old.book.sheets.keys() - new.book.sheets.keys():
        yield Change(STRUCTURE, title, "", "", "sheet", "gone")
    for title in new.book.sheets:
        if title not in old.book.sheets:
            yield Change(STRUCTURE, title, "", "", "", "a new sheet")
    for key, unit in old.units.items():
        if key not in new.units and unit.sheet.title in new.book.sheets:
            yield Change(STRUCTURE, unit.sheet.title, "", "", unit.kind, "gone")
    for key, unit in new.units.items():
        if key in old.units:
            yield from _lines(old.units[key], unit)


def _lines(old: Unit, new: Unit) -> Iterator[Change]:
    """Yield columns and rows that came or went, and whether those that stayed are in another order."""
    sheet = new.sheet.title
    for what, before, now in (("column", old.names, new.names), ("row", old.ids, new.ids)):
        word = "name" if what == "column" and new.kind == BLOCK else what
        was, is_ = set(before), set(now)
        gone = [each for each in before if each not in is_]
        came = [each for each in now if each not in was]
        for each in gone:
            yield Change(STRUCTURE, sheet, *_line(what, each), word, "gone")
        for each in came:
            yield Change(STRUCTURE, sheet, *_line(what, each), "", f"a new {word}")
        if [each for each in before if each in is_] != [each for each in now if each in was]:
            yield Change(STRUCTURE, sheet, "", "", f"{word}s", "in another order")


def _line(what: str, each: str) -> tuple[str, str]:
    return (each, "") if what == "row" else ("", each)


def _unit(old: Reading, was: Unit, new: Reading, now: Unit, tolerance: float) -> Iterator[Change]:
    known = set(was.ids)
    ids = [id_ for id_ in now.ids if id_ in known]
    for name in now.names:
        if name in was.columns:
            pairs = {id_: (was.cell(id_, name), now.cell(id_, name)) for id_ in ids}
            yield from _formulas(old, was, new, now, name, ids)
            yield from _values(now, name, pairs, tolerance)


def _formulas(
    old: Reading, was: Unit, new: Reading, now: Unit, name: str, ids: Sequence[str]
) -> Iterator[Change]:
    """Yield formulas that changed: once for a whole column, else row by row."""
    found: dict[tuple[str, str], list[str]] = {}
    for id_ in ids:
        before, after = old.formula(was, id_, name), new.formula(now, id_, name)
        if before != after and not (before is not None and after is not None and same_formula(before, after)):
            texts = tuple(
                f"={formula}" if formula is not None else _constant(unit.cell(id_, name))
                for unit, formula in ((was, before), (now, after))
            )
            found.setdefault((texts[0], texts[1]), []).append(id_)
    for (left, right), rows in found.items():
        if len(rows) == len(ids) and len(ids) > 1:
            yield Change(FORMULA, now.sheet.title, "", name, left, right, len(rows))
        else:
            for id_ in rows:
                yield Change(FORMULA, now.sheet.title, id_, name, left, right)


def _constant(cell: Cell | None) -> str:
    return text_of(None if cell is None else cell.value)


def _values(
    now: Unit, name: str, pairs: Mapping[str, tuple[Cell | None, Cell | None]], tolerance: float
) -> Iterator[Change]:
    """Yield values that changed; a formula whose value no program has left in its cell is not compared."""
    for id_, (before, after) in pairs.items():
        left, right = (None if cell is None else cell.value for cell in (before, after))
        if not _is_unknown(before) and not _is_unknown(after) and not same_value(left, right, tolerance):
            yield Change(VALUE, now.sheet.title, id_, name, text_of(left), text_of(right))


def _is_unknown(cell: Cell | None) -> bool:
    return cell is not None and cell.formula is not None and cell.value is None


def _printed(old: Reading, new: Reading) -> Iterator[Change]:
    """Yield printed texts that changed, by view, row and column."""
    before = {(each.view, each.row, each.column): _shown(each.text, cell) for each, cell in printed(old)}
    after = {(each.view, each.row, each.column): _shown(each.text, cell) for each, cell in printed(new)}
    for key, text in after.items():
        if key in before and before[key] != text:
            yield Change(DISPLAY, *key, before[key], text)


def _shown(published: str, cell: Cell | None) -> str:
    return published if cell is None or cell.value is None else text_of(cell.value)
