"""A report with a reviewer's edits in it: what it would print, computed by our own engine.

The values that stand in an edited workbook are not taken: it may come from a program that does not calculate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.declarations.scenario import FieldEdit, Scenario, edited
from ledger.errors import LedgerError, Problem, Problems
from ledger.evaluate.evaluate import evaluate
from ledger.evaluate.overrides import Override
from ledger.evaluate.trace import Spot, reads
from ledger.evaluate.views import TabulatedView, tabulate
from ledger.language.expr import Expr, expand, names
from ledger.plan.plan import Fetched, Given, Node, Plan, PlannedSheet
from ledger.xlsx.changes import text_of
from ledger.xlsx.formulatree import tree
from ledger.xlsx.places import PRINTED
from ledger.xlsx.readback import Known, read_back
from ledger.xlsx.record import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.book.render import EvaluatedReport
    from ledger.review.review.sources import Origin
    from ledger.xlsx.edits import FormulaEdit, InputEdit
    from ledger.xlsx.reading import Reading


@dataclass(frozen=True, slots=True)
class MovedCell:
    """A printed cell that would move: the view, the row's id, the column, both texts."""

    view: str
    row: str
    column: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What edits would move; the new bytes of CSVs by table; what they cannot hold; what is not in it."""

    moved: tuple[MovedCell, ...]
    files: Mapping[str, bytes]
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


def effect(
    worked: EvaluatedReport,
    base: Reading,
    inputs: Sequence[tuple[InputEdit, Origin]],
    formulas: Sequence[FormulaEdit],
    scenarios: Mapping[str, bytes],
) -> Effect:
    """Return what the edits would move; `scenarios` are the bytes of each table's CSV."""
    beyond: list[str] = []
    faults = Problems()
    rows, files = _tables(worked, inputs, scenarios, faults)
    plan = _with_inputs(worked.plan, inputs)
    plan, pins = _with_formulas(plan, base, formulas, beyond)
    problems = Problems()
    result = evaluate(plan, rows, problems, pins)
    views = tabulate(plan, result, problems)
    beyond += (f"nothing can be computed: {problem.what}" for problem in problems.found)
    moved = () if problems.found else tuple(_moved(worked.views, views))
    return Effect(moved, files, tuple(faults.found), tuple(beyond))


def _tables(
    worked: EvaluatedReport,
    inputs: Sequence[tuple[InputEdit, Origin]],
    scenarios: Mapping[str, bytes],
    faults: Problems,
) -> tuple[dict[str, Scenario], dict[str, bytes]]:
    """Return the scenarios of all tables with edits in them, and the new bytes of those that have some."""
    tables = {name: rows.scenario for name, rows in worked.result.tables.items()}
    found = {name: rows for name, rows in tables.items() if rows is not None}
    files: dict[str, bytes] = {}
    for name, rows in list(found.items()):
        wanted = [FieldEdit(at.row, at.header, text_of(edit.new)) for edit, at in inputs if at.table == name]
        if not wanted:
            continue
        problems = Problems()
        try:
            data = edited(rows, scenarios[name], wanted)
            new = scenario.parsed(rows.source, data, rows.fields, problems)
        except LedgerError as error:
            problems.extend(error)
            new = None
        if new is None:
            faults.found += problems.found
        else:
            found[name], files[name] = new, data
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
    """Return the plan in an order in which the edited formulas can be computed, and what is pinned."""
    pins: dict[tuple[str, str], tuple[Override, ...]] = {}
    for edit in formulas:
        if edit.sheet == PRINTED:
            continue
        node = plan.sheets[edit.sheet].nodes.get(edit.name) if edit.sheet in plan.sheets else None
        pin = None if node is None else _pin(node, edit, known(base, plan, edit.sheet))
        if pin is None:
            beyond.append(f"{edit.address}: what stands there has no meaning in the declared language")
        else:
            key = edit.sheet, edit.name
            pins[key] = (*pins.get(key, ()), pin)
    sheets = dict(plan.sheets)
    for name in dict.fromkeys(sheet for sheet, _ in pins):
        ordered = _ordered(plan, sheets[name], pins)
        if ordered is None:
            beyond.append(f"{name}: the edited formulas read each other in a circle")
            pins = {key: pin for key, pin in pins.items() if key[0] != name}
        else:
            sheets[name] = ordered
    return replace(plan, sheets=sheets), pins


def _pin(node: Node, edit: FormulaEdit, known: Known) -> Override | None:
    """Return what stands in a cell instead of its formula, None where it cannot be computed."""
    rows = None if edit.kind == BLOCK else frozenset(edit.rows)
    if edit.new is not None:
        expr = read_back(edit.new, known)
        return None if expr is None else Override(expand(expr), rows)
    fits = isinstance(edit.value, str if node.kind.kind == "text" else float)
    return Override(edit.value, rows) if fits and isinstance(edit.value, str | float) else None


def _ordered(
    plan: Plan, sheet: PlannedSheet, pins: Mapping[tuple[str, str], Sequence[Override]]
) -> PlannedSheet | None:
    """Return a sheet whose nodes stand after all that they read, None if that is not possible."""
    wanted = {
        name: [*reads(plan, Spot(sheet.name, 0, name)), *_pinned_names(pins.get((sheet.name, name), ()))]
        for name in sheet.nodes
    }
    found: dict[str, Node] = {}
    waiting = list(sheet.nodes)
    while waiting:
        ready = [name for name in waiting if all(each in found for each in wanted[name])]
        if not ready:
            return None
        found.update((name, sheet.nodes[name]) for name in ready)
        waiting = [name for name in waiting if name not in found]
    return replace(sheet, nodes=found)


def _pinned_names(pins: Iterable[Override]) -> Iterator[str]:
    exprs: list[Expr] = [pin.expr() for pin in pins]
    return (each.id for expr in exprs for each in names(expr))


def _moved(before: Sequence[TabulatedView], after: Sequence[TabulatedView]) -> Iterator[MovedCell]:
    """Yield the printed cells that differ; a row that is new has no old text."""
    old = {view.name: dict(_texts(view)) for view in before}
    for view in after:
        was = old.get(view.name, {})
        for (row, column), text in _texts(view):
            if was.get((row, column), "") != text:
                yield MovedCell(view.name, row, column, was.get((row, column), ""), text)


def _texts(view: TabulatedView) -> Iterator[tuple[tuple[str, str], str]]:
    ids = view.ids if view.kind != "matrix" else tuple(row[0] for row in view.rows)
    for id_, row in zip(ids, view.rows, strict=True):
        for heading, text in zip(view.headings, row, strict=True):
            column = heading.label if view.kind == "matrix" else heading.name
            yield (id_, column), text
