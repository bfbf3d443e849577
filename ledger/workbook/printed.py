"""`Printed`: each view as the book prints it, every cell a formula that finds its row by id."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ledger.display import rules
from ledger.display.words import said
from ledger.evaluate.views import heading_text, row_numbers
from ledger.plan.plan import ID, Given, Plan, PlannedSheet, PlannedView, PrintedColumn
from ledger.workbook.formulas import helper_formulas
from ledger.workbook.layout import Layout, cell
from ledger.workbook.pages import Page, StyledCell, column_width, row
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.places import PRINTED
from ledger.xlsx.record import PrintedCell, line_mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.display.rules import Ladder
    from ledger.evaluate.evaluate import Result, SheetResult
    from ledger.values import Values
    from ledger.workbook.styles import Styles
    from ledger.xlsx.sheetdata import Band

#: Longer views are not printed in the workbook.
LONGEST = 1_000
_FIRST = 3
# id and position of a row, then x, k, y, n of each printed column.
_ROW_HELPERS, _CELL_HELPERS = 2, 4


@dataclass(frozen=True, slots=True)
class _PrintedSpot:
    """A printed cell: its row and column, the first of its helper columns, and what it prints.

    `number` is the row of its sheet that it prints, None for a name that does not vary by row.
    """

    row: int
    column: int
    helper: int
    printed: PrintedColumn
    number: int | None


def printed_page(
    plan: Plan, result: Result, layout: Layout, styles: Styles
) -> tuple[Page, tuple[PrintedCell, ...]]:
    """Return the page of every view that is short enough, and what each of its cells prints."""
    views = [view for view in plan.views if len(row_numbers(view, result.sheets[view.sheet])) <= LONGEST]
    widest = max((_visible(view, result) for view in views), default=1)
    title = StyledCell(styles.number("title"), f"{plan.title} · {said('printed', plan.language)}")
    bands: list[Band] = [row(1, {1: title}, 22)]
    texts: dict[int, list[str]] = {}
    printed: list[PrintedCell] = []
    last, start = widest, _FIRST
    for view in views:
        writer = _ViewWriter(
            view,
            plan.sheets[view.sheet],
            result.sheets[view.sheet],
            layout,
            styles,
            widest + 3,
            texts,
            printed,
        )
        bands += writer.bands(start)
        start = bands[-1].last_row + 3
        last = max(last, *(each.column for band in bands for each in band.columns))
    limits = [said("limits", plan.language), *plan.limits] if plan.limits else []
    for number, limit in enumerate([said(plan.basis, plan.language), *limits], start):
        bands.append(row(number, {1: StyledCell(styles.number("basis"), limit)}))
    widths = {column: column_width(each, 60) for column, each in texts.items()}
    page = Page(
        PRINTED, tuple(bands), widths, helpers=(widest + 2, last) if last > widest else None, repeat=(1, 1),
        width=widest,
    )  # fmt: skip
    return page, tuple(printed)


def _visible(view: PlannedView, result: Result) -> int:
    """Return how many columns of the page a view fills, its helper columns not counted."""
    if view.kind == "record":
        return 2
    if view.kind == "matrix":
        values = result.sheets[view.sheet].values[view.columns[1].node]
        return 1 + len(dict.fromkeys(_printed(view.columns[1], values)))
    return len(view.columns)


def _printed(column: PrintedColumn, values: Values) -> list[str]:
    """Return values as a column prints them, by its ladder if it has one."""
    return rules.printed(column.ladder or rules.Ladder(()), values)


@dataclass(slots=True, eq=False)
class _ViewWriter:
    """Writes one view; `texts` collects those of each column, `cells_printed` what each cell prints.

    Helper cells begin in the column `right`, which is the same for all views.
    """

    view: PlannedView
    sheet: PlannedSheet
    result: SheetResult
    layout: Layout
    styles: Styles
    right: int
    texts: dict[int, list[str]]
    cells_printed: list[PrintedCell]

    def bands(self, start: int) -> Iterator[Band]:
        """Yield the rows of the view from row `start` on: its title, its heading, its cells."""
        yield row(start, {1: StyledCell(self.styles.number("name"), self.view.title)})
        heading, spots = {"table": self.table, "record": self.record, "matrix": self.matrix}[self.view.kind](
            start + 1
        )
        rows = {start + 1: heading}
        for spot in spots:
            rows.setdefault(spot.row, {}).update(self.cells(spot))
        for number in {spot.row for spot in spots}:
            # By which a later reader finds the row, whatever was inserted above it.
            line = StyledCell(self.styles.number("helper", kind="typed"), line_mark(self.view.name, number))
            rows[number][self.right - 1] = line
        for number in sorted(rows):
            yield row(number, rows[number])

    def table(self, start: int) -> tuple[dict[int, StyledCell], list[_PrintedSpot]]:
        """Return heading and spots of a table: one helper group a column, one id a row."""
        heading: dict[int, StyledCell] = {}
        for i, column in enumerate(self.view.columns, 1):
            heading |= self.heading(
                column, _PrintedSpot(start, i, max((self.right - 1, *heading)) + 1, column, None)
            )
        rows = row_numbers(self.view, self.result)
        spots = [
            _PrintedSpot(
                start + 1 + i, j, self.right + _ROW_HELPERS + (j - 1) * _CELL_HELPERS, column, number
            )
            for i, number in enumerate(rows)
            for j, column in enumerate(self.view.columns, 1)
        ]
        return heading, spots

    def record(self, start: int) -> tuple[dict[int, StyledCell], list[_PrintedSpot]]:
        """Return the spots of a record, one below the other; its headings are at the left."""
        number = row_numbers(self.view, self.result)[0] if self.sheet.axes else None
        return {}, [
            _PrintedSpot(start + i, 2, self.right + _ROW_HELPERS, column, number)
            for i, column in enumerate(self.view.columns)
        ]

    def matrix(self, start: int) -> tuple[dict[int, StyledCell], list[_PrintedSpot]]:
        """Return heading and spots of a matrix: a helper group and an id for each column."""
        down, across, cell_ = self.view.columns
        downs = _printed(down, self.result.values[down.node])
        acrosses = _printed(across, self.result.values[across.node])
        rows, columns = (_first_places(texts) for texts in (downs, acrosses))
        down_number, across_number = ({text: i for i, text in enumerate(each)} for each in (rows, columns))
        group = _ROW_HELPERS + _CELL_HELPERS
        spots = [
            _PrintedSpot(start + 1 + i, 1, self.right, down, first) for i, first in enumerate(rows.values())
        ]
        spots += [
            _PrintedSpot(start, 2 + i, self.right + group * (1 + i), across, first)
            for i, first in enumerate(columns.values())
        ]
        spots += [
            _PrintedSpot(
                start + 1 + down_number[a],
                2 + across_number[b],
                self.right + group * (1 + across_number[b]),
                cell_,
                i,
            )
            for i, (a, b) in enumerate(zip(downs, acrosses, strict=True))
        ]
        return self.heading(
            down, _PrintedSpot(start, 1, self.right + group * (1 + len(columns)), down, None)
        ), spots

    def heading(self, column: PrintedColumn, spot: _PrintedSpot) -> dict[int, StyledCell]:
        """Return a heading and its helper cells; names in its label are live."""
        text = heading_text(column, self.sheet, self.result)
        self.texts.setdefault(spot.column, []).append(text)
        cells: dict[int, StyledCell] = {}
        parts = []
        for before, name in column.heading:
            parts.append(_quoted(before))
            if name:
                helper = max((spot.helper - 1, *cells)) + 1
                inner, formula = self.named(name, replace(spot, helper=helper))
                cells |= inner
                parts.append(formula)
        live = "&".join(part for part in parts if part) if any(name for _, name in column.heading) else None
        return {**cells, spot.column: StyledCell(self.styles.number("head"), text, live)}

    def named(self, name: str, spot: _PrintedSpot) -> tuple[dict[int, StyledCell], str]:
        """Return the helper cells of a name in a label, and the formula of its printed text."""
        node, source = self.sheet.nodes[name], self.layout.cells(self.sheet.name, name)
        if node.kind.kind == "text" and isinstance(node.how, Given):
            return {}, source
        return self.helpers(node.ladder, node.kind.kind, self.result.values[name], source, spot)

    def cells(self, spot: _PrintedSpot) -> dict[int, StyledCell]:
        """Return the printed cell and its helper cells: id and position of its row, then x, k, y, n."""
        node, kind, first = self.sheet.nodes[spot.printed.node], self.view.kind, spot.helper
        cells: dict[int, StyledCell] = {}
        if kind == "record":
            right = first + _ROW_HELPERS + _CELL_HELPERS
            cells |= self.heading(spot.printed, replace(spot, column=1, helper=right))
        source, number = self.layout.cells(self.sheet.name, node.name), 0
        if spot.number is not None and node.varies:
            at, number = self.right if kind == "table" else first, spot.number
            cells |= self.row_helpers(spot.row, number, at)
            source = f"INDEX({source},{cell(at + 1, spot.row)})"
            first += 0 if kind == "table" else _ROW_HELPERS
        elif kind == "matrix":
            first += _ROW_HELPERS
        value = self.result.values[node.name].take(slice(number, number + 1))
        return cells | self.printed(replace(spot, helper=first), value, source)

    def row_helpers(self, at_row: int, number: int, at: int) -> dict[int, StyledCell]:
        """Return the id of a row, in column `at`, and the formula of its position on the ledger sheet."""
        style, ids = self.styles.number("helper", kind="typed"), self.layout.cells(self.sheet.name, ID)
        position = f"MATCH({cell(at, at_row)},{ids},0)"
        own = StyledCell(style, self.result.ids[number])
        return {at: own, at + 1: StyledCell(self.styles.number("helper"), float(number + 1), position)}

    def printed(self, spot: _PrintedSpot, value: Values, source: str) -> dict[int, StyledCell]:
        """Return x, k, y, n and the printed text of one cell; the head of a matrix column has its label."""
        printed, column = spot.printed, spot.column
        (text,) = _printed(printed, value)
        cells, formula = self.helpers(printed.ladder, printed.kind, value, source, spot)
        style = "printed" if value.data.dtype == np.float64 and self.view.kind != "record" else "printed text"
        if self.view.kind == "matrix" and printed is self.view.columns[1]:
            style = "head"
            before = f"{heading_text(printed, self.sheet, self.result)} "
            text, formula = before + text, f"{_quoted(before)}&{formula}"
        self.texts.setdefault(column, []).append(text)
        row_id = "" if spot.number is None else self.result.ids[spot.number]
        address = f"{column_letters(column)}{spot.row}"
        self.cells_printed.append(PrintedCell(address, self.view.name, row_id, printed.name, text))
        return {**cells, column: StyledCell(self.styles.number(style), text, formula)}

    def helpers(
        self, ladder: Ladder | None, kind: str, value: Values, source: str, spot: _PrintedSpot
    ) -> tuple[dict[int, StyledCell], str]:
        """Return the cells x, k, y, n, from column `spot.helper` on, and the formula of the printed text."""
        first, style = spot.helper, self.styles.number("helper")
        x, k, y, n = (cell(first + i, spot.row) for i in range(_CELL_HELPERS))
        own = StyledCell(style, value, source)
        if ladder is None or not ladder.steps:
            return {first: own}, rules.excel_truth(x) if kind == "bool" else rules.excel_text(x)
        *formulas, text = helper_formulas(self.layout, ladder, x, (k, y, n))
        worked = rules.helper_values(ladder, value)
        inner = zip((worked.k, worked.y, worked.n), formulas, strict=True)
        ones = (own, *(StyledCell(style, each, formula) for each, formula in inner))
        return dict(enumerate(ones, first)), text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if text else ""


def _first_places(texts: Sequence[str]) -> dict[str, int]:
    """Return each different text with the place where it comes first."""
    found: dict[str, int] = {}
    for place, text in enumerate(texts):
        found.setdefault(text, place)
    return found
