"""A scenario table as a page: each input in one cell, its label and unit above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.evaluate.trace import row_source
from ledger.values import texts
from ledger.workbook.layout import Layout, TableLayout, cell
from ledger.workbook.ledgersheet import MOST_NOTES
from ledger.workbook.pages import One, Page, SheetTable, column_width, height, row, shown_values
from ledger.workbook.styles import Styles, number_format
from ledger.xlsx.sheetdata import ROW, Band, Cells

if TYPE_CHECKING:
    from ledger.evaluate.lookups import TableRows
    from ledger.evaluate.notes import Notes
    from ledger.plan.plan import Node, PlannedTable


def table_page(table: PlannedTable, rows: TableRows, notes: Notes, layout: Layout, styles: Styles) -> Page:
    """Return the page of a table that stands on no ledger sheet."""
    at = layout.tables[table.name]
    columns = [*_key_columns(table, rows, at, styles), *_field_columns(table, rows, at, styles)]
    style = styles.number("document", kind="typed")
    columns += [Cells(i, style, texts(_documents(rows, name))) for name, i in at.documents.items()]
    widths = _widths(table, rows, at)
    file = table.source.name if table.source else ""
    bands = [row(1, {1: One(styles.number("title"), f"{table.label} · {table.name}")}, 22)]
    if file:
        bands.append(row(2, {1: One(styles.number("basis"), file)}))
    bands += _above(table, at, widths, styles)
    names = at.headers
    bands.append(_header(at, styles))
    bands.append(Band(at.first, tuple(columns)))
    return Page(
        table.name, tuple(bands), widths, {**_notes(table, at), **_cell_notes(table, rows, at, notes)},
        table=SheetTable(f"{table.name}_rows", names, at.header, at.last),
        fold=at.first, repeat=(at.header, at.header), width=len(names),
    )  # fmt: skip


def _header(at: TableLayout, styles: Styles) -> Band:
    looks = dict.fromkeys(at.documents.values(), "document head")
    heads = enumerate(at.headers, 1)
    return row(at.header, {i: One(styles.number(looks.get(i, "column head")), name) for i, name in heads})


def _key_columns(table: PlannedTable, rows: TableRows, at: TableLayout, styles: Styles) -> list[Cells]:
    """Return the keys, and their parts where there are several; a key of parts is a formula of them."""
    style = styles.number("id", kind="typed")
    if not at.parts and (table.source is None or len(table.source.key) == 1):
        return [Cells(1, style, texts(rows.keys))]
    parts = [Cells(column, style, texts(_documents(rows, name))) for name, column in at.parts.items()]
    typed = {field.column: field.name for field in table.typed}
    columns = {**at.parts, **{head: at.columns[name] for head, name in typed.items()}}
    formula = '&"|"&'.join(cell(columns[head], ROW) for head in (table.source.key if table.source else ()))
    return [Cells(1, styles.number("id"), texts(rows.keys), formula), *parts]


def _documents(rows: TableRows, header: str) -> tuple[str, ...]:
    return rows.scenario.documents[header] if rows.scenario else ()


def _field_columns(table: PlannedTable, rows: TableRows, at: TableLayout, styles: Styles) -> list[Cells]:
    return [
        Cells(at.columns[field.name], _style(field, styles), rows.fields[field.name])
        for field in table.fields
    ]


def _style(field: Node, styles: Styles) -> int:
    return styles.number("input", number_format(field), "typed" if field.kind.kind == "text" else "number")


def _above(table: PlannedTable, at: TableLayout, widths: dict[int, float], styles: Styles) -> list[Band]:
    """Return labels and units above the header."""
    labels = {at.columns[field.name]: field.label for field in table.fields if field.label != field.name}
    units = {at.columns[field.name]: field.unit for field in table.fields if field.unit}
    found = []
    for number, look, told in ((at.header - 2, "label", labels), (at.header - 1, "unit", units)):
        if told:
            tall = height({text: widths[column] for column, text in told.items()})
            found.append(
                row(number, {column: One(styles.number(look), text) for column, text in told.items()}, tall)
            )
    return found


def _widths(table: PlannedTable, rows: TableRows, at: TableLayout) -> dict[int, float]:
    widths = {1: column_width([at.key + "  ", *rows.keys], 40)}
    for name, column in (*at.parts.items(), *at.documents.items()):
        widths[column] = column_width([name + "  ", *_documents(rows, name)], 40 if name in at.parts else 60)
    for field in table.fields:
        shown = shown_values(rows.fields[field.name], number_format(field))
        widths[at.columns[field.name]] = column_width([field.name + "  ", *shown], 80)
    return widths


def _notes(table: PlannedTable, at: TableLayout) -> dict[tuple[int, int], str]:
    found = {}
    for field in table.fields:
        text = "\n".join(
            each for each in (field.label, field.unit, field.source) if each and each != field.name
        )
        if text:
            found[at.header, at.columns[field.name]] = text
    return found


def _cell_notes(
    table: PlannedTable, rows: TableRows, at: TableLayout, notes: Notes
) -> dict[tuple[int, int], str]:
    """Return the notes on cells: of numbers their unit and the source of their row, then what is remarked.

    In a large table only the cells with a remark have one; one on a row as a whole stands at its key.
    """
    told: dict[tuple[str, str], str] = {}
    numbers = [field for field in table.fields if field.kind.kind == "number"]
    few = len(numbers) * len(rows.keys) <= MOST_NOTES
    for field in numbers:
        for number, key in enumerate(rows.keys):
            source = row_source(rows, number)
            if source and (few or (key, field.name) in notes):
                told[key, field.name] = "\n".join(each for each in (field.unit, source) if each)
    for each, text in notes.items():
        told[each] = "\n".join((told[each], text) if each in told else (text,))
    return {
        (at.first + rows.numbers[key], at.columns[name] if name else at.keys): text
        for (key, name), text in told.items()
    }
