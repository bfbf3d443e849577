"""Drop-downs: each key in a cell is chosen from the keys of the table that it is looked up in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.language.expr import Name
from ledger.plan.plan import Computed, Fetched, Given, Plan, PlannedSheet, PlannedTable, RowField
from ledger.workbook.layout import Layout, TableLayout, span
from ledger.xlsx.places import VALUE

if TYPE_CHECKING:
    from ledger.evaluate.evaluate import Result
    from ledger.evaluate.lookups import TableRows
    from ledger.workbook.pages import Area


def choices(plan: Plan, result: Result, layout: Layout) -> dict[str, dict[Area, str]]:
    """Return the drop-downs of each worksheet: the cells, and the range that they are chosen from.

    A table with several keys offers one of them only where no other table does and no value comes twice:
    a drop-down is a range, so that what is added to the table is offered too.
    """
    wanted = [
        (sheet, node.how.table, i, key, len(node.how.keys))
        for sheet in plan.sheets.values()
        for node in sheet.nodes.values()
        if isinstance(node.how, Fetched)
        for i, key in enumerate(node.how.keys)
    ]
    found: dict[str, dict[Area, str]] = {}
    for sheet, table, part, key, parts in sorted(wanted, key=lambda each: each[-1] > 1):
        at, cells = layout.tables[table], _cells(sheet, key, layout)
        column = at.keys if parts == 1 else _distinct(plan.tables[table], result.tables[table], at, part)
        if cells and column:
            title, area = cells
            found.setdefault(title, {}).setdefault(area, span(at.sheet, column, at.first, at.last))
    return found


def _cells(sheet: PlannedSheet, key: str, layout: Layout) -> tuple[str, Area] | None:
    """Return the worksheet and the cells of a key; it may be another key by default, or a table's field."""
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


def _distinct(table: PlannedTable, rows: TableRows, at: TableLayout, part: int) -> int | None:
    """Return the column of a part of a table's keys, None if a value comes twice in it."""
    columns = {**at.parts, **{field.column: at.columns[field.name] for field in table.typed}}
    is_distinct = len({key.split("|")[part] for key in rows.keys}) == len(rows.keys)
    return columns.get(table.source.key[part]) if table.source and is_distinct else None
