"""A report with a reviewer's edits in it: where they belong today, and what it would print with them.

An input belongs into a field of a CSV, an item of a list, or a declaration.  Our own engine computes all: the
values in an edited workbook are not taken, for it may come from a program that does not calculate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.declarations.files import content
from ledger.declarations.scenario import FieldEdit, Scenario, edited
from ledger.errors import LedgerError, Problem, Problems
from ledger.evaluate.evaluate import Override, evaluate
from ledger.evaluate.lookups import row_id
from ledger.evaluate.trace import Spot, reads
from ledger.evaluate.views import TabulatedView, tabulate
from ledger.language.expr import expand, names
from ledger.plan.plan import Fetched, Given, Node, Plan, PlannedSheet, PlannedTable
from ledger.xlsx.changes import text_of
from ledger.xlsx.formulas import tree
from ledger.xlsx.places import PRINTED
from ledger.xlsx.readback import Known, read_back
from ledger.xlsx.record import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ledger.book.render import EvaluatedReport
    from ledger.errors import Place
    from ledger.evaluate.lookups import TableRows
    from ledger.xlsx.edits import FormulaEdit, InputEdit
    from ledger.xlsx.reading import Reading
    from ledger.xlsx.workbook import CellValue


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """A printed cell that would change: the view, the row's id, the column, its texts before and then."""

    view: str
    row: str
    column: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What edits would do: printed cells that change, bytes of CSVs, problems, edits that are left out."""

    cells: tuple[ChangedCell, ...]
    files: Mapping[Path, bytes]
    faults: tuple[Problem, ...]
    beyond: tuple[str, ...]


def known(base: Reading, plan: Plan, sheet: str) -> Known:
    """Return what formulas of a sheet can name, its lookups as today's workbook spells them."""
    nodes = plan.sheets[sheet].nodes
    lookups = {
        name: tree(formula)
        for (title, _), region in base.record.regions.items()
        for name, formula in region.formulas.items()
        if title == sheet and name in nodes and isinstance(nodes[name].how, Fetched)
    }
    texts = frozenset(name for name, node in nodes.items() if node.kind.kind == "text")
    return Known(frozenset(nodes), texts, lookups)


@dataclass(frozen=True, slots=True)
class Origin:
    """The place of an input in today's project, and its value there.

    `table` is empty for an input of the sheet itself, `header` for an input in no CSV; `text` is how it is
    written in one.
    """

    table: str
    row: int
    header: str
    place: Place
    today: CellValue
    text: str = ""


def origin(worked: EvaluatedReport, edit: InputEdit) -> Origin | None:
    """Return where an edited input comes from, None if today's project has no such input."""
    if edit.kind == BLOCK:
        sheet = worked.plan.sheets.get(edit.sheet)
        node = sheet.nodes.get(edit.name) if sheet else None
        if node is None or not isinstance(node.how, Given):
            return None
        return Origin("", 0, "", node.place, node.how.value)
    table = table_of(worked, edit.sheet)
    if table is None or table.name not in worked.result.tables:
        return None
    rows = worked.result.tables[table.name]
    numbers = {row_id(key): i for i, key in enumerate(rows.keys)} if table.sheet else rows.numbers
    return _field(table, rows, numbers[edit.row], edit.name) if edit.row in numbers else None


def table_of(worked: EvaluatedReport, title: str) -> PlannedTable | None:
    """Return the table whose inputs a worksheet holds: the table of that name, or that of a sheet's rows."""
    tables = worked.plan.tables
    if title in tables and not tables[title].sheet:
        return tables[title]
    return next((table for table in tables.values() if table.sheet == title), None)


def _field(table: PlannedTable, rows: TableRows, number: int, name: str) -> Origin | None:
    """Return the origin of a field of a row, None if the table has no such field today."""
    if name not in rows.fields:
        if rows.scenario is None or name not in rows.scenario.documents:
            return None
        place = scenario.place(rows.scenario, number, name)
        return Origin(table.name, number, name, place, rows.scenario.documents[name][number])
    values = rows.fields[name]
    blank = values.errors is not None and bool(values.errors[number])
    today = None if blank else values.data[number]
    today = today if today is None or isinstance(today, str) else float(today)
    if rows.scenario is None:
        return Origin(table.name, number, "", table.place.inside(number), today)
    header = next(each.column for each in table.typed if each.name == name)
    place = scenario.place(rows.scenario, number, header)
    return Origin(table.name, number, header, place, today, scenario.written(rows.scenario, number, header))


def effect(
    worked: EvaluatedReport,
    base: Reading,
    inputs: Sequence[tuple[InputEdit, Origin]],
    formulas: Sequence[FormulaEdit],
) -> Effect:
    """Return what the edits would change, `base` being today's workbook."""
    beyond: list[str] = []
    faults, problems = Problems(), Problems()
    rows, files = _scenarios(worked, inputs, faults)
    plan = _with_inputs(worked.plan, inputs)
    plan, overrides = _with_formulas(plan, base, formulas, beyond)
    result = evaluate(plan, rows, problems, overrides)
    views = tabulate(plan, result, problems)
    beyond += (f"nothing can be computed: {problem.what}" for problem in problems.found)
    cells = () if problems.found else tuple(_changed(worked.views, views))
    return Effect(cells, files, tuple(faults.found), tuple(beyond))


def _scenarios(
    worked: EvaluatedReport, inputs: Sequence[tuple[InputEdit, Origin]], faults: Problems
) -> tuple[dict[str, Scenario], dict[Path, bytes]]:
    """Return the scenarios of all tables with edits in them, and the new bytes of those that have some."""
    tables = {name: rows.scenario for name, rows in worked.result.tables.items()}
    found = {name: rows for name, rows in tables.items() if rows is not None}
    files: dict[Path, bytes] = {}
    for name, rows in list(found.items()):
        wanted = [FieldEdit(at.row, at.header, text_of(edit.new)) for edit, at in inputs if at.table == name]
        if not wanted:
            continue
        problems, path = Problems(), rows.source.path
        try:
            data = edited(rows, content(path, rows.source.name), wanted)
            new = scenario.parsed(rows.source, data, rows.fields, problems)
        except LedgerError as error:
            problems.extend(error)
            new = None
        if new is None:
            faults.found += problems.found
        else:
            found[name], files[path] = new, data
    return found, files


def _with_inputs(plan: Plan, inputs: Sequence[tuple[InputEdit, Origin]]) -> Plan:
    """Return the plan with inputs of blocks and items of lists as they were edited."""
    sheets, tables = dict(plan.sheets), dict(plan.tables)
    for edit, at in inputs:
        if not isinstance(edit.new, float | str) or at.header:
            continue
        if edit.kind == BLOCK:
            nodes = dict(sheets[edit.sheet].nodes)
            nodes[edit.name] = replace(nodes[edit.name], how=Given(edit.new))
            sheets[edit.sheet] = replace(sheets[edit.sheet], nodes=nodes)
        else:
            listed = list(tables[at.table].listed)
            listed[at.row] = edit.new
            tables[at.table] = replace(tables[at.table], listed=tuple(listed))
    return replace(plan, sheets=sheets, tables=tables)


def _with_formulas(
    plan: Plan, base: Reading, formulas: Iterable[FormulaEdit], beyond: list[str]
) -> tuple[Plan, dict[tuple[str, str], tuple[Override, ...]]]:
    """Return the plan in an order in which the edited formulas can be computed, and these as overrides."""
    overrides: dict[tuple[str, str], tuple[Override, ...]] = {}
    for edit in formulas:
        if edit.sheet == PRINTED:
            continue
        node = plan.sheets[edit.sheet].nodes.get(edit.name) if edit.sheet in plan.sheets else None
        override = None if node is None else _override(node, edit, known(base, plan, edit.sheet))
        if override is None:
            beyond.append(f"{edit.address}: what stands there has no meaning in the declared language")
        else:
            key = edit.sheet, edit.name
            overrides[key] = (*overrides.get(key, ()), override)
    sheets = dict(plan.sheets)
    for name in dict.fromkeys(sheet for sheet, _ in overrides):
        ordered = _ordered(plan, sheets[name], overrides)
        if ordered is None:
            beyond.append(f"{name}: the edited formulas read each other in a circle")
            overrides = {key: override for key, override in overrides.items() if key[0] != name}
        else:
            sheets[name] = ordered
    return replace(plan, sheets=sheets), overrides


def _override(node: Node, edit: FormulaEdit, known: Known) -> Override | None:
    """Return the value or formula that replaces a node's own in its rows, None if it cannot be computed."""
    rows = None if edit.kind == BLOCK else frozenset(edit.rows)
    if edit.new is not None:
        expr = read_back(edit.new, known)
        if expr is None or known.is_text(expr) != (node.kind.kind == "text"):
            return None
        return Override(expand(expr), rows)
    fits = isinstance(edit.value, str if node.kind.kind == "text" else float)
    return Override(edit.value, rows) if fits and isinstance(edit.value, str | float) else None


def _ordered(
    plan: Plan, sheet: PlannedSheet, overrides: Mapping[tuple[str, str], Sequence[Override]]
) -> PlannedSheet | None:
    """Return a sheet with each node after all nodes that it reads, None if that is not possible."""
    wanted = {
        name: {
            *reads(plan, Spot(sheet.name, 0, name)),
            *(each.id for own in overrides.get((sheet.name, name), ()) for each in names(own.expr())),
        }
        for name in sheet.nodes
    }
    found: dict[str, Node] = {}
    waiting = list(sheet.nodes)
    while waiting:
        ready = [name for name in waiting if wanted[name] <= found.keys()]
        if not ready:
            return None
        found.update((name, sheet.nodes[name]) for name in ready)
        waiting = [name for name in waiting if name not in found]
    return replace(sheet, nodes=found)


def _changed(before: Sequence[TabulatedView], after: Sequence[TabulatedView]) -> Iterator[ChangedCell]:
    """Yield the printed cells that differ; a row that is new has no old text."""
    old = {view.name: dict(_texts(view)) for view in before}
    for view in after:
        was = old.get(view.name, {})
        for (row, column), text in _texts(view):
            if was.get((row, column), "") != text:
                yield ChangedCell(view.name, row, column, was.get((row, column), ""), text)


def _texts(view: TabulatedView) -> Iterator[tuple[tuple[str, str], str]]:
    ids = view.ids if view.kind != "matrix" else tuple(row[0] for row in view.rows)
    for id_, row in zip(ids, view.rows, strict=True):
        for heading, text in zip(view.headings, row, strict=True):
            column = heading.label if view.kind == "matrix" else heading.name
            yield (id_, column), text
