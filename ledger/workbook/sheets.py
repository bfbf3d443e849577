"""Ledger sheets and scenario tables as pages: a table of rows, with labels and units above its header.

A ledger sheet has a block above its table, with a row for each name that does not vary by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ledger.display import rules
from ledger.display.words import said
from ledger.evaluate.lookups import row_id
from ledger.evaluate.trace import row_source
from ledger.evaluate.views import formula_text
from ledger.plan.plan import ID, Claimed, Computed, Given, Node, Plan, PlannedSheet, PrintedText
from ledger.values import Values, texts
from ledger.workbook.formulas import formula, helper_cells, helper_formulas, reference
from ledger.workbook.layout import (
    BLOCK_HEADER,
    HELPERS,
    Layout,
    LedgerLayout,
    TableLayout,
    cell,
    table_values,
)
from ledger.workbook.pages import (
    ConditionalFormat,
    Page,
    SheetTable,
    StyledCell,
    column_width,
    height,
    lines,
    row,
    text_width,
    widest_texts,
)
from ledger.workbook.styles import GENERAL, Styles, content, number_format, role
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.places import DEFINITIONS
from ledger.xlsx.sheetdata import ROW, Band, Cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.evaluate.evaluate import Result, SheetResult
    from ledger.evaluate.lookups import TableRows
    from ledger.evaluate.notes import Notes
    from ledger.plan.plan import PlannedTable

_SHORT_FORMULA = 40
_FREEZE_WITHIN = 16
# The widest that the values of a block make their column.
_BLOCK_VALUE = 34.0
_LABEL = 4
_WIDEST_KEY, _WIDEST_FIELD, _WIDEST_DOCUMENT = 40, 80, 60
#: Above this number of cells, a note on each would hide a table.
MOST_NOTES = 150
#: The style, the values and the formula of a column's cells, or of the one cell of a name.
_Cells = tuple[int, Values, str | None]
# The filter's arrow is beside a header.
_ARROW = "  "


def ledger_page(plan: Plan, result: Result, layout: Layout, name: str, styles: Styles) -> Page:
    """Return the page of one ledger sheet, with the notes on the table whose rows it has."""
    tables = [each for each, table in plan.tables.items() if table.sheet == name]
    notes = _row_notes(result, tables[0]) if tables else {}
    on, known = layout.sheets[name], result.sheets[name]
    return _LedgerWriter(plan, plan.sheets[name], known, layout, on, styles, notes).page()


def _row_notes(result: Result, table: str) -> Notes:
    """Return the notes on a table of a ledger sheet, with the source of each row unless they are many."""
    rows, notes = result.tables[table], dict(result.notes.get(table, {}))
    for number, key in enumerate(rows.keys if len(rows.keys) <= MOST_NOTES else ()):
        if source := row_source(rows, number):
            notes[key, ""] = lines(source, notes.get((key, ""), ""))
    return notes


@dataclass(frozen=True, slots=True, eq=False)
class _LedgerWriter:
    """Writes a ledger sheet: title and basis, the block, the table of its rows, helper cells at the right."""

    plan: Plan
    sheet: PlannedSheet
    result: SheetResult
    layout: Layout
    on: LedgerLayout
    styles: Styles
    row_notes: Notes

    def page(self) -> Page:
        """Return the page with widths, notes, table object and conditional formats around its cells."""
        widths, on = self.widths(), self.on
        bands = [*self.top(), *self.block()]
        table, repeat = None, (1, BLOCK_HEADER)
        if self.sheet.axes:
            bands += [*self.heads(widths), self.rows()]
            table = SheetTable(f"{self.sheet.name}_rows", tuple(on.columns), on.header, on.last)
            repeat = (on.header - 3, on.header)
        helpers = [*on.helpers.values()]
        return Page(
            self.sheet.name, tuple(bands), widths, self.notes(), rules=tuple(self.rules()), table=table,
            helpers=(min(helpers), max(helpers) + HELPERS - 1) if helpers else None,
            fold=on.first if 0 < on.header <= _FREEZE_WITHIN else 0, repeat=repeat,
            width=max((_LABEL, *on.columns.values())),
        )  # fmt: skip

    def rules(self) -> Iterator[ConditionalFormat]:
        """Yield the conditional formats of claims: one that fails is seen where it fails."""
        for name, node in self.sheet.nodes.items():
            if isinstance(node.how, Claimed):
                letters = column_letters(self.on.columns.get(name, 2))
                first, last = (self.on.block.get(name, row_) for row_ in (self.on.first, self.on.last))
                at = f"${letters}{first}"
                for value, verdict in ((0, "bad"), (1, "good")):
                    area, condition = f"{letters}{first}:{letters}{last}", f"AND(ISNUMBER({at}),{at}={value})"
                    yield ConditionalFormat(area, condition, verdict)

    def top(self) -> Iterator[Band]:
        """Yield the title, the basis and the heads of the block."""
        title = f"{self.plan.title} · {self.sheet.title}"
        yield row(1, {1: StyledCell(self.styles.number("title"), title)}, 22)
        yield row(2, {1: StyledCell(self.styles.number("basis"), said(self.plan.basis, self.plan.language))})
        if self.on.block:
            words = (said(word, self.plan.language) for word in ("name", "value", "unit", "label"))
            head = self.styles.number("head")
            yield row(BLOCK_HEADER, {i: StyledCell(head, word) for i, word in enumerate(words, 1)})

    def block(self) -> Iterator[Band]:
        """Yield one row for each name that does not vary: name, value, unit, label and formula."""
        for name, number in self.on.block.items():
            node, value = self.sheet.nodes[name], self.result.values[name]
            first = value.data[0]
            is_long = isinstance(first, str) and text_width(first) > _BLOCK_VALUE
            cells = {
                1: StyledCell(self.styles.number("name"), name),
                2: StyledCell(
                    *self.cells(node, "long" if is_long and not isinstance(node.how, Given) else "")
                ),
                3: StyledCell(self.styles.number("unit"), node.unit),
                4: StyledCell(self.styles.number("detail"), _definition(node)),
            }
            tall = height({str(first): _BLOCK_VALUE}) if is_long else None
            helpers = {column: StyledCell(*each) for column, each in self.helpers(node).items()}
            yield row(number, cells | helpers, tall)

    def cells(self, node: Node, kind: Literal["", "long"] = "") -> _Cells:
        """Return the style, the values and the formula of a node's cells; a "long" text wraps."""
        is_text = kind and node.kind.kind == "text"
        style = self.styles.number(role(node), GENERAL, "long") if is_text else _style(node, self.styles)
        return style, self.result.values[node.name], formula(self.layout, self.sheet.name, node)

    def helpers(self, node: Node) -> dict[int, _Cells]:
        """Return the helper cells k, y, n of a printed text, by column; none for any other node."""
        match node.how:
            case PrintedText(name, _, ladder) if ladder is not None and node.name in self.on.helpers:
                worked = rules.helper_values(ladder, self.result.values[name])
                x, style = reference(self.on, name), self.styles.number("helper")
                formulas = helper_formulas(self.layout, ladder, x, helper_cells(self.on, node))[:HELPERS]
                columns = zip((worked.k, worked.y, worked.n), formulas, strict=True)
                return {
                    column: (style, values, text)
                    for column, (values, text) in enumerate(columns, self.on.helpers[node.name])
                }
        return {}

    def heads(self, widths: Mapping[int, float]) -> Iterator[Band]:
        """Yield labels, units and formulas, the three rows above the table's header, and the header."""
        nodes = {column: self.sheet.nodes[name] for name, column in self.on.columns.items()}
        labels = {column: own_label(node) for column, node in nodes.items()}
        units = {column: node.unit for column, node in nodes.items()}
        formulas = {
            column: text if is_short(text := formula_text(node)) else f"→ {DEFINITIONS}"
            for column, node in nodes.items()
        }
        rows = {"label": labels, "unit": units, "formula": formulas}
        heads = {column: (name, "column head") for name, column in self.on.columns.items()}
        return _heads(self.on.header, rows, heads, widths, self.styles)

    def rows(self) -> Band:
        """Return all rows of the table, helper cells at the right."""
        cells = {column: self.cells(self.sheet.nodes[name]) for name, column in self.on.columns.items()}
        for name in self.on.helpers:
            if name in self.on.columns:
                cells |= self.helpers(self.sheet.nodes[name])
        return Band(self.on.first, tuple(Cells(column, *each) for column, each in sorted(cells.items())))

    def widths(self) -> dict[int, float]:
        """Return the width of every column: names, values and units of the block, headers and values."""
        nodes = self.sheet.nodes
        cells = {1: [*self.on.block], 3: [nodes[name].unit for name in self.on.block]}
        for name in (*self.on.block, *self.on.columns):
            column, head = self.on.columns.get(name, 2), [name + _ARROW] if name in self.on.columns else []
            values = widest_texts(self.result.values[name], number_format(nodes[name]))
            cells[column] = [*cells.get(column, ()), *values, *head]
        widths = {column: column_width(texts, _BLOCK_VALUE) for column, texts in cells.items()}
        if not self.sheet.axes:
            widths[_LABEL] = column_width([_definition(nodes[name]) for name in self.on.block], 90)
        return widths

    def notes(self) -> dict[tuple[int, int], str]:
        """Return notes: on inputs their source, on headers the whole definition, on cells their remarks."""
        found = {}
        for name, number in self.on.block.items():
            node = self.sheet.nodes[name]
            if isinstance(node.how, Given) and _facts(node):
                found[number, 2] = _facts(node)
        for name, column in self.on.columns.items():
            node = self.sheet.nodes[name]
            text = lines(node.label, formula_text(node), _facts(node))
            if text and text != name:
                found[self.on.header, column] = text
        rows = {key: number for number, key in enumerate(self.result.ids, self.on.first)}
        for (key, field), text in self.row_notes.items():
            at = rows.get(row_id(key))
            if at is not None:  # a filter may have dropped the row
                found[at, self.on.columns[field or ID]] = text
        return found


def _heads(
    header: int,
    rows: Mapping[str, Mapping[int, str]],
    heads: Mapping[int, tuple[str, str]],
    widths: Mapping[int, float],
    styles: Styles,
) -> Iterator[Band]:
    """Yield a row of texts by column for each style, the last of them above the header, and the header.

    `heads` are the name and the style of each column; a row without texts is left out.
    """
    for number, (name, cells) in enumerate(rows.items(), header - len(rows)):
        if cells:
            wrapped = {text: widths[column] for column, text in cells.items()}
            style = styles.number(name)
            ones = {column: StyledCell(style, text) for column, text in cells.items()}
            yield row(number, ones, height(wrapped, small=name == "formula"))
    yield row(
        header, {column: StyledCell(styles.number(head), name) for column, (name, head) in heads.items()}
    )


def _style(node: Node, styles: Styles) -> int:
    """Return the style of a node's cells."""
    return styles.number(role(node), number_format(node), content(node))


def own_label(node: Node) -> str:
    """Return the label of a node, empty if it is no more than its name."""
    return node.label if node.label != node.name else ""


def _definition(node: Node) -> str:
    """Return label and formula in names, `label = formula`, in one line."""
    return " = ".join(each for each in (own_label(node), formula_text(node)) if each)


def _facts(node: Node) -> str:
    """Return unit, bounds, the note on a computed name, and the source, a line each."""
    low, high = node.bounds
    bounds = f"≥ {low:g}" if low is not None else ""
    bounds += f" ≤ {high:g}" if high is not None else ""
    computed = node.note if isinstance(node.how, Computed) else ""
    return lines(node.unit, bounds.strip(), computed, node.source)


def is_short(text: str) -> bool:
    """Whether a formula in names is short enough to stand above its column."""
    return len(text) <= _SHORT_FORMULA


def table_page(table: PlannedTable, rows: TableRows, notes: Notes, layout: Layout, styles: Styles) -> Page:
    """Return the page of a scenario table that is on no ledger sheet: each input in one cell."""
    at = layout.tables[table.name]
    columns = [*_table_columns(table, rows, at, styles)]
    widths = {
        cells.column: column_width([at.headers[cells.column - 1] + _ARROW, *shown], widest)
        for cells, shown, widest in columns
    }
    bands = [row(1, {1: StyledCell(styles.number("title"), f"{table.label} · {table.name}")}, 22)]
    if table.source:
        bands.append(row(2, {1: StyledCell(styles.number("basis"), table.source.name)}))
    labels = {at.columns[field.name]: own_label(field) for field in table.fields if own_label(field)}
    units = {at.columns[field.name]: field.unit for field in table.fields if field.unit}
    documents = dict.fromkeys(at.documents.values(), "document head")
    heads = {i: (name, documents.get(i, "column head")) for i, name in enumerate(at.headers, 1)}
    bands += _heads(at.header, {"label": labels, "unit": units}, heads, widths, styles)
    bands.append(Band(at.first, tuple(cells for cells, _, _ in columns)))
    return Page(
        table.name, tuple(bands), widths, _table_notes(table, rows, at, notes),
        table=SheetTable(f"{table.name}_rows", at.headers, at.header, at.last),
        fold=at.first, repeat=(at.header, at.header), width=len(at.headers),
    )  # fmt: skip


def _table_columns(
    table: PlannedTable, rows: TableRows, at: TableLayout, styles: Styles
) -> Iterator[tuple[Cells, list[str], float]]:
    """Yield the cells of each column, texts as wide as its widest, and the greatest width.

    First come the keys, and their parts where there are several: then a key is a formula of them.
    """
    known, keys = table_values(rows), texts(rows.keys)
    style, formula_of_parts = styles.number("id", kind="typed"), None
    key_style = style
    if table.source and len(table.source.key) > 1:
        columns = {**at.parts, **{field.column: at.columns[field.name] for field in table.typed}}
        formula_of_parts = '&"|"&'.join(cell(columns[head], ROW) for head in table.source.key)
        key_style = styles.number("id")
    yield Cells(at.keys, key_style, keys, formula_of_parts), widest_texts(keys, GENERAL), _WIDEST_KEY
    for name, column in at.parts.items():
        yield Cells(column, style, known[name]), widest_texts(known[name], GENERAL), _WIDEST_KEY
    for field in table.fields:
        shown = widest_texts(known[field.name], number_format(field))
        yield Cells(at.columns[field.name], _style(field, styles), known[field.name]), shown, _WIDEST_FIELD
    style = styles.number("document", kind="typed")
    for name, column in at.documents.items():
        yield Cells(column, style, known[name]), widest_texts(known[name], GENERAL), _WIDEST_DOCUMENT


def _table_notes(
    table: PlannedTable, rows: TableRows, at: TableLayout, notes: Notes
) -> dict[tuple[int, int], str]:
    """Return the notes: on headers label, unit and source; on numbers their unit and the source of their row.

    In a large table only the cells with a remark have one; one on a row as a whole is at its key.
    """
    found = {}
    for field in table.fields:
        if text := lines(*(each for each in (field.label, field.unit, field.source) if each != field.name)):
            found[at.header, at.columns[field.name]] = text
    remarks: dict[tuple[str, str], str] = {}
    numbers = [field for field in table.fields if field.kind.kind == "number"]
    few = len(numbers) * len(rows.keys) <= MOST_NOTES
    for field in numbers:
        for number, key in enumerate(rows.keys):
            source = row_source(rows, number)
            if source and (few or (key, field.name) in notes):
                remarks[key, field.name] = lines(field.unit, source)
    for each, text in notes.items():
        remarks[each] = lines(remarks.get(each, ""), text)
    for (key, name), text in remarks.items():
        found[at.first + rows.numbers[key], at.columns[name] if name else at.keys] = text
    return found
