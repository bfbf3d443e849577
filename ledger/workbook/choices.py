"""Drop-downs: each key that stands in a cell is chosen from the keys of the table it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.language.expr import Name
from ledger.plan.plan import Computed, Fetched, Given, Plan, PlannedSheet, PlannedTable, RowField
from ledger.workbook.layout import Layout, TableLayout, span
from ledger.xlsx.places import VALUE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.evaluate.evaluate import Result
    from ledger.workbook.pages import Area


def choices(plan: Plan, result: Result, layout: Layout) -> dict[str, dict[Area, str]]:
    """Return the drop-downs of each worksheet: the cells, and the range that they are chosen from.

    A table with several keys offers one of them only where no other table does and no value comes twice:
    a drop-down is a range, so that what is added to the table is offered too.
    """
    found: dict[str, dict[Area, str]] = {}
    several = []
    for sheet in plan.sheets.values():
        for node in sheet.nodes.values():
            match node.how:
                case Fetched(table=table, keys=(key,)):
                    at = layout.tables[table]
                    _offer(found, _cells(sheet, key, layout), at, at.keys)
                case Fetched(table=table, keys=keys):
                    several += [(sheet, key, table, i) for i, key in enumerate(keys)]
    for sheet, key, table, i in several:
        at = layout.tables[table]
        for column in _distinct(plan.tables[table], result.tables[table].keys, at, i):
            _offer(found, _cells(sheet, key, layout), at, column)
    return found


def _offer(
    found: dict[str, dict[Area, str]], cells: tuple[str, Area] | None, at: TableLayout, column: int
) -> None:
    if cells is not None:
        title, area = cells
        found.setdefault(title, {}).setdefault(area, span(at.sheet, column, at.first, at.last))


def _cells(sheet: PlannedSheet, key: str, layout: Layout) -> tuple[str, Area] | None:
    """Return where a key stands as a value: a key may be another one by default, or a field of a table."""
    on = layout.sheets[sheet.name]
    match sheet.nodes[key].how:
        case Given():
            return sheet.name, (on.block[key], on.block[key], VALUE)
        case RowField():
            return sheet.name, (on.first, on.last, on.columns[key])
        case Fetched(table, field, _):
            at = layout.tables[table]
            return at.sheet, (at.first, at.last, at.columns[field])
        case Computed(expr=expr):
            return _cells(sheet, expr.id, layout) if isinstance(expr, Name) else None
    return None


def _distinct(table: PlannedTable, keys: tuple[str, ...], at: TableLayout, part: int) -> Iterator[int]:
    """Yield the column of a part of a table's keys, if each of its values stands there once."""
    header = table.source.key[part] if table.source else ""
    typed: Mapping[str, int] = {field.column: at.columns[field.name] for field in table.typed}
    column = at.parts.get(header) or typed.get(header)
    if column and len({key.split("|")[part] for key in keys}) == len(keys):
        yield column
