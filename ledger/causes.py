"""What changed since the committed workbooks were written: inputs, formulas, rows, files.

The workbook is the record: it holds every input, every formula in names, and a hash of each file that it
comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import scenario
from ledger.build import origins
from ledger.declarations import located_place
from ledger.errors import LedgerError
from ledger.plan import Computed, Given
from ledger.snapshot import Snapshot, read
from ledger.trace import Spot, formulas_behind, leaves
from ledger.values import number_text
from ledger.views import formula_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.build import Built, Worked
    from ledger.edition import Edition
    from ledger.errors import Place
    from ledger.plan import Node, PlannedTable

_LEDGER_FILE = ".xlsx"


@dataclass(frozen=True, slots=True)
class Cause:
    """A change: where it stands, what is called how, from what to what.

    `changed` says of which input: its table, key and field.  A sheet's own input has no table and its sheet
    as the key, a formula has "=" as the table, and a file has nothing at all.
    """

    place: str
    what: str
    old: str
    new: str
    changed: tuple[str, str, str] = ("", "", "")


Cell = tuple[str, Spot]


def causes(made: Edition) -> tuple[Cause, ...]:
    """Return every change that the committed workbooks can tell, in the order of the reports."""
    return tuple(dict.fromkeys(cause for built in made.built for cause in _of_report(made, built)))


def explains(reports: Mapping[str, Worked], found: Sequence[Cause], cell: Cell) -> tuple[Cause, ...]:
    """Return the causes that reach a cell: its inputs and its formulas, else the files that changed."""
    report, spot = cell
    worked = reports[report]
    reached = {
        (leaf.table, leaf.key if leaf.table else spot.sheet, leaf.field)
        for leaf in leaves(worked.plan, worked.result, spot)
    }
    reached |= {("=", "", name) for name in formulas_behind(worked.plan, spot)}
    fine = tuple(cause for cause in found if cause.changed in reached)
    return fine or tuple(cause for cause in found if not any(cause.changed))


def _of_report(made: Edition, built: Built) -> Iterator[Cause]:
    """Yield the changes of one report; files are named only where no finer change in them is known."""
    name = f"{built.name}{_LEDGER_FILE}"
    path = made.root / made.project.reports / built.name / name
    if not path.is_file():
        return
    try:
        old = read(name, path.read_bytes())
    except LedgerError:
        return
    fine = [*_inputs(built, old), *_given(made, built, old), *_formulas(made, built, old)]
    yield from fine
    known = {cause.place.partition(":")[0] for cause in fine}
    now = origins(built.worked)
    for file in sorted({*now, *old.files} - known) if old.files else ():  # an older build left no record
        if old.files.get(file) != now.get(file):
            what = "a template" if file.endswith(".j2") else "a label, a unit, a display rule or a view"
            yield Cause(
                file, what, "", "changed" if file in now and file in old.files else "added or removed"
            )


def _inputs(built: Built, old: Snapshot) -> Iterator[Cause]:
    """Yield inputs of scenario tables that changed, rows that came and rows that went."""
    plan, result = built.worked.plan, built.worked.result
    for name, table in plan.tables.items():
        before, now = old.rows.get(table.sheet or name, {}), result.tables[name]
        if not before:
            continue
        keys = [key.replace("|", "/") if table.sheet else key for key in now.keys]
        for row, key in enumerate(keys):
            if key not in before:
                yield Cause(_row_place(built, table, row, ""), f"row {key}", "", "new")
                continue
            for field in table.fields:
                values = now.fields[field.name]
                blank = values.errors is not None and bool(values.errors[row])
                new = "blank" if blank else _text(values.data[row], field)
                was = _text(before[key].get(field.name), field)
                if was != new:
                    place = _row_place(built, table, row, field.name)
                    changed = (name, now.keys[row], field.name)
                    yield Cause(place, _header(table, field.name), was, new, changed)
        for key in before.keys() - set(keys):
            source = table.source.name if table.source else plan.place.file
            yield Cause(source, f"row {key}", "", "gone")


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


def _row_place(built: Built, table: PlannedTable, row: int, field: str) -> str:
    rows = built.worked.result.tables[table.name].scenario
    if rows is None:
        return table.place.file
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
                    changed = ("", sheet.name, node.name)
                    yield Cause(_line(made, node.place), f"{sheet.name} {node.name}", was, new, changed)


def _formulas(made: Edition, built: Built, old: Snapshot) -> Iterator[Cause]:
    """Yield formulas that changed, and names that came or went."""
    plan = built.worked.plan
    for sheet in plan.sheets.values():
        for node in sheet.nodes.values():
            was = old.formulas.get((sheet.name, node.name))
            if isinstance(node.how, Computed) and was is not None and was != formula_text(node):
                changed = ("=", "", node.name)
                yield Cause(_line(made, node.place), node.name, was, formula_text(node), changed)


def _line(made: Edition, place: Place) -> str:
    found = located_place(place, made.root, made.project)
    return f"{found.file}:{found.line}" if found.line else found.file
