"""Charts as openpyxl makes them, alike in Excel and in LibreOffice.

Left to their defaults the two smooth lines, hide axes, let an axis cross at 1 and draw no grid by decades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openpyxl.chart import ScatterChart
from openpyxl.chart.axis import ChartLines, NumericAxis
from openpyxl.chart.data_source import AxDataSource, NumDataSource, NumRef, StrRef
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.legend import Legend, LegendEntry
from openpyxl.chart.marker import Marker
from openpyxl.chart.series import SeriesLabel, XYSeries
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.chart.title import Title, title_maker
from openpyxl.drawing.line import LineProperties

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.workbook.pages import ChartObject, Series

_STYLE = 2
_WIDTH, _HEIGHT = 24, 13
_X, _Y = 10, 20
_DECADE = 10
_LINE, _POINT, _GRID = "444444", "1F4E9E", "D0D0D0"
_THICK, _THIN = 28_575, 6_350
_MARKER = 7
_SIDES: Mapping[str, str] = {"right": "r", "left": "l", "below": "b"}


def scatter(chart: ChartObject) -> ScatterChart:
    """Return a scatter chart; its legend names the lines, each point has its own name beside it."""
    found = ScatterChart(scatterStyle="lineMarker", varyColors=False)
    found.style = _STYLE
    found.roundedCorners = False
    found.title = _title(chart.title)
    found.width, found.height = _WIDTH, _HEIGHT
    is_log = chart.scale == "log"
    found.x_axis = _axis(chart.x_title, NumericAxis(axId=_X, crossAx=_Y, axPos="b"), is_log=is_log)
    found.y_axis = _axis(chart.y_title, NumericAxis(axId=_Y, crossAx=_X, axPos="l"), is_log=is_log)
    found.series = [_drawn(number, each) for number, each in enumerate(chart.series)]
    named = [i for i, each in enumerate(chart.series) if each.side]
    entries = [LegendEntry(idx=i, delete=True) for i in named]
    is_told = len(named) < len(chart.series)
    found.legend = Legend(legendPos="b", legendEntry=entries, overlay=False) if is_told else None
    return found


def _title(text: str) -> Title:
    found = title_maker(text)
    found.overlay = False
    return found


def _axis(title: str, axis: NumericAxis, *, is_log: bool) -> NumericAxis:
    axis.title = _title(title)
    axis.delete = False
    axis.crosses = "min"
    axis.number_format = "General"
    axis.majorTickMark = "out"
    axis.tickLblPos = "low"
    axis.majorGridlines = ChartLines(spPr=GraphicalProperties(ln=LineProperties(solidFill=_GRID, w=_THIN)))
    if is_log:
        axis.scaling.logBase = _DECADE
        axis.majorUnit = _DECADE
    return axis


def _drawn(number: int, series: Series) -> XYSeries:
    found = XYSeries(
        idx=number,
        order=number,
        tx=SeriesLabel(strRef=StrRef(f=series.name)),
        xVal=AxDataSource(numRef=NumRef(f=series.x)),
        yVal=NumDataSource(numRef=NumRef(f=series.y)),
        smooth=False,
    )
    if series.is_line:
        found.marker = Marker(symbol="none")
        found.spPr = GraphicalProperties(ln=LineProperties(solidFill=_LINE, w=_THICK))
        return found
    fill = GraphicalProperties(solidFill=_POINT)
    fill.line.solidFill = _POINT
    found.marker = Marker(symbol="circle", size=_MARKER, spPr=fill)
    found.spPr = GraphicalProperties(ln=LineProperties(noFill=True))
    if series.side:
        found.dLbls = _name_beside(_SIDES[series.side])
    return found


def _name_beside(position: str) -> DataLabelList:
    return DataLabelList(
        dLblPos=position, showSerName=True, showVal=False, showCatName=False, showLegendKey=False,
        showPercent=False, showBubbleSize=False,
    )  # fmt: skip
