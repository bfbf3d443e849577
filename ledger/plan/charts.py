"""The charts of a report resolved: which names of a sheet are their points and their lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.declarations.model import Chart, spoken
from ledger.errors import Place, Problems
from ledger.language.units import same, spell
from ledger.plan.names import on_known_sheets
from ledger.plan.plan import Node, PlannedChart, PlannedLine, PlannedSheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.declarations.toml import Declared

Keys = tuple[str | int, ...]
_PAIR = 2


def drawn_names(declared: Declared, sheet: str) -> tuple[tuple[str, Place], ...]:
    """Return the names of a sheet that charts draw, each with the place where a chart reads it."""
    return tuple(
        (found, Place(declared.file).inside("charts", name, *keys))
        for name, chart in declared.report.charts.items()
        if chart.sheet == sheet
        for keys, found in _named(chart)
    )


def _named(chart: Chart) -> Iterator[tuple[Keys, str]]:
    """Yield each name that a chart reads, its axes' and its points', after the keys that lead to it."""
    yield ("x",), chart.x
    yield ("y",), chart.y
    for i, line in enumerate(chart.lines):
        for j, point in enumerate(line.points):
            for k, name in enumerate(point):
                yield ("lines", i, "points", j, k), name


def planned_charts(
    declared: Declared, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> Iterator[PlannedChart]:
    """Yield every chart whose names can be drawn; tell the others."""
    charts = declared.report.charts.items()
    places = ((chart, Place(declared.file, keys=("charts", name))) for name, chart in charts)
    for chart, place, sheet in on_known_sheets(places, sheets, problems):
        planner = _ChartPlanner(chart, place, sheet, declared.project.language, problems)
        if planned := planner.planned():
            yield planned


@dataclass(frozen=True, slots=True)
class _ChartPlanner:
    """One chart and its sheet, with the place of its declaration."""

    chart: Chart
    place: Place
    sheet: PlannedSheet
    language: str
    problems: Problems

    def planned(self) -> PlannedChart | None:
        """Return the chart, None if one of its names cannot be drawn."""
        chart, before = self.chart, len(self.problems.found)
        if not all(each in self.sheet.nodes for _, each in _named(chart)):
            return None  # the sheet has told of it, or of what it reads
        for key in ("x", "y"):
            self._check_axis(getattr(chart, key), self.place.inside(key))
        for number, line in enumerate(chart.lines):
            self._check_line(line.points, self.place.inside("lines", number, "points"))
        if len(self.problems.found) > before:
            return None
        title = spoken(chart.title, self.language, self.sheet.title)
        lines = tuple(
            PlannedLine(spoken(line.label, self.language, title), tuple((x, y) for x, y in line.points))
            for line in chart.lines
        )
        name = str(self.place.keys[-1])
        return PlannedChart(name, chart.sheet, title, chart.x, chart.y, chart.scale, lines, self.place)

    def _number(self, name: str, place: Place) -> Node | None:
        """Return the node of a name, None after telling that it is no number."""
        node = self.sheet.nodes[name]
        if node.kind.kind == "number":
            return node
        self.problems.add(f"a chart shows numbers, {name!r} is a {node.kind.kind}", place)
        return None

    def _check_axis(self, name: str, place: Place) -> None:
        """Tell an x or a y that is no number, or the same on every row of a sheet with rows."""
        node = self._number(name, place)
        if node is not None and self.sheet.axes and not node.varies:
            what = f"{name!r} is the same on every row"
            self.problems.add(what, place, "x and y of a chart are columns; a line goes through other names")

    def _check_line(self, points: list[list[str]], place: Place) -> None:
        """Tell a line of fewer than two points, and its points that are no pair of names of fit units."""
        if len(points) < _PAIR:
            self.problems.add("a line goes through two points at least", place)
        for number, point in enumerate(points):
            if len(point) != _PAIR:
                self.problems.add("a point is two names: its x and its y", place.inside(number))
                continue
            for i, axis in enumerate((self.chart.x, self.chart.y)):
                self._check_point(point[i], axis, place.inside(number, i))

    def _check_point(self, name: str, axis: str, place: Place) -> None:
        """Tell a coordinate that differs from row to row, or has another unit than its axis."""
        node, along = self._number(name, place), self.sheet.nodes[axis]
        if node is None or along.kind.kind != "number":
            return
        if node.varies:
            self.problems.add(f"{name!r} differs from row to row", place, "a line is the same for all rows")
        elif not same(node.kind.unit, along.kind.unit):
            units = f"{name!r} is in {spell(node.kind.unit)}, its axis {axis!r} in {spell(along.kind.unit)}"
            self.problems.add(units, place)
