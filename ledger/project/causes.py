"""What changed since the committed workbooks were written: inputs, formulas, rows, files.

The workbook is the record: it holds every input, every formula in names, and a hash of each file that it
comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.declarations.files import content, name_of
from ledger.declarations.project import PROJECT_FILE
from ledger.declarations.toml import located_place
from ledger.errors import LedgerError, Place
from ledger.evaluate.lookups import row_id
from ledger.evaluate.trace import Spot, leaves, names_behind
from ledger.evaluate.views import formula_text
from ledger.plan.plan import Claimed, Computed, Given, Node, PlannedTable
from ledger.project.build import BuiltProject, BuiltReport, origins
from ledger.project.differences import GONE, Cause, ReportCell
from ledger.values import number_text
from ledger.xlsx.changes import NEW, moves
from ledger.xlsx.record import Snapshot, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.book.render import EvaluatedReport
    from ledger.evaluate.lookups import TableRows
    from ledger.xlsx.workbook import CellValue

#: What is known to have changed in a file, by its name or its ending; all other files are templates.
_WHOLE = {PROJECT_FILE: "the language", ".toml": "a label, a unit, a display rule or a view"}
_TEMPLATE = "a template"


def causes(built: BuiltProject) -> tuple[Cause, ...]:
    """Return every change since the committed workbooks were written, in the order of the reports."""
    return tuple(dict.fromkeys(cause for each in built.reports for cause in _ReportCauses(built, each).all()))


def explains(
    reports: Mapping[str, EvaluatedReport], found: Sequence[Cause], cell: ReportCell
) -> tuple[Cause, ...]:
    """Return the causes that reach a cell: its inputs, rows and formulas, else the files that changed."""
    report, spot = cell
    worked = reports[report]
    if spot.row == GONE:
        tables = {axis.table for axis in worked.plan.sheets[spot.sheet].axes}
        fine = tuple(cause for cause in found if cause.changed[0] in tables)
    else:
        reached = set(_reached(worked, spot))
        fine = tuple(cause for cause in found if cause.changed in reached)
    return fine or tuple(cause for cause in found if cause.is_whole())


def _reached(worked: EvaluatedReport, spot: Spot) -> Iterator[tuple[str, str, str]]:
    """Yield the inputs, rows and formulas a cell comes from, each as `Cause.changed` names it."""
    for leaf in leaves(worked.plan, worked.result, spot):
        key = leaf.key if leaf.table else f"{worked.plan.name}/{spot.sheet}"
        yield leaf.table, key, leaf.field
        if leaf.table:
            yield leaf.table, leaf.key, ""
    for name in names_behind(worked.plan, spot):
        yield "=", worked.plan.sheets[spot.sheet].nodes[name].place.file, name


@dataclass(frozen=True, slots=True)
class _ReportCauses:
    """Compares a report with the record of its committed workbook."""

    project: BuiltProject
    report: BuiltReport

    def all(self) -> Iterator[Cause]:
        """Yield the changes of the report: those known exactly, then the files that changed."""
        name = f"{self.report.name}.xlsx"
        folder = self.project.root / self.project.project.reports / self.report.name
        if not (folder / name).is_file():  # never written
            return
        try:
            old = snapshot(name, content(folder / name))
        except LedgerError as error:
            place = name_of(self.project.root, folder / name)
            yield Cause(place, "what changed is not known:", "", f"it {error.problems[0].what}")
            return
        for table in self.report.worked.plan.tables.values():
            if before := old.rows.get(table.sheet or table.name):
                yield from self.table(table, before)
        yield from self.inputs(old)
        yield from self.formulas(old)
        now = origins(self.report.worked)
        for file in sorted({*now, *old.files}) if old.files else ():  # an older build left no record
            if old.files.get(file) != now.get(file):
                new = "changed" if file in now and file in old.files else "added or removed"
                what = _WHOLE.get(file) or _WHOLE.get(PurePosixPath(file).suffix, _TEMPLATE)
                yield Cause(file, what, "", new)

    def table(self, table: PlannedTable, before: Mapping[str, Mapping[str, CellValue]]) -> Iterator[Cause]:
        """Yield fields of a table that changed, rows that came, went or changed places."""
        now = self.report.worked.result.tables[table.name]
        # A row of a list goes by the value of an input on a sheet.
        word = "row" if table.source else f"{table.place.keys[1]} {table.fields[0].name}"
        keys = [row_id(key) if table.sheet else key for key in now.keys]
        for row, key in enumerate(keys):
            if key not in before:
                place, changed = self.row_place(table, row, ""), (table.name, now.keys[row], "")
                yield Cause(place, f"{word} {key}", "", NEW, changed)
            else:
                for header, field, was, new in _fields(table, now, row, before[key]):
                    changed = (table.name, now.keys[row], field)
                    yield Cause(self.row_place(table, row, header), header, was, new, changed)
        place = table.source.name if table.source else self.line(table.place)
        for key, became in moves([*before], keys):
            if became != NEW:
                what = f"{word} {key}" if key else "rows" if table.source else word
                yield Cause(place, what, "", became, (table.name, key, ""))

    def row_place(self, table: PlannedTable, row: int, header: str) -> str:
        """Return file and line of a row's cell under a header, of its first cell if that is empty."""
        rows = self.report.worked.result.tables[table.name].scenario
        if rows is None:
            return self.line(table.place.inside(row))
        place = scenario.place(rows, row, header or next(iter(rows.columns)))
        return f"{place.file}:{place.line}"

    def inputs(self, old: Snapshot) -> Iterator[Cause]:
        """Yield inputs of the sheets' own blocks that changed."""
        for sheet in self.report.worked.plan.sheets.values():
            before = old.blocks.get(sheet.name, {})
            for node in sheet.nodes.values():
                if isinstance(node.how, Given) and node.name in before:
                    was, new = _text(before[node.name], node), _text(node.how.value, node)
                    if was != new:
                        changed = ("", f"{self.report.name}/{sheet.name}", node.name)
                        own = node.place.keys[:1] == ("sheets",)
                        what = f"{sheet.name} {node.name}" if own else node.name
                        yield Cause(self.line(node.place), what, was, new, changed)

    def formulas(self, old: Snapshot) -> Iterator[Cause]:
        """Yield formulas that changed."""
        for sheet in self.report.worked.plan.sheets.values():
            for node in sheet.nodes.values():
                was, new = old.formulas.get((sheet.name, node.name)), formula_text(node)
                if isinstance(node.how, Computed | Claimed) and was is not None and was != new:
                    changed = ("=", node.place.file, node.name)
                    yield Cause(self.line(node.place), node.name, was, new, changed)

    def line(self, place: Place) -> str:
        """Return file and line of a declaration, the file alone where no line is known."""
        found = located_place(place, self.project.root, self.project.project)
        return f"{found.file}:{found.line}" if found.line else found.file


def _fields(
    table: PlannedTable, now: TableRows, row: int, before: Mapping[str, CellValue]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the header, the field's name and both texts of each field of a row that changed.

    Columns that no field declares come last, as far as the workbook holds them.
    """
    headers = {each.name: each.column for each in table.typed}
    for field in table.fields:
        values = now.fields[field.name]
        blank = values.errors is not None and bool(values.errors[row])
        new = "blank" if blank else _text(values.data[row], field)
        was = _text(before.get(field.name), field)
        if was != new:
            yield headers.get(field.name, field.name), field.name, was, new
    for header, texts in now.scenario.documents.items() if now.scenario else ():
        was = str(before.get(header, texts[row]) or "")
        if header not in now.fields and was != texts[row]:
            yield header, header, was, texts[row]


def _text(value: object, node: Node) -> str:
    """Return a value as an author writes it: 3.0 for a number that need not be whole."""
    if isinstance(value, str):
        return "blank" if value == "#N/A" else value
    if value is None:
        return "blank"
    number = float(str(value))
    return number_text(number) if node.kind.whole else repr(number)
