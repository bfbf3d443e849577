"""A cell traced to its inputs: its precedents, its dependents, the place of each input in a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.declarations.scenario import SOURCES
from ledger.display import rules
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.evaluate.lookups import row_id
from ledger.evaluate.views import full_texts, picked
from ledger.plan.names import displayed
from ledger.plan.plan import (
    Fetched,
    Given,
    Node,
    Plan,
    PrintedText,
    RowField,
    precedents,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.evaluate.evaluate import Result
    from ledger.evaluate.lookups import TableRows


@dataclass(frozen=True, slots=True)
class Spot:
    """The address of a cell: a sheet, the number of the row from 0 (0 on a sheet of one row), a column."""

    sheet: str
    row: int
    name: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """An input that a cell is computed from: the place of its value in a file, and its declared source.

    `table` and `key` are empty for an input of the sheet itself.
    """

    name: str
    table: str
    key: str
    field: str
    place: Place
    source: str


def reads(plan: Plan, spot: Spot) -> tuple[str, ...]:
    """Return the precedents of a cell: the names that its own formula, lookup or printed text reads."""
    return precedents(plan.sheets[spot.sheet].nodes[spot.name])


def dependents(plan: Plan, spot: Spot) -> tuple[str, ...]:
    """Return the names of the sheet that are computed from a cell, in the order in which they are."""
    nodes = plan.sheets[spot.sheet].nodes
    found = {spot.name}
    for name in nodes:
        if found.intersection(precedents(nodes[name])):
            found.add(name)
    return tuple(
        name for name in nodes if name in found - {spot.name} and not isinstance(nodes[name].how, PrintedText)
    )


def leaves(plan: Plan, result: Result, spot: Spot) -> tuple[Leaf, ...]:
    """Return every input that a cell is computed from, each once, in the order in which they are read."""
    spots = (Spot(spot.sheet, spot.row, name) for name in names_behind(plan, spot))
    return tuple(leaf for each in spots for leaf in _leaf(plan, result, each))


def names_behind(plan: Plan, spot: Spot) -> tuple[str, ...]:
    """Return the names that a cell is computed from, each after its precedents; its own name comes last."""
    found: dict[str, None] = {}
    waiting = [(spot.name, False)]
    while waiting:
        name, is_read = waiting.pop()
        if is_read:
            found[name] = None
        elif name not in found:
            inner = reads(plan, Spot(spot.sheet, spot.row, name))
            waiting += [(name, True), *((each, False) for each in reversed(inner))]
    return tuple(found)


def _leaf(plan: Plan, result: Result, spot: Spot) -> Iterator[Leaf]:
    """Yield the input that a cell itself holds or fetches, none for a cell that is computed."""
    node = plan.sheets[spot.sheet].nodes[spot.name]
    match node.how:
        case Given():
            yield Leaf(node.name, "", "", node.name, node.place, node.source)
        case RowField(axis, field):
            table = plan.sheets[spot.sheet].axes[axis].table
            yield _table_leaf(plan, result, node, table, field, _row_of(result, spot, table))
        case Fetched(table, field, keys):
            values = result.sheets[spot.sheet].values
            row = range(spot.row, spot.row + 1)
            key = "|".join(str(picked(values[name], row).data[0]) for name in keys)
            number = result.tables[table].numbers.get(key)
            if number is not None:
                yield _table_leaf(plan, result, node, table, field, number)


def _row_of(result: Result, spot: Spot, table: str) -> int:
    """Return the number of the table's row with the id of a row of the sheet, whose filter may drop some."""
    wanted = result.sheets[spot.sheet].ids[spot.row]
    return next(i for i, key in enumerate(result.tables[table].keys) if row_id(key) == wanted)


def _table_leaf(plan: Plan, result: Result, node: Node, table: str, field: str, row: int) -> Leaf:
    """Return a field of a table's row as an input, at its cell of the CSV or its item of the list."""
    planned, rows = plan.tables[table], result.tables[table]
    if rows.scenario is None:
        place = replace(planned.place, keys=(*planned.place.keys, row), offset=0)
        return Leaf(node.name, table, rows.keys[row], field, place, node.source)
    header = next(each.column for each in planned.typed if each.name == field)
    place = scenario.place(rows.scenario, row, header)
    return Leaf(node.name, table, rows.keys[row], field, place, row_source(rows, row) or node.source)


def row_source(rows: TableRows, row: int) -> str:
    """Return the sources of a table's row, from its declared fields or from CSV columns beside them."""
    documents = rows.scenario.documents if rows.scenario else {}
    found = []
    for name in SOURCES:
        if name in rows.fields:
            values = rows.fields[name]
            found.append("" if values.errors is not None and values.errors[row] else str(values.data[row]))
        elif name in documents:
            found.append(documents[name][row])
    return "; ".join(each for each in found if each)


def find(path: str, plans: Mapping[str, tuple[Plan, Result]]) -> tuple[Plan, Result, Spot]:
    """Return the cell at the address REPORT/SHEET/ROW/COLUMN, whose ROW may hold slashes.

    Raises a LedgerError that names the part that is unknown and its near miss.
    """
    parts = path.split("/")
    if len(parts) < len(("report", "sheet", "column")):
        raise unknown(
            path, f"{path!r} is no cell", "name it REPORT/SHEET/ROW/COLUMN; a sheet of one row has no ROW"
        )
    report, name, row, column = parts[0], parts[1], "/".join(parts[2:-1]), parts[-1]
    if report not in plans:
        raise unknown(path, f"unknown report {report!r}", near(report, plans))
    plan, result = plans[report]
    if name not in plan.sheets:
        raise unknown(path, f"report {report!r} has no sheet {name!r}", near(name, plan.sheets))
    sheet, ids = plan.sheets[name], result.sheets[name].ids
    if row and not sheet.axes:
        raise unknown(path, f"sheet {name!r} has one row, without a name", f"write {report}/{name}/{column}")
    if sheet.axes and row not in ids:
        what = f"sheet {name!r} has no row {row!r}" if row else f"sheet {name!r} has rows: name one"
        raise unknown(path, what, near(row, ids))
    if column not in sheet.nodes:
        raise unknown(path, f"sheet {name!r} has no column {column!r}", near(column, sheet.nodes))
    return plan, result, Spot(name, ids.index(row) if sheet.axes else 0, column)


def unknown(path: str, what: str, hint: str) -> LedgerError:
    """Return the error of an address that leads to no cell."""
    return LedgerError(Problem(what if path in what else f"{path}: {what}", hint=hint))


def value_text(result: Result, spot: Spot) -> str:
    """Return the value of a cell with every digit; an error by its name."""
    return full_texts(result.sheets[spot.sheet].values[spot.name], range(spot.row, spot.row + 1))[0]


def printed_text(plan: Plan, result: Result, spot: Spot, rule: str = "") -> str:
    """Return a cell as it is printed by `rule`, by its own rule if that is empty."""
    node = plan.sheets[spot.sheet].nodes[spot.name]
    ladder = node.ladder or rules.Ladder(())
    if rule:
        problems = Problems()
        ladder = displayed(rule, node.kind, node.unit, Place(""), plan.atoms, problems).ladder
        if problems.found:
            raise LedgerError(*(replace(problem, place=None) for problem in problems.found))
    values = picked(result.sheets[spot.sheet].values[spot.name], range(spot.row, spot.row + 1))
    return rules.printed(ladder, values)[0]
