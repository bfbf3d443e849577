"""Charts as openpyxl makes them, alike in Excel and in LibreOffice.

Left to their defaults the two smooth lines, hide axes, let an axis cross at 1 and draw no grid by decades.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from openpyxl.chart import ScatterChart
from openpyxl.chart.axis import ChartLines, NumericAxis, Scaling
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
    found.x_axis = _axis(chart.x_title, _X, _Y, "b", is_log=is_log)
    found.y_axis = _axis(chart.y_title, _Y, _X, "l", is_log=is_log)
    found.series = [_series(number, each) for number, each in enumerate(chart.series)]
    entries = [LegendEntry(idx=i, delete=True) for i, each in enumerate(chart.series) if each.side]
    legend = Legend(legendPos="b", legendEntry=entries, overlay=False)
    found.legend = legend if len(entries) < len(chart.series) else None
    return found


def _title(text: str) -> Title:
    found = title_maker(text)
    found.overlay = False
    return found


def _axis(title: str, number: int, crossed: int, side: Literal["b", "l"], *, is_log: bool) -> NumericAxis:
    """Return an axis that crosses the other one at its least value, with a grid; by decades if it is log."""
    axis = NumericAxis(
        axId=number, crossAx=crossed, axPos=side, title=_title(title), delete=False, crosses="min",
        majorTickMark="out", tickLblPos="low",
        majorGridlines=ChartLines(spPr=GraphicalProperties(ln=LineProperties(solidFill=_GRID, w=_THIN))),
        majorUnit=_DECADE if is_log else None, scaling=Scaling(logBase=_DECADE if is_log else None),
    )  # fmt: skip
    axis.number_format = "General"
    return axis


def _series(number: int, series: Series) -> XYSeries:
    """Return a series: a line without markers, or markers without a line, named beside them if so wanted."""
    marks = GraphicalProperties(solidFill=_POINT, ln=LineProperties(solidFill=_POINT))
    line = LineProperties(solidFill=_LINE, w=_THICK) if series.is_line else LineProperties(noFill=True)
    return XYSeries(
        idx=number,
        order=number,
        tx=SeriesLabel(strRef=StrRef(f=series.name)),
        xVal=AxDataSource(numRef=NumRef(f=series.x)),
        yVal=NumDataSource(numRef=NumRef(f=series.y)),
        smooth=False,
        marker=Marker(symbol="none") if series.is_line else Marker("circle", size=_MARKER, spPr=marks),
        spPr=GraphicalProperties(ln=line),
        dLbls=_name_beside(_SIDES[series.side]) if series.side else None,
    )


def _name_beside(position: str) -> DataLabelList:
    return DataLabelList(
        dLblPos=position, showSerName=True, showVal=False, showCatName=False, showLegendKey=False,
        showPercent=False, showBubbleSize=False,
    )  # fmt: skip
