"""A workbook that a reviewer sends back: what was changed in it, in declared names, and what that would move.

Beside it comes what has changed in the project since the workbook was built: rows, inputs, formulas, names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.declarations.files import ProjectFiles
from ledger.declarations.toml import located_place, project, report_names
from ledger.errors import LedgerError, Place, Problem, near
from ledger.evaluate.views import formula_text
from ledger.plan.plan import Computed
from ledger.project.build import origins
from ledger.project.reports import evaluated_reports
from ledger.review.review.whatif import ChangedCell, Origin, effect, known, origin, table_of
from ledger.workbook.write import workbook_bytes
from ledger.xlsx.changes import moves, same_value, text_of
from ledger.xlsx.edits import SAVED, FormulaEdit, InputEdit, NoteEdit, StructureEdit, edits
from ledger.xlsx.places import PRINTED, cell_name
from ledger.xlsx.readback import read_back, spelled
from ledger.xlsx.reading import Reading, read
from ledger.xlsx.record import BLOCK, ROWS, PublishedRegion, Record, blank_or

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ledger.book.render import EvaluatedReport
    from ledger.declarations.model import ProjectFile


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input that a reviewer changed: its address, both values, its place and its value in today's project.

    `place` is empty where today's project has no such input; `header` where no CSV holds it.
    """

    where: str
    address: str
    old: str
    new: str
    today: str
    place: str
    header: str


@dataclass(frozen=True, slots=True)
class ChangedFormula:
    """A formula that a reviewer changed, as declared and as it would be declared now.

    `quoted` is for a new one that the language cannot express: it is the spreadsheet's own; `typed` says
    that it is a constant.
    """

    where: str
    address: str
    rows: int
    old: str
    new: str
    place: str
    quoted: bool
    typed: bool


@dataclass(frozen=True, slots=True)
class Review:
    """All that was changed in a workbook, the printed cells that this would change, the CSVs it would write.

    `outdated` lists what has changed in the project since the workbook was built.
    """

    report: str
    workbook: str
    inputs: tuple[ChangedInput, ...]
    formulas: tuple[ChangedFormula, ...]
    structure: tuple[StructureEdit, ...]
    notes: tuple[NoteEdit, ...]
    moved: tuple[ChangedCell, ...]
    beyond: tuple[str, ...]
    outdated: tuple[str, ...]
    files: Mapping[Path, bytes]
    faults: tuple[Problem, ...]

    def is_empty(self) -> bool:
        """Whether the workbook is as it was built."""
        return not (self.inputs or self.formulas or self.structure or self.notes)


def review(root: Path, name: str, data: bytes) -> Review:
    """Return what was changed in the workbook `data`; raise a LedgerError if it is of no report of `root`."""
    now, files = read(name, data), ProjectFiles(root)
    where = project(files)
    report, reports = now.record.report, report_names(files, where)
    if report not in reports:
        what = f"is a workbook of the report {report!r}, which this project does not have"
        raise LedgerError(Problem(what, Place(name), near(report, reports)))
    (worked,) = evaluated_reports(root, [report], {})
    base = read("today's workbook", workbook_bytes(worked.plan, worked.result, origins(worked)))
    return _Reviewer(root, where, worked, base).review(now)


@dataclass(frozen=True, slots=True)
class _Reviewer:
    """Compares a workbook with today's project: its root and settings, the report, and its workbook."""

    root: Path
    project: ProjectFile
    worked: EvaluatedReport
    base: Reading

    def review(self, now: Reading) -> Review:
        """Return the edits in a workbook with their places and their effect."""
        found = edits(now, self.base)
        traced = [(edit, origin(self.worked, edit)) for edit in found.inputs]
        inputs = [(edit, at) for edit, at in traced if at is not None]
        changed = effect(self.worked, self.base, inputs, found.formulas)
        outdated = [*_outdated(now.record, self.base.record, _outdated_inputs)]
        formulas = _outdated(now.record, self.base.record, _outdated_formulas)
        left_out = (
            f"{each.sheet}: the {each.what} {each.name!r} that is {each.change}"
            for each in found.structure
            if each.what in {"row", "name", "column"} and each.name
        )
        return Review(
            self.worked.plan.name,
            now.book.name,
            tuple(self.input(edit, at) for edit, at in traced),
            tuple(self.formula(edit) for edit in found.formulas),
            found.structure,
            found.notes,
            changed.cells,
            (*changed.beyond, *left_out),
            tuple(f"{each.sheet}: {each.what}" for each in (*outdated, *formulas)),
            changed.files,
            (*changed.faults, *self.conflicts(inputs, outdated), *self.outside(changed.files)),
        )

    def outside(self, files: Iterable[Path]) -> Iterator[Problem]:
        """Yield each CSV that does not lie in the project: an untrusted workbook writes nowhere else."""
        for path in files:
            if not path.resolve().is_relative_to(self.root.resolve()):
                yield Problem("lies outside the project and is not written", Place(str(path)))

    def conflicts(
        self, inputs: Sequence[tuple[InputEdit, Origin]], outdated: Sequence[Outdated]
    ) -> Iterator[Problem]:
        """Yield each change of a CSV that has edits since the workbook was built from it."""
        tables = {at.table for _, at in inputs if at.header}
        hint = "build again, and send the new workbook to the reviewer"
        for each in outdated:
            table = table_of(self.worked, each.sheet)
            if table is not None and table.name in tables and table.source is not None:
                edit = InputEdit(each.sheet, ROWS, each.row, each.name, None, None, "")
                at = origin(self.worked, edit) if each.name else None
                what = f"has moved on since the workbook was built: {each.what}"
                yield Problem(what, at.place if at else Place(table.source.name), hint)

    def input(self, edit: InputEdit, at: Origin | None) -> ChangedInput:
        """Return an edited input with its place and its value today."""
        where = cell_name(edit.sheet, edit.row, edit.name)
        old, new = text_of(edit.old), text_of(edit.new)
        if at is None:
            return ChangedInput(where, edit.address, old, new, "", "", "")
        place = str(located_place(at.place, self.root, self.project))
        today = at.text or text_of(at.today)
        # As its author wrote it, 3.0, where it is that still.
        old = today if same_value(edit.old, at.today, SAVED) else old
        return ChangedInput(where, edit.address, old, new, today, place, at.header)

    def formula(self, edit: FormulaEdit) -> ChangedFormula:
        """Return an edited formula in the declared language, as far as that has words for it."""
        sheet = self.worked.plan.sheets.get(edit.sheet)
        node = sheet.nodes.get(edit.name) if sheet else None
        names = known(self.base, self.worked.plan, edit.sheet) if sheet else None
        row = edit.rows[0] if len(edit.rows) == 1 and not (edit.whole and edit.kind != BLOCK) else ""
        # The sheet of a formula, the view of a printed cell.
        title = f"{PRINTED}/{edit.kind}" if edit.sheet == PRINTED else edit.sheet
        was, new = (
            None if formula is None or names is None else read_back(formula, names)
            for formula in (edit.old, edit.new)
        )
        old, place = "" if edit.old is None else f"={edit.old}", ""
        if node is not None:
            place = str(located_place(node.place, self.root, self.project))
            published = self.base.record.regions[edit.sheet, edit.kind].formulas.get(edit.name)
            declared = isinstance(node.how, Computed) and published == edit.old
            old = formula_text(node) if declared else old if was is None else spelled(was)
        text = text_of(edit.value) if edit.new is None else f"={edit.new}"
        return ChangedFormula(
            cell_name(title, row, edit.name), edit.address, len(edit.rows), old,
            text if new is None else spelled(new), place,
            quoted=edit.new is not None and new is None, typed=edit.new is None,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outdated:
    """An input, a row or a formula that is another today; `name` is empty for a row, `row` for a formula."""

    sheet: str
    row: str
    name: str
    what: str


def _outdated(
    then: Record, today: Record, compared: Callable[[PublishedRegion, PublishedRegion], Iterator[Outdated]]
) -> Iterator[Outdated]:
    """Yield what was published on each worksheet and is not what a build gives today."""
    for key, region in then.regions.items():
        if key in today.regions:
            yield from compared(region, today.regions[key])
        else:
            yield Outdated(region.sheet, "", "", "the sheet is gone")


def _outdated_formulas(then: PublishedRegion, now: PublishedRegion) -> Iterator[Outdated]:
    """Yield names and formulas of a region that are others today."""
    for name in then.names:
        if name not in now.values:
            yield Outdated(then.sheet, "", name, f"{name!r} is gone")
        elif then.formulas.get(name) != now.formulas.get(name):
            yield Outdated(then.sheet, "", name, f"the formula of {name!r} is another")


def _outdated_inputs(then: PublishedRegion, now: PublishedRegion) -> Iterator[Outdated]:
    """Yield rows and inputs of a region that are others today."""
    numbers = {id_: i for i, id_ in enumerate(now.ids())}
    for id_, became in moves(then.ids(), now.ids()):
        if id_:
            yield Outdated(then.sheet, id_, "", f"row {id_!r} is {became}")
    for name in then.names:
        if name in then.formulas or name in now.formulas or name not in now.values:
            continue
        for value, id_ in zip(then.values[name], then.ids(), strict=True):
            if id_ in numbers:
                was, is_ = blank_or(value), blank_or(now.values[name][numbers[id_]])
                if not same_value(was, is_, SAVED):
                    what = f"{cell_name(id_, name)} {text_of(was)} → {text_of(is_)}"
                    yield Outdated(then.sheet, id_, name, what)
