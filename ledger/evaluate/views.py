"""Results as printed text: a table, the record of one row, or a matrix of one column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ledger.display import rules
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.language.expr import compile_to
from ledger.language.targets.latex import LATEX, symbol
from ledger.plan.plan import (
    ID,
    Claimed,
    Computed,
    Fetched,
    Node,
    Plan,
    PlannedSheet,
    PlannedView,
    PrintedColumn,
)
from ledger.values import ERROR_NAMES, Values, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.evaluate.evaluate import Result, SheetResult


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a view's column and what its footnotes need; `latex` is empty for an input or lookup."""

    name: str
    label: str
    unit: str
    formula: str
    latex: str
    source: str
    numeric: bool


@dataclass(frozen=True, slots=True)
class TabulatedView:
    """A view as text: the cells of `rows` as printed, those of `full` with every digit; `ids` name the rows.

    A record has one row.  A matrix has the printed `down` values as its first column.
    """

    name: str
    kind: str
    title: str
    headings: tuple[Heading, ...]
    ids: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    full_names: tuple[str, ...]
    full: tuple[tuple[str, ...], ...]
    templates: tuple[str, ...]
    place: Place


def tabulate(plan: Plan, result: Result, problems: Problems) -> tuple[TabulatedView, ...]:
    """Return every view of a report as text; one that names no row, or too many for a cell, is a problem."""
    found = []
    for view in plan.views:
        if view.sheet in result.sheets:
            try:
                found.append(_view(view, plan.sheets[view.sheet], result.sheets[view.sheet]))
            except LedgerError as error:
                problems.extend(error)
    return tuple(found)


def _view(view: PlannedView, sheet: PlannedSheet, result: SheetResult) -> TabulatedView:
    """Return one view as text; raise LedgerError for a row that is not there or a cell with two rows."""
    rows = row_numbers(view, result)
    printed = [_column(column, result, rows) for column in view.columns]
    full = [full_texts(result.values[column.node], rows) for column in view.columns]
    headings = tuple(_heading(column, sheet, result) for column in view.columns)
    if view.kind == "matrix":
        return _matrix(view, headings, printed, full)
    ids = result.ids[rows.start : rows.stop]
    names = tuple(column.name for column in view.columns)
    return TabulatedView(
        view.name, view.kind, view.title, headings, ids, tuple(zip(*printed, strict=True)),
        (ID, *names) if sheet.axes else names,
        tuple(zip(ids, *full, strict=True)) if sheet.axes else tuple(zip(*full, strict=True)),
        view.templates, view.place,
    )  # fmt: skip


def row_numbers(view: PlannedView, result: SheetResult) -> range:
    """Return the rows that a view prints: all of them, or the one of a record."""
    if not view.row:
        return range(len(result.ids))
    if view.row not in result.ids:
        at = Place(view.place.file, keys=(*view.place.keys, "row"), offset=0)
        raise LedgerError(
            Problem(f"sheet {view.sheet!r} has no row {view.row!r}", at, near(view.row, result.ids))
        )
    first = result.ids.index(view.row)
    return range(first, first + 1)


def cell_rows(view: PlannedView, result: SheetResult) -> dict[tuple[int, int], int]:
    """Return the row of the sheet that each cell of a matrix prints, by its row and column from 0."""
    rows = row_numbers(view, result)
    downs, acrosses = (_column(column, result, rows) for column in view.columns[:2])
    down = {text: i for i, text in enumerate(dict.fromkeys(downs))}
    across = {text: i for i, text in enumerate(dict.fromkeys(acrosses))}
    return {(down[a], across[b]): number for number, a, b in zip(rows, downs, acrosses, strict=True)}


def picked(values: Values, rows: range) -> Values:
    """Return the elements at `rows`; a column of one element has it in every row."""
    if len(values) == 1:
        return values.take(np.zeros(len(rows), dtype=np.intp))
    return values.take(slice(rows.start, rows.stop))


def _column(column: PrintedColumn, result: SheetResult, rows: range) -> list[str]:
    return rules.printed(column.ladder or rules.Ladder(()), picked(result.values[column.node], rows))


def full_texts(values: Values, rows: range) -> list[str]:
    """Return values with every digit, as a CSV holds them; an error goes by its name."""
    found = picked(values, rows)
    coded = zip(found.data.tolist(), found.codes().tolist(), strict=True)
    return [ERROR_NAMES[code] or plain(value) for value, code in coded]


def heading_text(column: PrintedColumn, sheet: PlannedSheet, result: SheetResult) -> str:
    """Return the heading of a column, its label with the printed value of each name in braces."""
    text = ""
    for before, name in column.heading:
        text += before
        if name in sheet.nodes:
            text += rules.printed(sheet.nodes[name].ladder or rules.Ladder(()), result.values[name])[0]
        elif name:
            text += f"{{{name}}}"
    return text


def _heading(column: PrintedColumn, sheet: PlannedSheet, result: SheetResult) -> Heading:
    """Return the heading of a column, with its formula in names and in LaTeX."""
    node = sheet.nodes[column.node]
    tree = node.how.declared if isinstance(node.how, Computed) else None
    return Heading(
        column.name, heading_text(column, sheet, result), node.unit, formula_text(node),
        f"{symbol(node.name)} = {compile_to(LATEX, tree, symbol)}" if tree else "",
        node.source, node.kind.kind == "number",
    )  # fmt: skip


def formula_text(node: Node) -> str:
    """Return the formula of a node in names, or its lookup as `table[keys].field`; empty for an input."""
    match node.how:
        case Computed(text=text):
            return text
        case Claimed(where=None, holds=holds):
            return holds.text
        case Claimed(where=Computed(text=where), holds=holds):
            return f"{holds.text} where {where}"
        case Fetched(table=table, field=field, keys=keys):
            return f"{table}[{', '.join(keys)}].{field}"
    return ""


def _matrix(
    view: PlannedView, headings: Sequence[Heading], printed: Sequence[list[str]], full: Sequence[list[str]]
) -> TabulatedView:
    down, across, cell = headings
    downs, acrosses = dict.fromkeys(printed[0]), dict.fromkeys(printed[1])
    cells: dict[tuple[str, str], tuple[str, str]] = {}
    for row, column, text, number in zip(*printed, full[2], strict=True):
        if (row, column) in cells:
            what = f"two rows of sheet {view.sheet!r} fall into the cell {row}, {column}"
            raise LedgerError(
                Problem(what, view.place, "choose 'down' and 'across' so that they tell rows apart")
            )
        cells[row, column] = (text, number)
    none = (rules.BLANK, "")
    rows, whole = (
        tuple((row, *(cells.get((row, column), none)[part] for column in acrosses)) for row in downs)
        for part in (0, 1)
    )
    tops = (replace(cell, label=f"{across.label} {each}") for each in acrosses)
    return TabulatedView(
        view.name, view.kind, view.title, (down, *tops), tuple(downs), rows,
        (down.name, *(f"{across.name}={each}" for each in acrosses)), whole, view.templates, view.place,
    )  # fmt: skip
