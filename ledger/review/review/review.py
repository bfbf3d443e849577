"""A workbook that a reviewer sends back, told in declared names: what was changed, and what it would move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.declarations.toml import located_place, project, report_names
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.evaluate.views import formula_text
from ledger.plan.plan import Computed
from ledger.project.build import origins
from ledger.project.reports import evaluated_reports
from ledger.review.review.outdated import Outdated, moved_formulas, moved_inputs, outdated
from ledger.review.review.sources import Origin, origin, standing
from ledger.review.review.whatif import MovedCell, effect, known
from ledger.workbook.write import workbook_bytes
from ledger.xlsx.changes import same_value, text_of
from ledger.xlsx.edits import SAVED, Edits, FormulaEdit, InputEdit, NoteEdit, StructureEdit, edits
from ledger.xlsx.places import PRINTED
from ledger.xlsx.readback import read_back, spelled
from ledger.xlsx.reading import Reading, read
from ledger.xlsx.record import BLOCK, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ledger.book.render import EvaluatedReport
    from ledger.declarations.model import Project


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input that a reviewer changed: its name, both values, where it stands today, what it is there.

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

    `quoted` says that the new one has no meaning in the language: it is the spreadsheet's own; `typed` says
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
    """All that was changed in a workbook, what it would move, and what applying it writes.

    `outdated` tells what has changed in the project since the workbook was built.
    """

    report: str
    workbook: str
    inputs: tuple[ChangedInput, ...]
    formulas: tuple[ChangedFormula, ...]
    structure: tuple[StructureEdit, ...]
    notes: tuple[NoteEdit, ...]
    moved: tuple[MovedCell, ...]
    beyond: tuple[str, ...]
    outdated: tuple[str, ...]
    files: Mapping[Path, bytes]
    faults: tuple[Problem, ...]

    def is_empty(self) -> bool:
        """Whether the workbook is as it was built."""
        return not (self.inputs or self.formulas or self.structure or self.notes)


def review(root: Path, name: str, data: bytes) -> Review:
    """Return what was changed in the workbook `data`; raise a LedgerError if it is of no report of `root`."""
    now, where = read(name, data), project(root)
    if now.record.report not in report_names(root, where):
        what = f"is a workbook of the report {now.record.report!r}, which this project does not have"
        raise LedgerError(Problem(what, Place(name), near(now.record.report, report_names(root, where))))
    (worked,) = evaluated_reports(root, [now.record.report], {})
    base = read("today's workbook", workbook_bytes(worked.plan, worked.result, origins(worked)))
    return _ReviewWriter(root, where, worked, base, now).review(edits(now, base))


def to_write(found: Review) -> Mapping[Path, bytes]:
    """Return the new bytes of each CSV; raise a LedgerError where an edit cannot be applied as meant."""
    problems = Problems([*found.faults])
    problems.raise_any()
    return found.files


@dataclass(frozen=True, slots=True)
class _ReviewWriter:
    root: Path
    where: Project
    worked: EvaluatedReport
    base: Reading
    now: Reading

    def review(self, found: Edits) -> Review:
        """Return edits with their places and their effect."""
        traced = [(edit, origin(self.worked, edit)) for edit in found.inputs]
        known_inputs = [(edit, at) for edit, at in traced if at is not None]
        scenarios = {
            name: rows.scenario.source.path.read_bytes()
            for name, rows in self.worked.result.tables.items()
            if rows.scenario is not None
        }
        moves = effect(self.worked, self.base, known_inputs, found.formulas, scenarios)
        then, today = self.now.record, self.base.record
        inputs, formulas = (outdated(then, today, each) for each in (moved_inputs, moved_formulas))
        files = {self.path(table): new for table, new in moves.files.items()}
        faults = (*moves.faults, *self.conflicts(known_inputs, inputs), *self.outside(files))
        return Review(
            self.worked.plan.name,
            self.now.book.name,
            tuple(self.input(edit, at) for edit, at in traced),
            tuple(self.formula(edit) for edit in found.formulas),
            found.structure,
            found.notes,
            moves.moved,
            (*moves.beyond, *_left_out(found)),
            (*_titled(inputs), *_titled(formulas)),
            files,
            faults,
        )

    def path(self, table: str) -> Path:
        """Return the file of a table's rows."""
        source = self.worked.plan.tables[table].source
        if source is None:
            raise TypeError(f"{table} is no CSV")
        return source.path

    def outside(self, files: Iterable[Path]) -> Iterator[Problem]:
        """Yield each CSV that does not lie in the project: an untrusted workbook writes nowhere else."""
        for path in files:
            if not path.resolve().is_relative_to(self.root.resolve()):
                yield Problem("lies outside the project and is not written", Place(str(path)))

    def conflicts(
        self, inputs: Sequence[tuple[InputEdit, Origin]], outdated: Mapping[str, Sequence[Outdated]]
    ) -> Iterator[Problem]:
        """Yield each CSV that has edits and is not what the workbook was built from."""
        tables = {at.table for _, at in inputs if at.header}
        hint = "build again, and send the new workbook to the reviewer"
        for title, moves in outdated.items():
            table = standing(self.worked.plan, title)
            if table is not None and table.name in tables and table.source is not None:
                for moved in moves:
                    edit = InputEdit(title, ROWS, moved.row, moved.name, None, None, "")
                    at = origin(self.worked, edit) if moved.name else None
                    what = f"has moved on since the workbook was built: {moved}"
                    yield Problem(what, at.place if at else Place(table.source.name), hint)

    def input(self, edit: InputEdit, at: Origin | None) -> ChangedInput:
        """Return an edited input with where it stands today."""
        where = "/".join(each for each in (edit.sheet, edit.row, edit.name) if each)
        new = text_of(edit.new)
        old = text_of(edit.old)
        if at is None:
            return ChangedInput(where, edit.address, old, new, "", "", "")
        place = str(located_place(at.place, self.root, self.where))
        today = at.text or text_of(at.today)
        # As its author wrote it, 3.0, where it is that still.
        old = today if same_value(edit.old, at.today, SAVED) else old
        return ChangedInput(where, edit.address, old, new, today, place, at.header)

    def formula(self, edit: FormulaEdit) -> ChangedFormula:
        """Return an edited formula in the declared language, as far as it can be said there."""
        sheet = self.worked.plan.sheets.get(edit.sheet)
        node = sheet.nodes.get(edit.name) if sheet else None
        names = known(self.base, self.worked.plan, edit.sheet) if sheet else None
        row = edit.rows[0] if len(edit.rows) == 1 and not (edit.whole and edit.kind != BLOCK) else ""
        where = "/".join(each for each in (self.title(edit), row, edit.name) if each)
        old = "" if edit.old is None else f"={edit.old}"
        place = ""
        if node is not None:
            place = str(located_place(node.place, self.root, self.where))
            was = None if edit.old is None or names is None else read_back(edit.old, names)
            is_same = self.base.record.regions[edit.sheet, edit.kind].formulas.get(edit.name) == edit.old
            declared = isinstance(node.how, Computed) and is_same
            old = formula_text(node) if declared else old if was is None else spelled(was)
        expr = None if edit.new is None or names is None else read_back(edit.new, names)
        new = text_of(edit.value) if edit.new is None else f"={edit.new}"
        return ChangedFormula(
            where, edit.address, len(edit.rows), old, new if expr is None else spelled(expr), place,
            quoted=edit.new is not None and expr is None, typed=edit.new is None,
        )  # fmt: skip

    def title(self, edit: FormulaEdit) -> str:
        """Return the sheet of a formula, the view of a printed cell."""
        return f"{PRINTED}/{edit.kind}" if edit.sheet == PRINTED else edit.sheet


def _titled(outdated: Mapping[str, Sequence[Outdated]]) -> Iterator[str]:
    return (f"{title}: {each}" for title, found in outdated.items() for each in found)


def _left_out(found: Edits) -> Iterator[str]:
    """Yield what the effect does not take into account."""
    for each in found.structure:
        if each.what in {"row", "name", "column"} and each.name:
            yield f"{each.sheet}: the {each.what} {each.name!r} that is {each.change}"
