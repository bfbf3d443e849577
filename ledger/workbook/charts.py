"""`Charts`: each chart over the cells of its ledger sheet, below it the points of its lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ledger.display.words import said
from ledger.plan.plan import ID, Node, Plan, PlannedChart
from ledger.workbook.layout import Layout, cell, sheet_reference, span
from ledger.workbook.pages import ChartObject, Page, Series, Side, StyledCell, row
from ledger.workbook.styles import Styles, number_format
from ledger.xlsx.places import CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from ledger.evaluate.evaluate import Result
    from ledger.xlsx.sheetdata import Band

_FIRST = 3
# Rows that a chart covers, and the widths of the five columns, which are as wide as it.
_TALL = 26
_WIDTHS = (30.0, 26.0, 22.0, 26.0, 22.0)
_X, _Y = 3, 5
#: Of more rows, points have no names of their own.
_MOST_NAMED = 15
# Of the height and of the width of a chart: points that are on one level, and points on one spot.
_LEVEL, _CLOSE = 0.025, 0.02


def charts_page(plan: Plan, result: Result, layout: Layout, styles: Styles) -> Page | None:
    """Return the page of every chart, None if the report has none."""
    if not plan.charts:
        return None
    title = StyledCell(styles.number("title"), f"{plan.title} · {said('charts', plan.language)}")
    bands, charts, start = [row(1, {1: title}, 22)], [], _FIRST
    for chart in plan.charts:
        writer = _ChartWriter(plan, result, layout, styles, chart, start)
        charts.append(writer.drawn())
        bands += writer.bands()
        start = bands[-1].last_row + 2
    return Page(
        CHARTS,
        tuple(bands),
        dict(enumerate(_WIDTHS, 1)),
        repeat=(1, 1),
        width=len(_WIDTHS),
        charts=tuple(charts),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ChartWriter:
    """Writes one chart of a ledger sheet, from row `start` on, and the points of its lines below it."""

    plan: Plan
    result: Result
    layout: Layout
    styles: Styles
    chart: PlannedChart
    start: int

    def drawn(self) -> ChartObject:
        """Return the chart: lines first, so that points lie on them."""
        titles = (self.axis_title(self.chart.x), self.axis_title(self.chart.y))
        series = (*self.lines(), *self.points())
        return ChartObject(self.chart.title, *titles, self.chart.scale, series, self.start)

    def node(self, name: str) -> Node:
        """Return the node of a name on the chart's sheet."""
        return self.plan.sheets[self.chart.sheet].nodes[name]

    def axis_title(self, name: str) -> str:
        """Return the title of an axis: the label of its name, and the unit in brackets."""
        node = self.node(name)
        return f"{node.label} ({node.unit})" if node.unit else node.label

    def bands(self) -> Iterator[Band]:
        """Yield the chart's title, which it covers, and below it the points of its lines."""
        label, grey = self.styles.number("name"), self.styles.number("detail", kind="text")
        yield row(self.start, {1: StyledCell(label, self.chart.title)})
        number = self.start + _TALL
        yield row(number, self.heads())
        for each in self.chart.lines:
            for i, point in enumerate(each.points):
                number += 1
                cells = {1: StyledCell(label, each.label)} if i == 0 else {}
                for column, name in zip((_X, _Y), point, strict=True):
                    cells |= {column - 1: StyledCell(grey, name), column: self.value(name)}
                yield row(number, cells)

    def heads(self) -> dict[int, StyledCell]:
        """Return the heads above the points of lines; without lines an empty cell, which nobody sees."""
        if not self.chart.lines:
            return {1: StyledCell(self.styles.number("detail"), "")}
        line, name = (said(word, self.plan.language) for word in ("line", "name"))
        heads = (line, name, self.axis_title(self.chart.x), name, self.axis_title(self.chart.y))
        return {i: StyledCell(self.styles.number("head"), text) for i, text in enumerate(heads, 1)}

    def value(self, name: str) -> StyledCell:
        """Return the cell that reads a name from the ledger sheet."""
        style = self.styles.number("lookup", number_format(self.node(name)))
        values = self.result.sheets[self.chart.sheet].values[name]
        return StyledCell(style, values, self.layout.cells(self.chart.sheet, name))

    def lines(self) -> Iterator[Series]:
        """Yield the series of each line, over its points on this page."""
        first = self.start + _TALL + 1
        for each in self.chart.lines:
            last = first + len(each.points) - 1
            x, y = (span(CHARTS, column, first, last) for column in (_X, _Y))
            yield Series(f"{CHARTS}!{cell(1, first)}", x, y, is_line=True)
            first = last + 1

    def points(self) -> Iterator[Series]:
        """Yield a series for each row, named by its id, or one for all if they are many."""
        sheet, on = self.chart.sheet, self.layout.sheets[self.chart.sheet]
        names = (self.chart.x, self.chart.y)
        x, y = (self.layout.cells(sheet, name) for name in names)
        if not self.plan.sheets[sheet].axes:
            yield Series(f"{CHARTS}!{cell(1, self.start)}", x, y, side="right")
        elif len(self.result.sheets[sheet].ids) > _MOST_NAMED:
            label = on.header if self.node(self.chart.y).label == self.chart.y else on.header - 3
            yield Series(f"{sheet_reference(sheet)}!{cell(on.columns[self.chart.y], label)}", x, y)
        else:
            for number, side in enumerate(self.sides()):
                at = on.first + number
                name, x, y = (
                    f"{sheet_reference(sheet)}!{cell(on.columns[each], at)}" for each in (ID, *names)
                )
                yield Series(name, x, y, side=side)

    def sides(self) -> Iterator[Side]:
        """Yield the side of each point that its name is on, so that it hides no point and no flat line."""
        x, y = (self.positions(axis) for axis in (0, 1))
        count = len(self.result.sheets[self.chart.sheet].ids)
        for i in range(count):
            level = np.abs(y - y[i]) < _LEVEL
            twin = level & (np.abs(x - x[i]) < _CLOSE)
            twin[count:] = False
            free: Side = "below" if (level & (x > x[i]) & ~twin).any() else "right"
            yield "left" if twin[i + 1 :].any() else free

    def positions(self, axis: int) -> npt.NDArray[np.float64]:
        """Return the position of each point on an axis, then of each end of a line; 1 is the whole axis."""
        known = self.result.sheets[self.chart.sheet].values
        own = known[(self.chart.x, self.chart.y)[axis]].data
        ends = [known[point[axis]].data for line in self.chart.lines for point in line.points]
        data = np.concatenate([own, *ends])
        with np.errstate(all="ignore"):  # what has no logarithm is not drawn
            data = np.log10(data) if self.chart.scale == "log" else data
        drawn = data[np.isfinite(data)]
        whole = float(np.ptp(drawn)) if len(drawn) else 0.0
        found: npt.NDArray[np.float64] = data / (whole or 1.0)
        return found
