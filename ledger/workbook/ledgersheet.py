"""A ledger sheet as a page: what does not vary by row as a block, the rows as a table below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.display import rules
from ledger.display.words import said
from ledger.evaluate.trace import row_source
from ledger.evaluate.views import formula_text
from ledger.plan.plan import ID, Claimed, Computed, Given, Node, Plan, PlannedSheet, PrintedText
from ledger.workbook.formulas import formula, shown_helpers
from ledger.workbook.layout import BLOCK_HEADER, HELPERS, Layout, LedgerLayout
from ledger.workbook.pages import (
    ConditionalFormat,
    One,
    Page,
    SheetTable,
    column_width,
    height,
    row,
    shown_values,
    text_width,
)
from ledger.workbook.styles import GENERAL, Styles, content, look, number_format
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.places import DEFINITIONS
from ledger.xlsx.sheetdata import Band, Cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.evaluate.evaluate import Result, SheetResult
    from ledger.evaluate.notes import Notes
    from ledger.values import Values

_SHORT_FORMULA = 40
_FREEZE_WITHIN = 16
# The widest that the values of a block make their column.
_BLOCK_VALUE = 34.0
_TOLD = 4
#: Above this number of cells, a note on each would hide a table.
MOST_NOTES = 150


def ledger_page(plan: Plan, result: Result, layout: Layout, name: str, styles: Styles) -> Page:
    """Return the page of one ledger sheet."""
    standing = [each for each, table in plan.tables.items() if table.sheet == name]
    remarks = _row_notes(result, standing[0]) if standing else {}
    on, known = layout.sheets[name], result.sheets[name]
    return _LedgerWriter(plan, plan.sheets[name], known, layout, on, styles, remarks).page()


def _row_notes(result: Result, table: str) -> Notes:
    """Return the notes on a table of a ledger sheet, with what each row says of its source."""
    rows, notes = result.tables[table], dict(result.notes.get(table, {}))
    told = {key: row_source(rows, number) for number, key in enumerate(rows.keys)}
    if len(rows.keys) <= MOST_NOTES:
        for key, source in told.items():
            if source:
                notes[key, ""] = "\n".join(each for each in (source, notes.get((key, ""), "")) if each)
    return notes


def _is_long(values: Values) -> bool:
    return isinstance(values.data[0], str) and text_width(values.data[0]) > _BLOCK_VALUE


@dataclass(frozen=True, slots=True, eq=False)
class _LedgerWriter:
    plan: Plan
    sheet: PlannedSheet
    result: SheetResult
    layout: Layout
    on: LedgerLayout
    styles: Styles
    remarks: Notes

    def page(self) -> Page:
        """Return the page with all that stands around its cells."""
        widths = self.widths()
        bands = [*self.top(), *self.block()]
        table, repeat = None, (1, BLOCK_HEADER)
        if self.sheet.axes:
            bands += [*self.above(widths), self.header(), self.rows()]
            headers = tuple(self.on.columns)
            table = SheetTable(f"{self.sheet.name}_rows", headers, self.on.header, self.on.last)
            repeat = (self.on.header - 3, self.on.header)
        return Page(
            self.sheet.name,
            tuple(bands),
            widths,
            self.notes(),
            table=table,
            helpers=self.grouped(),
            fold=self.on.first if 0 < self.on.header <= _FREEZE_WITHIN else 0,
            repeat=repeat,
            width=max(self.on.width, _TOLD),
            rules=tuple(self.rules()),
        )

    def rules(self) -> Iterator[ConditionalFormat]:
        """Yield how the cells of claims look: one that fails is seen where it fails."""
        for name, node in self.sheet.nodes.items():
            if not isinstance(node.how, Claimed):
                continue
            column = self.on.columns.get(name, 2)
            first = self.on.block.get(name, self.on.first)
            last = self.on.block.get(name, self.on.last)
            at = f"${column_letters(column)}{first}"
            for value, told in ((0, "bad"), (1, "good")):
                area = f"{column_letters(column)}{first}:{column_letters(column)}{last}"
                yield ConditionalFormat(area, f"AND(ISNUMBER({at}),{at}={value})", told)

    def top(self) -> Iterator[Band]:
        """Yield the title and the basis."""
        title = f"{self.plan.title} · {self.sheet.title}"
        yield row(1, {1: One(self.styles.number("title"), title)}, 22)
        yield row(2, {1: One(self.styles.number("basis"), said(self.plan.basis, self.plan.language))})
        if self.on.block:
            words = (said(word, self.plan.language) for word in ("name", "value", "unit", "label"))
            head = self.styles.number("head")
            yield row(BLOCK_HEADER, {i: One(head, word) for i, word in enumerate(words, 1)})

    def block(self) -> Iterator[Band]:
        """Yield one row for each name that does not vary."""
        for name, number in self.on.block.items():
            node = self.sheet.nodes[name]
            cells = {
                1: One(self.styles.number("name"), name),
                2: self.value(node),
                3: One(self.styles.number("unit"), node.unit),
                4: One(self.styles.number("told"), _told(node)),
            }
            if name in self.on.helpers:
                for i, (text, value) in enumerate(self.helper_cells(node)):
                    cells[self.on.helpers[name] + i] = One(self.styles.number("helper"), value, text)
            value = self.result.values[name]
            tall = height({str(value.data[0]): _BLOCK_VALUE}) if _is_long(value) else None
            yield row(number, cells, tall)

    def value(self, node: Node) -> One:
        """Return the cell of a value that does not vary."""
        value = self.result.values[node.name]
        long = node.kind.kind == "text" and _is_long(value) and not isinstance(node.how, Given)
        style = self.styles.number(look(node), GENERAL, "long") if long else self.style(node)
        return One(style, value, formula(self.layout, self.sheet.name, node))

    def style(self, node: Node) -> int:
        """Return the style of a node's cells."""
        return self.styles.number(look(node), number_format(node), content(node))

    def above(self, widths: Mapping[int, float]) -> Iterator[Band]:
        """Yield labels, units and formulas, which stand above the header."""
        nodes = {column: self.sheet.nodes[name] for name, column in self.on.columns.items()}
        first = self.on.header - 3
        labels = {column: node.label if node.label != node.name else "" for column, node in nodes.items()}
        shown = {column: _short(formula_text(node)) for column, node in nodes.items()}
        for number, look_, told in (
            (first, "label", labels),
            (first + 1, "unit", {column: node.unit for column, node in nodes.items()}),
            (first + 2, "formula", shown),
        ):
            small = look_ == "formula"
            tall = height({text: widths[column] for column, text in told.items()}, small=small)
            yield row(
                number, {column: One(self.styles.number(look_), text) for column, text in told.items()}, tall
            )

    def header(self) -> Band:
        """Return the table's header: the declared names."""
        head = self.styles.number("column head")
        return row(
            self.on.header,
            {column: One(head, name) for name, column in self.on.columns.items()},
        )

    def rows(self) -> Band:
        """Return all rows of the table, helper cells at the right."""
        cells = []
        for name, column in self.on.columns.items():
            node = self.sheet.nodes[name]
            cells.append(
                Cells(
                    column,
                    self.style(node),
                    self.result.values[name],
                    formula(self.layout, self.sheet.name, node),
                )
            )
        for name, first in self.on.helpers.items():
            node = self.sheet.nodes[name]
            if node.varies:
                for i, (text, value) in enumerate(self.helper_cells(node)):
                    cells.append(Cells(first + i, self.styles.number("helper"), value, text))
        return Band(self.on.first, tuple(sorted(cells, key=lambda each: each.column)))

    def helper_cells(self, node: Node) -> list[tuple[str, Values]]:
        """Return formula and values of the helper cells of a printed text."""
        if not isinstance(node.how, PrintedText) or node.how.ladder is None:
            return []
        worked = rules.worked(node.how.ladder, self.result.values[node.how.name])
        formulas = shown_helpers(self.layout, self.sheet.name, node)
        return list(zip(formulas, (worked.k, worked.y, worked.n), strict=True))

    def grouped(self) -> tuple[int, int] | None:
        """Return the helper columns, if there are any."""
        if not self.on.helpers:
            return None
        return min(self.on.helpers.values()), max(self.on.helpers.values()) + HELPERS - 1

    def widths(self) -> dict[int, float]:
        """Return the width of every column: the block's, and what the table's cells show."""
        shown: dict[int, list[str]] = {
            1: [*self.on.block],
            3: [self.sheet.nodes[name].unit for name in self.on.block],
        }
        for name in self.on.block:
            node = self.sheet.nodes[name]
            shown.setdefault(2, []).extend(shown_values(self.result.values[name], number_format(node)))
        for name, column in self.on.columns.items():
            node = self.sheet.nodes[name]
            values = shown_values(self.result.values[name], number_format(node))
            # The filter's arrow stands beside the name.
            shown.setdefault(column, []).extend([*values, name + "  "])
        widths = {column: column_width(texts, _BLOCK_VALUE) for column, texts in shown.items()}
        if not self.sheet.axes:
            widths[_TOLD] = column_width([_told(self.sheet.nodes[name]) for name in self.on.block], 90)
        return widths

    def notes(self) -> dict[tuple[int, int], str]:
        """Return notes: on inputs their source, on headers the whole definition."""
        found = {}
        for name, number in self.on.block.items():
            node = self.sheet.nodes[name]
            if isinstance(node.how, Given) and _facts(node):
                found[number, 2] = _facts(node)
        for name, column in self.on.columns.items():
            node = self.sheet.nodes[name]
            text = "\n".join(each for each in (node.label, formula_text(node), _facts(node)) if each)
            if text and text != name:
                found[self.on.header, column] = text
        rows = {key: number for number, key in enumerate(self.result.ids, self.on.first)}
        for (key, field), text in self.remarks.items():
            at = rows.get(key.replace("|", "/"))
            if at is not None:  # a filter may have dropped the row
                found[at, self.on.columns[field or ID]] = text
        return found


def _told(node: Node) -> str:
    """Return what a name means and how it comes about, in one line."""
    label = node.label if node.label != node.name else ""
    return " = ".join(each for each in (label, formula_text(node)) if each)


def _facts(node: Node) -> str:
    low, high = node.bounds
    bounds = f"≥ {low:g}" if low is not None else ""
    bounds += f" ≤ {high:g}" if high is not None else ""
    computed = node.note if isinstance(node.how, Computed) else ""
    return "\n".join(each for each in (node.unit, bounds.strip(), computed, node.source) if each)


def _short(text: str) -> str:
    return text if is_short(text) else f"→ {DEFINITIONS}"


def is_short(text: str) -> bool:
    """Whether a formula in names is short enough to stand above its column."""
    return len(text) <= _SHORT_FORMULA
