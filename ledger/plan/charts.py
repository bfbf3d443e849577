"""The charts of a report resolved: which names of a sheet are their points and their lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Chart, spoken
from ledger.errors import Place, Problems, near
from ledger.language.units import same, spell
from ledger.plan.plan import Node, PlannedChart, PlannedLine, PlannedSheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.declarations.toml import Declared

Keys = tuple[str | int, ...]
_PAIR = 2


def drawn_names(declared: Declared, sheet: str) -> tuple[tuple[str, Place], ...]:
    """Return the names of a sheet that charts show, each with where a chart names it."""
    return tuple(
        (found, Place(declared.file, keys=("charts", name, *keys), offset=0))
        for name, chart in declared.report.charts.items()
        if chart.sheet == sheet
        for keys, found in _named(chart)
    )


def _named(chart: Chart) -> Iterator[tuple[Keys, str]]:
    yield ("x",), chart.x
    yield ("y",), chart.y
    for i, line in enumerate(chart.lines):
        for j, point in enumerate(line.points):
            for k, name in enumerate(point):
                yield ("lines", i, "points", j, k), name


def planned_charts(
    declared: Declared, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> tuple[PlannedChart, ...]:
    """Return every chart whose names can be drawn; tell the others."""
    found = []
    for name, chart in declared.report.charts.items():
        place = Place(declared.file, keys=("charts", name))
        if chart.sheet not in sheets:
            at = replace(place, keys=(*place.keys, "sheet"), offset=0)
            problems.add(f"unknown sheet {chart.sheet!r}", at, near(chart.sheet, sheets))
            continue
        language = declared.project.language
        planned = _ChartPlanner(chart, place, sheets[chart.sheet], language, problems).planned(name)
        found += [planned] if planned else []
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _ChartPlanner:
    chart: Chart
    place: Place
    sheet: PlannedSheet
    language: str
    problems: Problems

    def planned(self, name: str) -> PlannedChart | None:
        """Return the chart, None if one of its names cannot be drawn."""
        chart, before = self.chart, len(self.problems.found)
        if not all(each in self.sheet.nodes for _, each in _named(chart)):
            return None  # which the sheet has told, or what it reads
        for key in ("x", "y"):
            self._check_axis(getattr(chart, key), self._at(key))
        for number, line in enumerate(chart.lines):
            self._check_line(line.points, ("lines", number, "points"))
        if len(self.problems.found) > before:
            return None
        title = spoken(chart.title, self.language, self.sheet.title)
        lines = tuple(
            PlannedLine(spoken(line.label, self.language, title), tuple((x, y) for x, y in line.points))
            for line in chart.lines
        )
        return PlannedChart(name, chart.sheet, title, chart.x, chart.y, chart.scale, lines, self.place)

    def _at(self, *keys: str | int) -> Place:
        return replace(self.place, keys=(*self.place.keys, *keys), offset=0)

    def _number(self, name: str, place: Place) -> Node | None:
        """Return the node of a name, None after telling that it is no number."""
        node = self.sheet.nodes[name]
        if node.kind.kind == "number":
            return node
        self.problems.add(f"a chart shows numbers, {name!r} is a {node.kind.kind}", place)
        return None

    def _check_axis(self, name: str, place: Place) -> None:
        node = self._number(name, place)
        if node is not None and self.sheet.axes and not node.varies:
            what = f"{name!r} is the same on every row"
            self.problems.add(what, place, "x and y of a chart are columns; a line goes through other names")

    def _check_line(self, points: list[list[str]], keys: Keys) -> None:
        if len(points) < _PAIR:
            self.problems.add("a line goes through two points at least", self._at(*keys))
        for number, point in enumerate(points):
            if len(point) != _PAIR:
                self.problems.add("a point is two names: its x and its y", self._at(*keys, number))
                continue
            for i, axis in enumerate((self.chart.x, self.chart.y)):
                self._check_point(point[i], axis, self._at(*keys, number, i))

    def _check_point(self, name: str, axis: str, place: Place) -> None:
        node, along = self._number(name, place), self.sheet.nodes[axis]
        if node is None or along.kind.kind != "number":
            return
        if node.varies:
            self.problems.add(f"{name!r} differs from row to row", place, "a line is the same for all rows")
        elif not same(node.kind.unit, along.kind.unit):
            units = f"{name!r} is in {spell(node.kind.unit)}, its axis {axis!r} in {spell(along.kind.unit)}"
            self.problems.add(units, place)
