"""What was changed in a workbook since it was published, by its own record: inputs, formulas, rows, notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.xlsx.changes import NEW, moves, same_value, text_of
from ledger.xlsx.formulas import corner, same_formula
from ledger.xlsx.places import FIXED_SHEETS, PRINTED, cell_name
from ledger.xlsx.reading import Reading, Region, printed
from ledger.xlsx.record import BLOCK, blank_or

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.xlsx.workbook import CellValue

#: Cells are as published within this: a spreadsheet saves 15 digits.
SAVED = 1e-14


@dataclass(frozen=True, slots=True)
class InputEdit:
    """An input that was changed: its sheet, kind of region, row id (empty in a block), name, both values."""

    sheet: str
    kind: str
    row: str
    name: str
    old: CellValue
    new: CellValue
    address: str


@dataclass(frozen=True, slots=True)
class FormulaEdit:
    """A formula that was changed, in names; `new` is None where a constant was typed over it.

    A formula typed over an input has no `old`.  `value` is what the cell shows, None where no program has
    computed it; `rows` are all rows of the column in which the same was done.
    """

    sheet: str
    kind: str
    rows: tuple[str, ...]
    name: str
    old: str | None
    new: str | None
    value: CellValue
    address: str
    whole: bool


@dataclass(frozen=True, slots=True)
class StructureEdit:
    """A row, column or sheet that came or went, or an order that changed; `told` has a new row's inputs."""

    sheet: str
    what: str
    name: str
    change: str
    told: str = ""


@dataclass(frozen=True, slots=True)
class NoteEdit:
    """A note that somebody left on a cell: its place in names and as an address, its author, its text."""

    sheet: str
    place: str
    address: str
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Edits:
    """Everything that was changed in a workbook; `formulas` has the constants typed over `Printed` too."""

    inputs: tuple[InputEdit, ...]
    formulas: tuple[FormulaEdit, ...]
    structure: tuple[StructureEdit, ...]
    notes: tuple[NoteEdit, ...]

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.inputs or self.formulas or self.structure or self.notes)


def edits(now: Reading, built: Reading) -> Edits:
    """Return what was changed in a workbook; `built` has the notes and sheets of the day it was written."""
    regions = tuple(now.regions.values())
    formulas = [each for region in regions for each in _formulas(now, region)]
    return Edits(
        tuple(each for region in regions for each in _inputs(region)),
        (*formulas, *_printed(now)),
        (*_sheets(now, built), *(each for region in regions for each in _structure(region))),
        tuple(_notes(now, built)),
    )


def _inputs(region: Region) -> Iterator[InputEdit]:
    """Yield the cells without a formula whose value is not the published one; keys make rows, not edits."""
    keys = () if region.kind == BLOCK else region.recorded.names[:1]
    for name in region.names:
        published = region.recorded.column(name)
        if name in region.recorded.formulas or name in keys:
            continue
        for id_ in filter(published.__contains__, region.ids):
            cell, was = region.cell(id_, name), blank_or(published[id_])
            is_ = None if cell is None else cell.value
            if (cell is None or cell.formula is None) and not same_value(was, is_, SAVED):
                title, address = region.sheet.title, region.address(id_, name)
                yield InputEdit(title, region.kind, id_, name, was, is_, address)


def _formulas(now: Reading, region: Region) -> Iterator[FormulaEdit]:
    """Yield each change of a formula once, with the rows of its column in which it was made."""
    title, published = region.sheet.title, set(region.recorded.ids())
    rows = [id_ for id_ in region.ids if id_ in published]
    for name in filter(region.recorded.values.__contains__, region.names):
        found: dict[tuple[str | None, str], list[str]] = {}
        old = region.recorded.formulas.get(name)
        for id_ in rows:
            cell = region.cell(id_, name)
            new = now.formula_of(region, id_, name, cell)
            same = old is new if old is None or new is None else same_formula(old, new)
            if not same:
                found.setdefault((new, "" if new else text_of(cell.value if cell else None)), []).append(id_)
        for (new, _), ids in found.items():
            cell, address = region.cell(ids[0], name), region.address(ids[0], name)
            value, whole = cell.value if cell else None, len(ids) == len(rows)
            yield FormulaEdit(title, region.kind, tuple(ids), name, old, new, value, address, whole)


def _printed(now: Reading) -> Iterator[FormulaEdit]:
    """Yield the printed cells over which a constant was typed."""
    for each, cell in printed(now):
        if cell is not None and cell.formula is None:
            where = f"{PRINTED}!{each.address}"
            yield FormulaEdit(
                PRINTED, each.view, (each.row,), each.column, "", None, cell.value, where, whole=False
            )


def _sheets(now: Reading, built: Reading) -> Iterator[StructureEdit]:
    """Yield the sheets that somebody added, and those of regions and of every workbook that are gone."""
    for title in now.book.sheets:
        if title not in built.book.sheets and title not in now.places:
            yield StructureEdit(title, "sheet", title, "new")
    fixed = [title for title in FIXED_SHEETS if title in built.book.sheets]
    for title in dict.fromkeys([*(title for title, _ in now.record.regions), *fixed]):
        if title not in (now.places if title not in fixed else now.book.sheets):
            yield StructureEdit(title, "sheet", title, "gone")


def _structure(region: Region) -> Iterator[StructureEdit]:
    """Yield rows and columns that came or went, and whether those that stayed are in another order."""
    title = region.sheet.title
    word = "name" if region.kind == BLOCK else "column"
    lines = ((word, region.recorded.names, region.names), ("row", region.recorded.ids(), region.ids))
    for what, before, now in lines:
        for each, change in moves(before, now):
            inputs = _inputs_of(region, each) if (what, change) == ("row", NEW) else ""
            yield StructureEdit(title, what, each, change, inputs)


def _inputs_of(region: Region, id_: str) -> str:
    """Return the inputs of a row, which an author copies into the CSV."""
    cells = {name: region.cell(id_, name) for name in region.names[1:]}
    texts = {name: text_of(cell.value) for name, cell in cells.items() if cell and cell.formula is None}
    return ", ".join(f"{name}={text}" for name, text in texts.items() if text)


def _notes(now: Reading, built: Reading) -> Iterator[NoteEdit]:
    """Yield the notes whose text the workbook did not have when it was written."""
    known = {title: {_words(note.text) for note in sheet.notes} for title, sheet in built.book.sheets.items()}
    for title, sheet in now.book.sheets.items():
        for note in sheet.notes:
            if _words(note.text) not in known.get(title, set()):
                # A spreadsheet begins a note with its author's name.
                author = note.author.strip()
                text = note.text.strip().removeprefix(f"{author}:").strip()
                place, address = _place(now, title, note.address), f"{title}!{note.address}"
                yield NoteEdit(title, place, address, author, text)


def _words(text: str) -> str:
    return " ".join(text.split())


def _place(now: Reading, title: str, address: str) -> str:
    """Return the name of an address: sheet/row/column, sheet/name in a block, an empty text for any other."""
    column, row = corner(address)
    on = now.places.get(title)
    if on is None:
        return ""
    name = on.block.get(row) or on.columns.get(column, "")
    return cell_name(title, on.ids.get(row, ""), name)
