"""What a workbook says against what an engine computes: each cached value, each printed text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.review.verify.engines import ENGINES, EngineError, Sheets
from ledger.xlsx.cells import Cell, CellValue, ErrorValue
from ledger.xlsx.changes import same_value
from ledger.xlsx.edits import Edits, edits
from ledger.xlsx.formulas import called, column_letters, corner
from ledger.xlsx.parts import opened
from ledger.xlsx.places import PRINTED, VALUE
from ledger.xlsx.reading import Reading, printed, read
from ledger.xlsx.uncached import stripped, why_constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


#: What is found, and what is only told.
DIFFERS, NOT_COMPUTED, NO_VALUE, UNLIKE = "differs", "not computed", "no cached value", "printed"
MOVED, NOT_COMPARED = "moved", "not compared"
FOUND = (DIFFERS, NOT_COMPUTED, UNLIKE, NO_VALUE)
TOLD = (*FOUND, MOVED, NOT_COMPARED)
_WITHOUT = {NOT_COMPUTED, NO_VALUE, NOT_COMPARED}
#: How long an engine may take.
SECONDS = 300.0
# What an engine shows in place of a value that it cannot compute.
_UNABLE = frozenset({"#NAME?", "#ERROR!", "#N/IMPL!", "#CIRC!"})
_OTHERWISE: Mapping[str, str] = {
    "FORMULATEXT": "FORMULATEXT: each engine spells formulas its own way",
    "CELL": "CELL: tells of the program",
    "INFO": "INFO: tells of the program",
    **{each: f"{each}: another value each time" for each in ("NOW", "TODAY", "RAND", "RANDBETWEEN")},
}
_FILLED = "an array formula in another cell fills this one"
_TYPED_OVER, _GONE = "the text stands in place of its formula", "nothing stands there"


@dataclass(frozen=True, slots=True)
class CellFinding:
    """One cell: its address, its name (`sheet/row/column`, or `view/row/column` on `Printed`; empty without).

    `was` is the cached value or the published text, `now` what the engine computes; `formula` is the cell's,
    `in_names` the same in names where it has a name.
    """

    what: str
    address: str
    name: str
    was: CellValue
    now: CellValue
    formula: str = ""
    in_names: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What an engine says of a workbook; `trouble` is why it says nothing, `edits` is what was edited since.

    `cells` counts formulas, `compared` those whose cached value was compared, `printed` the printed texts.
    """

    book: str
    engine: str
    cells: int
    compared: int = 0
    printed: int = 0
    has_values: bool = True
    edits: tuple[str, ...] = ()
    findings: tuple[CellFinding, ...] = ()
    trouble: str = ""

    @property
    def agrees(self) -> bool:
        """Whether all was computed and nothing differs."""
        return not self.trouble and not any(each.what in FOUND for each in self.findings)


def verified(name: str, data: bytes, engine: str, seconds: float = SECONDS) -> Verification:
    """Return what an engine computes otherwise than the workbook `data` says, or cannot compute."""
    reading = read(name, data)
    cells = [*_formulas(reading)]
    has_values = any(cell.value is not None for _, _, _, cell in cells)
    blank = Verification(name, engine, len(cells), has_values=has_values)
    try:
        sheets = ENGINES[engine].recalculated(stripped(opened(name, data)), seconds)
    except EngineError as error:
        return replace(blank, trouble=str(error))
    findings = [*_cells(cells, sheets, has_values=has_values), *_members(reading, sheets)]
    without = sum(each.what in _WITHOUT for each in findings)
    edited = tuple(dict.fromkeys(_edited(edits(reading, reading))))
    uncomputed = {each.address for each in findings if each.what == NOT_COMPUTED}
    unlike = [each for each in _printed(reading, sheets, edited) if each.address not in uncomputed]
    return replace(
        blank,
        compared=len(cells) - without if has_values else 0,
        printed=len(reading.record.printed),
        edits=edited,
        findings=tuple(_named(reading, [*findings, *unlike])),
    )


def _edited(found: Edits) -> Iterator[str]:
    """Yield what was edited that moves a printed text: not one typed over it, nor another order of rows."""
    for each in found.inputs:
        yield _path(each.sheet, each.row, each.name)
    for formula in found.formulas:
        if formula.sheet != PRINTED:
            yield _path(formula.sheet, "" if formula.whole else formula.rows[0], formula.name)
    for line in found.structure:
        if line.change in {"new", "gone"}:
            yield _path(line.sheet, "" if line.what == "sheet" else line.name)


def _path(*names: str) -> str:
    return "/".join(name for name in names if name)


def _formulas(reading: Reading) -> Iterator[tuple[str, int, int, Cell]]:
    for title, sheet in reading.book.sheets.items():
        for row, cells in sheet.rows.items():
            for column, cell in cells.items():
                if cell.formula is not None:
                    yield title, row, column, cell


def _cells(
    cells: Sequence[tuple[str, int, int, Cell]], sheets: Sheets, *, has_values: bool
) -> Iterator[CellFinding]:
    """Yield the formula cells that are not what the engine computes, or that are not compared."""
    for title, row, column, cell in cells:
        now = sheets.get(title, {}).get((row, column))
        what, why = _judged(cell, now)
        if what and (has_values or what != NO_VALUE):
            yield CellFinding(
                what, _address(title, row, column), "", cell.value, now, cell.formula or "", "", why
            )


def _members(reading: Reading, sheets: Sheets) -> Iterator[CellFinding]:
    """Yield numbers that look typed and are computed otherwise: an array formula fills their cells."""
    for title, sheet in reading.book.sheets.items():
        for row, cells in sheet.rows.items():
            for column, cell in cells.items():
                now = sheets.get(title, {}).get((row, column))
                if cell.formula is None and isinstance(cell.value, float) and not same_value(cell.value, now):
                    yield CellFinding(DIFFERS, _address(title, row, column), "", cell.value, now, why=_FILLED)


def _judged(cell: Cell, now: CellValue) -> tuple[str, str]:
    """Return what is found of a formula cell, and why; nothing where the engine agrees."""
    formula = cell.formula or ""
    if why := why_constant(formula):
        return NOT_COMPUTED, f"{why}, so no engine is given it; others are computed from its cached value"
    if isinstance(now, ErrorValue) and now.name in _UNABLE:
        return NOT_COMPUTED, f"the engine shows {now.name}"
    for name in called(formula):
        if name in _OTHERWISE:
            return NOT_COMPARED, _OTHERWISE[name]
    if now is None and cell.value not in {None, ""}:
        return NOT_COMPUTED, "the engine has no value"
    if cell.value is None:
        return NO_VALUE, ""
    return ("", "") if same_value(cell.value, now) else (DIFFERS, "")


def _printed(reading: Reading, sheets: Sheets, edited: Sequence[str]) -> Iterator[CellFinding]:
    """Yield the printed texts that are not what was published; edits may move all but those typed over."""
    for each, cell in printed(reading):
        column, row = corner(each.address)
        now = sheets.get(PRINTED, {}).get((row, column))
        if same_value(each.text, now):
            continue
        formula = None if cell is None else cell.formula
        what = MOVED if edited and formula is not None else UNLIKE
        why = "" if formula is not None else _GONE if now is None else _TYPED_OVER
        yield CellFinding(what, f"{PRINTED}!{each.address}", "", each.text, now, formula or "", "", why)


def _named(reading: Reading, findings: Sequence[CellFinding]) -> Iterator[CellFinding]:
    """Yield findings with the names of their cells, and formulas in names where a cell has one."""
    views = {each.address: (each.view, each.row, each.column) for each in reading.record.printed}
    for each in findings:
        title, _, address = each.address.rpartition("!")
        column, row = corner(address)
        if title == PRINTED:
            yield replace(each, name=_path(*views.get(address, ())))
        elif name := _name(reading, title, row, column):
            in_names = reading.in_names(title, row, column, each.formula) if each.formula else ""
            yield replace(each, name=name, in_names=in_names)
        else:
            yield each


def _name(reading: Reading, title: str, row: int, column: int) -> str:
    """Return the name of a cell as `sheet/row/column`, empty without one."""
    on = reading.places.get(title)
    if on is None:
        return ""
    if column == VALUE and row in on.block:
        return f"{title}/{on.block[row]}"
    return f"{title}/{on.ids[row]}/{on.columns[column]}" if row in on.ids and column in on.columns else ""


def _address(title: str, row: int, column: int) -> str:
    return f"{title}!{column_letters(column)}{row}"
