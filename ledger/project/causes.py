"""What changed since the committed workbooks were written: inputs, formulas, rows, files.

The workbook is the record: it holds every input, every formula in names, and a hash of each file that it
comes from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.declarations.project import PROJECT_FILE
from ledger.declarations.toml import located_place
from ledger.errors import LedgerError, Place
from ledger.evaluate.trace import Spot, leaves, names_behind
from ledger.evaluate.views import formula_text
from ledger.plan.plan import Claimed, Computed, Given, Node, PlannedTable
from ledger.project.build import Built, Edition, origins
from ledger.project.differences import GONE, ReportCell
from ledger.values import number_text
from ledger.xlsx.record import Snapshot, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.book.render import EvaluatedReport
    from ledger.xlsx.cells import CellValue

_LEDGER_FILE = ".xlsx"
#: What is known to have changed in a file, by its name or its ending.
_WHOLE = {
    PROJECT_FILE: "the language",
    ".j2": "a template",
    ".toml": "a label, a unit, a display rule or a view",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """A change: where it stands, what is called how, from what to what.

    `changed` says of which input: its table, key and field, of a row its table and key.  A sheet's own input
    has no table and REPORT/SHEET as the key; a formula has "=" as the table and its file as the key; a file
    has nothing at all.
    """

    place: str
    what: str
    old: str
    new: str
    changed: tuple[str, str, str] = ("", "", "")

    @property
    def file(self) -> str:
        """The file that the change stands in."""
        return self.place.partition(":")[0]

    def is_whole(self) -> bool:
        """Whether all that is known is that a file changed."""
        return not any(self.changed)


def causes(made: Edition) -> tuple[Cause, ...]:
    """Return every change that the committed workbooks can tell, in the order of the reports."""
    return tuple(dict.fromkeys(cause for built in made.built for cause in _of_report(made, built)))


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
    """Yield what a cell comes from, spelled as causes spell it."""
    for leaf in leaves(worked.plan, worked.result, spot):
        key = leaf.key if leaf.table else f"{worked.plan.name}/{spot.sheet}"
        yield leaf.table, key, leaf.field
        if leaf.table:
            yield leaf.table, leaf.key, ""
    for name in names_behind(worked.plan, spot):
        yield "=", worked.plan.sheets[spot.sheet].nodes[name].place.file, name


def _of_report(made: Edition, built: Built) -> Iterator[Cause]:
    """Yield the changes of one report: those known exactly, then the files that changed."""
    name = f"{built.name}{_LEDGER_FILE}"
    path = made.root / made.project.reports / built.name / name
    if not path.is_file():
        return
    try:
        old = snapshot(name, path.read_bytes())
    except LedgerError:
        return
    yield from _inputs(made, built, old)
    yield from _given(made, built, old)
    yield from _formulas(made, built, old)
    now = origins(built.worked)
    for file in sorted({*now, *old.files}) if old.files else ():  # an older build left no record
        if old.files.get(file) != now.get(file):
            new = "changed" if file in now and file in old.files else "added or removed"
            yield Cause(file, _WHOLE.get(file, _WHOLE[PurePosixPath(file).suffix]), "", new)


def _inputs(made: Edition, built: Built, old: Snapshot) -> Iterator[Cause]:
    """Yield inputs of scenario tables that changed, rows that came, went or changed places."""
    plan, result = built.worked.plan, built.worked.result
    for name, table in plan.tables.items():
        before, now = old.rows.get(table.sheet or name, {}), result.tables[name]
        if not before:
            continue
        keys = [key.replace("|", "/") if table.sheet else key for key in now.keys]
        for row, key in enumerate(keys):
            if key not in before:
                place, changed = _row_place(made, built, table, row, ""), (name, now.keys[row], "")
                yield Cause(place, f"{_row_word(table)} {key}", "", "new", changed)
                continue
            for field in table.fields:
                values = now.fields[field.name]
                blank = values.errors is not None and bool(values.errors[row])
                new = "blank" if blank else _text(values.data[row], field)
                was = _text(before[key].get(field.name), field)
                if was != new:
                    place = _row_place(made, built, table, row, field.name)
                    changed = (name, now.keys[row], field.name)
                    yield Cause(place, _header(table, field.name), was, new, changed)
            yield from _documents(made, built, table, row, before[key])
        yield from _rows(made, table, [*before], keys)


def _documents(
    made: Edition, built: Built, table: PlannedTable, row: int, before: Mapping[str, CellValue]
) -> Iterator[Cause]:
    """Yield what changed in columns that no field declares, as far as the workbook shows them."""
    rows = built.worked.result.tables[table.name]
    for header, texts in rows.scenario.documents.items() if rows.scenario else ():
        was = before.get(header, texts[row])
        if header not in rows.fields and (was or "") != texts[row]:
            place = _row_place(made, built, table, row, header)
            yield Cause(place, header, str(was or ""), texts[row], (table.name, rows.keys[row], header))


def _rows(made: Edition, table: PlannedTable, before: Sequence[str], keys: Sequence[str]) -> Iterator[Cause]:
    """Yield the rows of a table that went, and whether those that stayed changed places."""
    place = table.source.name if table.source else _line(made, table.place)
    for key in before:
        if key not in keys:
            yield Cause(place, f"{_row_word(table)} {key}", "", "gone", (table.name, key, ""))
    if [key for key in before if key in keys] != [key for key in keys if key in before]:
        what = "rows" if table.source else _row_word(table)
        yield Cause(place, what, "", "in another order", (table.name, "", ""))


def _row_word(table: PlannedTable) -> str:
    """Return what a row is called: of a list, the value of an input on a sheet."""
    return "row" if table.source else f"{table.place.keys[1]} {table.fields[0].name}"


def _text(value: object, node: Node) -> str:
    """Return a value as an author writes it: 3.0 for a number that need not be whole."""
    if isinstance(value, str):
        return "blank" if value == "#N/A" else value
    if value is None:
        return "blank"
    number = float(str(value))
    return number_text(number) if node.kind.whole else repr(number)


def _header(table: PlannedTable, field: str) -> str:
    return next((each.column for each in table.typed if each.name == field), field)


def _row_place(made: Edition, built: Built, table: PlannedTable, row: int, field: str) -> str:
    rows = built.worked.result.tables[table.name].scenario
    if rows is None:
        return _line(made, replace(table.place, keys=(*table.place.keys, row), offset=0))
    place = scenario.place(rows, row, _header(table, field) if field else next(iter(rows.columns)))
    return f"{place.file}:{place.line}"


def _given(made: Edition, built: Built, old: Snapshot) -> Iterator[Cause]:
    """Yield inputs of the sheets' own blocks that changed."""
    plan = built.worked.plan
    for sheet in plan.sheets.values():
        before = old.blocks.get(sheet.name, {})
        for node in sheet.nodes.values():
            if isinstance(node.how, Given) and node.name in before:
                was, new = _text(before[node.name], node), _text(node.how.value, node)
                if was != new:
                    changed = ("", f"{plan.name}/{sheet.name}", node.name)
                    what = f"{sheet.name} {node.name}" if node.place.keys[:1] == ("sheets",) else node.name
                    yield Cause(_line(made, node.place), what, was, new, changed)


def _formulas(made: Edition, built: Built, old: Snapshot) -> Iterator[Cause]:
    """Yield formulas that changed, and names that came or went."""
    plan = built.worked.plan
    for sheet in plan.sheets.values():
        for node in sheet.nodes.values():
            was = old.formulas.get((sheet.name, node.name))
            computed = isinstance(node.how, Computed | Claimed)
            if computed and was is not None and was != formula_text(node):
                changed = ("=", node.place.file, node.name)
                yield Cause(_line(made, node.place), node.name, was, formula_text(node), changed)


def _line(made: Edition, place: Place) -> str:
    found = located_place(place, made.root, made.project)
    return f"{found.file}:{found.line}" if found.line else found.file
