"""Where an input of a workbook comes from today: a field of a CSV, an item of a list, a declaration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.plan.plan import Given, Plan, PlannedTable
from ledger.xlsx.record import BLOCK

if TYPE_CHECKING:
    from ledger.book.render import EvaluatedReport
    from ledger.errors import Place
    from ledger.evaluate.lookups import TableRows
    from ledger.xlsx.cells import CellValue
    from ledger.xlsx.edits import InputEdit


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an input stands, and its value today.

    `table` is empty for an input of the sheet itself, `header` for what stands in no CSV; `text` is how it is
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
    table = standing(worked.plan, edit.sheet)
    if table is None or table.name not in worked.result.tables:
        return None
    rows = worked.result.tables[table.name]
    number = row_number(table, rows, edit.row)
    return None if number is None else _field(table, rows, number, edit.name)


def standing(plan: Plan, title: str) -> PlannedTable | None:
    """Return the table whose inputs stand on a worksheet."""
    if title in plan.tables and not plan.tables[title].sheet:
        return plan.tables[title]
    return next((table for table in plan.tables.values() if table.sheet == title), None)


def row_number(table: PlannedTable, rows: TableRows, id_: str) -> int | None:
    """Return the row that goes by an id on a worksheet, None if there is none."""
    if not table.sheet:
        return rows.numbers.get(id_)
    return next((i for i, key in enumerate(rows.keys) if key.replace("|", "/") == id_), None)


def _field(table: PlannedTable, rows: TableRows, number: int, name: str) -> Origin | None:
    if name not in rows.fields:
        documents = rows.scenario.documents if rows.scenario else {}
        if rows.scenario is None or name not in documents:
            return None
        place = scenario.place(rows.scenario, number, name)
        return Origin(table.name, number, name, place, documents[name][number])
    values = rows.fields[name]
    blank = values.errors is not None and bool(values.errors[number])
    today = None if blank else values.data[number]
    today = today if today is None or isinstance(today, str) else float(today)
    if rows.scenario is None:
        place = replace(table.place, keys=(*table.place.keys, number), offset=0)
        return Origin(table.name, number, "", place, today)
    header = next(each.column for each in table.typed if each.name == name)
    place = scenario.place(rows.scenario, number, header)
    return Origin(table.name, number, header, place, today, scenario.written(rows.scenario, number, header))
