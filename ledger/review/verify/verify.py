"""What a workbook holds against what an engine computes: each cached value, each printed text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.review.verify.engines import ENGINES, EngineError, Sheets
from ledger.xlsx.changes import same_value
from ledger.xlsx.edits import Edits, edits
from ledger.xlsx.formulas import called, cell_address, corner
from ledger.xlsx.limits import CHANGING
from ledger.xlsx.parts import opened
from ledger.xlsx.places import PRINTED, Places, cell_name
from ledger.xlsx.reading import Reading, printed, read
from ledger.xlsx.uncached import stripped, why_constant
from ledger.xlsx.workbook import Cell, CellValue, ErrorValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


#: What is found, and what is only listed.
DIFFERS, NOT_COMPUTED, NO_VALUE, UNLIKE = "differs", "not computed", "no cached value", "printed"
MOVED, NOT_COMPARED = "moved", "not compared"
FOUND = (DIFFERS, NOT_COMPUTED, UNLIKE, NO_VALUE)
LISTED = (*FOUND, MOVED, NOT_COMPARED)
_WITHOUT = {NOT_COMPUTED, NO_VALUE, NOT_COMPARED}
# How long an engine may take for a small workbook, and how many formulas it gets a second more for: a tenth
# of what it computes.
_SECONDS = {"ironcalc": 15.0, "libreoffice": 60.0}
_CELLS_PER_SECOND = 2_000
# What an engine shows in place of a value that it cannot compute.
_UNCOMPUTED = frozenset({"#NAME?", "#ERROR!", "#N/IMPL!", "#CIRC!"})
_OF_ITS_OWN: Mapping[str, str] = {
    "FORMULATEXT": "FORMULATEXT: each engine spells formulas its own way",
    "CELL": "CELL: tells of the program",
    "INFO": "INFO: tells of the program",
    **{each: f"{each}: another value each time" for each in CHANGING},
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
    name: str = ""
    was: CellValue = None
    now: CellValue = None
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


def verified(name: str, data: bytes, engine: str, seconds: float | None = None) -> Verification:
    """Return what an engine computes otherwise than the workbook `data` has it, or cannot compute.

    It has so many seconds; by default as many as a workbook of so many formulas may take.
    """
    ENGINES[engine].check()
    reading = read(name, data)
    cells = [cell for *_, cell in reading.book.cells() if cell.formula is not None]
    has_values = any(cell.value is not None for cell in cells)
    blank = Verification(name, engine, len(cells), has_values=has_values)
    try:
        limit = _SECONDS[engine] + len(cells) / _CELLS_PER_SECOND if seconds is None else seconds
        sheets = ENGINES[engine].recalculated(stripped(opened(name, data)), limit)
    except EngineError as error:
        return replace(blank, trouble=str(error))
    ignored = set() if has_values else {NO_VALUE}
    findings = [each for each in _cell_findings(reading, sheets) if each.what not in ignored]
    # A number that looks typed comes after all formulas: an array formula fills its cell.
    findings.sort(key=lambda each: each.why == _FILLED)
    without = sum(each.what in _WITHOUT for each in findings)
    edited = tuple(dict.fromkeys(_edited(edits(reading, reading))))
    uncomputed = {each.address for each in findings if each.what == NOT_COMPUTED}
    unlike = [each for each in _printed(reading, sheets, edited) if each.address not in uncomputed]
    return replace(
        blank,
        compared=len(cells) - without if has_values else 0,
        printed=len(reading.record.printed),
        edits=edited,
        findings=tuple(_with_names(reading, [*findings, *unlike])),
    )


def _edited(found: Edits) -> Iterator[str]:
    """Yield what was edited that moves a printed text: not one typed over it, nor another order of rows."""
    for each in found.inputs:
        yield cell_name(each.sheet, each.row, each.name)
    for formula in found.formulas:
        if formula.sheet != PRINTED:
            yield cell_name(formula.sheet, "" if formula.whole else formula.rows[0], formula.name)
    for line in found.structure:
        if line.change in {"new", "gone"}:
            yield cell_name(line.sheet, "" if line.what == "sheet" else line.name)


def _cell_findings(reading: Reading, sheets: Sheets) -> Iterator[CellFinding]:
    """Yield the formula cells that are not what the engine computes, or that are not compared.

    A number that looks typed and is computed otherwise is found too: an array formula fills its cell.
    """
    for title, row, column, cell in reading.book.cells():
        now = sheets.get(title, {}).get((row, column))
        if cell.formula is not None:
            what, why = _compared(cell, cell.formula, now)
        elif isinstance(cell.value, float) and not same_value(cell.value, now):
            what, why = DIFFERS, _FILLED
        else:
            continue
        if what:
            address = cell_address(title, row, column)
            yield CellFinding(what, address, was=cell.value, now=now, formula=cell.formula or "", why=why)


def _compared(cell: Cell, formula: str, now: CellValue) -> tuple[str, str]:
    """Return what is found of a formula cell, and why; empty texts where the engine agrees."""
    if why := why_constant(formula):
        return NOT_COMPUTED, f"{why}, so no engine is given it; others are computed from its cached value"
    if isinstance(now, ErrorValue) and now.name in _UNCOMPUTED:
        return NOT_COMPUTED, f"the engine shows {now.name}"
    for name in called(formula):
        if name in _OF_ITS_OWN:
            return NOT_COMPARED, _OF_ITS_OWN[name]
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
        if not same_value(each.text, now):
            formula = None if cell is None else cell.formula
            what = MOVED if edited and formula is not None else UNLIKE
            why = "" if formula is not None else _GONE if now is None else _TYPED_OVER
            address = f"{PRINTED}!{each.address}"
            yield CellFinding(what, address, was=each.text, now=now, formula=formula or "", why=why)


def _with_names(reading: Reading, findings: Sequence[CellFinding]) -> Iterator[CellFinding]:
    """Yield findings with the names of their cells, and formulas in names where a cell has one."""
    views = {each.address: (each.view, each.row, each.column) for each in reading.record.printed}
    for each in findings:
        title, _, address = each.address.rpartition("!")
        column, row = corner(address)
        if title == PRINTED:
            yield replace(each, name=cell_name(*views.get(address, ())))
            continue
        id_, name = reading.places.get(title, Places()).names(row, column)
        in_names = reading.in_names(title, row, column, each.formula) if name and each.formula else ""
        yield replace(each, name=cell_name(title, id_, name) if name else "", in_names=in_names)
