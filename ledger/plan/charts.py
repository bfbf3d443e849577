"""The charts of a report resolved: which columns and values of a sheet are their points and their lines."""

from __future__ import annotations

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
    """Yield every chart whose names are numbers that can be drawn; add problems for the others."""
    charts = declared.report.charts.items()
    places = ((chart, Place(declared.file, keys=("charts", name))) for name, chart in charts)
    for chart, place, sheet in on_known_sheets(places, sheets, problems):
        before = len(problems.found)
        if not all(name in sheet.nodes for _, name in _named(chart)):
            continue  # a problem of the sheet, already added
        for key, name in (("x", chart.x), ("y", chart.y)):
            _check_axis(name, place.inside(key), sheet, problems)
        for number, line in enumerate(chart.lines):
            _check_line(line.points, chart, place.inside("lines", number, "points"), sheet, problems)
        if len(problems.found) == before:
            yield _planned(chart, place, sheet, declared.project.language)


def _planned(chart: Chart, place: Place, sheet: PlannedSheet, language: str) -> PlannedChart:
    """Return a chart with its title and its lines' labels, the chart's title for a line without one."""
    name, title = str(place.keys[-1]), spoken(chart.title, language, sheet.title)
    lines = tuple(
        PlannedLine(spoken(line.label, language, title), tuple((x, y) for x, y in line.points))
        for line in chart.lines
    )
    return PlannedChart(name, chart.sheet, title, chart.x, chart.y, chart.scale, lines, place)


def _number(name: str, place: Place, sheet: PlannedSheet, problems: Problems) -> Node | None:
    """Return the node of a name, None after adding a problem if it is no number."""
    node = sheet.nodes[name]
    if node.kind.kind == "number":
        return node
    problems.add(f"a chart shows numbers, {name!r} is a {node.kind.kind}", place)
    return None


def _check_axis(name: str, place: Place, sheet: PlannedSheet, problems: Problems) -> None:
    """Add a problem for an x or a y that is no number, or the same on every row of a sheet with rows."""
    node = _number(name, place, sheet, problems)
    if node is not None and sheet.axes and not node.varies:
        what = f"{name!r} is the same on every row"
        problems.add(what, place, "x and y of a chart are columns; a line goes through other names")


def _check_line(
    points: list[list[str]], chart: Chart, place: Place, sheet: PlannedSheet, problems: Problems
) -> None:
    """Add problems for a line of fewer than two points, and for points that are no x and y of the chart."""
    if len(points) < _PAIR:
        problems.add("a line goes through two points at least", place)
    for number, point in enumerate(points):
        if len(point) != _PAIR:
            problems.add("a point is two names: its x and its y", place.inside(number))
            continue
        for i, axis in enumerate((chart.x, chart.y)):
            _check_coordinate(point[i], axis, place.inside(number, i), sheet, problems)


def _check_coordinate(name: str, axis: str, place: Place, sheet: PlannedSheet, problems: Problems) -> None:
    """Add a problem for a coordinate that is no number, differs by row, or has another unit than its axis."""
    node, along = _number(name, place, sheet, problems), sheet.nodes[axis]
    if node is None or along.kind.kind != "number":
        return
    if node.varies:
        problems.add(f"{name!r} differs from row to row", place, "a line is the same for all rows")
    elif not same(node.kind.unit, along.kind.unit):
        units = f"{name!r} is in {spell(node.kind.unit)}, its axis {axis!r} in {spell(along.kind.unit)}"
        problems.add(units, place)
