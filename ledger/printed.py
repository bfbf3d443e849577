"""The views of a report resolved: which nodes they print, under which heading, by which rule."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.errors import Place, Problems, near
from ledger.model import ViewColumn, listed, spoken
from ledger.nodes import displayed
from ledger.plan import ID, PlannedView, PrintedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.declarations import Declared
    from ledger.display import Ladder
    from ledger.library import Library
    from ledger.model import Label, Printed, Report, View
    from ledger.plan import Node, PlannedSheet

_MATRIX = ("down", "across", "cell")


def wanted_names(report: Report, sheet: str) -> tuple[str, ...]:
    """Return the names of a sheet that views print."""
    found: list[str] = []
    for view in report.views.values():
        if view.sheet == sheet:
            found += [column.column for _, column in _declared_columns(view)]
            found += [name for _, column in _declared_columns(view) for name in _named(column.label)]
    return tuple(name for name in dict.fromkeys(found) if name != ID)


def planned_views(
    declared: Declared, library: Library, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> tuple[PlannedView, ...]:
    """Return every view whose names are all known; tell the others."""
    report = declared.report
    found = []
    for name, view in report.views.items():
        place = Place(declared.file, keys=("views", name))
        if view.sheet not in sheets:
            at = replace(place, keys=(*place.keys, "sheet"), offset=0)
            problems.add(f"unknown sheet {view.sheet!r}", at, near(view.sheet, sheets))
            continue
        writer = _ViewWriter(view, place, sheets[view.sheet], declared.project.language, library, problems)
        planned = writer.planned(name)
        found += [planned] if planned else []
    _check_calc(declared, library, problems)
    return tuple(found)


def _declared_columns(view: View) -> Iterator[tuple[tuple[str | int, ...], ViewColumn]]:
    """Yield each column that a view names, with its keys."""
    for i, column in enumerate(view.columns):
        yield ("columns", i), _column(column)
    for key in _MATRIX:
        column = getattr(view, key)
        if column:
            yield (key,), _column(column)


def _column(column: Printed) -> ViewColumn:
    return ViewColumn(column) if isinstance(column, str) else column


def _named(label: Label) -> tuple[str, ...]:
    """Return the names in braces of a label, in every language."""
    texts = [label] if isinstance(label, str) else list(label.values())
    return tuple(name for text in texts for _, name in _parts(text) if name)


def _parts(text: str) -> tuple[tuple[str, str], ...]:
    """Return text and the name in the braces after it, in turn; text that is no format is text."""
    try:
        return tuple((before, name or "") for before, name, _, _ in string.Formatter().parse(text))
    except ValueError:
        return ((text, ""),)


@dataclass(frozen=True, slots=True)
class _ViewWriter:
    view: View
    place: Place
    sheet: PlannedSheet
    language: str
    library: Library
    problems: Problems

    def planned(self, name: str) -> PlannedView | None:
        """Return the view with its columns resolved, None if some cannot be."""
        view = self.view
        self._check_shape()
        columns = [self._printed(column, keys) for keys, column in _declared_columns(view)]
        seen: dict[str, int] = {}
        for i, column in enumerate(columns):
            if column and seen.setdefault(column.name, i) != i:
                what = f"{column.name!r} is printed twice"
                self.problems.add(what, self._at("columns", i), "give one of them another name: as = 'NAME'")
        if not columns or not all(columns):
            return None
        return PlannedView(
            name, view.sheet, view.kind, spoken(view.title, self.language, self.sheet.title),
            tuple(each for each in columns if each), view.row, listed(view.template), self.place,
        )  # fmt: skip

    def _at(self, *keys: str | int) -> Place:
        return replace(self.place, keys=(*self.place.keys, *keys))

    def _check_shape(self) -> None:
        """Tell keys that the kind of view does not have, and those that it needs."""
        view, matrix = self.view, self.view.kind == "matrix"
        for key in _MATRIX:
            if bool(getattr(view, key)) != matrix:
                what = f"a matrix needs {key!r}" if matrix else f"{key!r} is for a matrix"
                self.problems.add(what, self._at(key) if not matrix else self.place)
        if bool(view.columns) == matrix:
            self.problems.add("a matrix has no columns" if matrix else "the view has no columns", self.place)
        if view.kind == "record" and bool(view.row) != bool(self.sheet.axes):
            what = (
                "a record of a sheet with rows needs row = 'ID'"
                if self.sheet.axes
                else "the sheet has one row"
            )
            self.problems.add(what, self.place)
        if view.kind != "record" and not self.sheet.axes:
            self.problems.add(
                f"sheet {view.sheet!r} has no rows", self.place, "a view of one row is a record"
            )

    def _printed(self, column: ViewColumn, keys: tuple[str | int, ...]) -> PrintedColumn | None:
        node = self.sheet.nodes.get(column.column)
        if node is None:
            known = (*self.library.known(), *self.sheet.nodes)
            if column.column not in known:
                self.problems.add(
                    f"unknown column {column.column!r}", self._at(*keys), near(column.column, known)
                )
            return None
        label = spoken(column.label, self.language, node.label or node.name)
        for _, name in _parts(label):
            inside = self.sheet.nodes.get(name) if name else None
            if inside is not None and inside.varies:
                self.problems.add(f"{name!r} in a label differs from row to row", self._at(*keys))
        ladder = self._ladder(column, node, keys)
        return PrintedColumn(node.name, column.as_ or column.column, _parts(label), ladder, node.kind.kind)

    def _ladder(self, column: ViewColumn, node: Node, keys: tuple[str | int, ...]) -> Ladder | None:
        if not column.display:
            return node.ladder
        at = replace(self._at(*keys, "display"), offset=0)
        return displayed(column.display, node.kind, node.unit, at, self.library.atoms, self.problems).ladder


def _check_calc(declared: Declared, library: Library, problems: Problems) -> None:
    calc, place = declared.report.calc, Place(declared.file, keys=("calc",))
    if calc is None:
        return
    for key, view in (("view", calc.view), ("sweep", calc.sweep)):
        if view is not None and view not in declared.report.views:
            at = replace(place, keys=("calc", key), offset=0)
            problems.add(f"unknown view {view!r}", at, near(view, declared.report.views))
    known = (*library.inputs, *library.lookups)
    for option, inputs in calc.options.items():
        for name in listed(inputs):
            if name not in known:
                at = replace(place, keys=("calc", "options", option))
                problems.add(
                    f"option {option!r} stands for {name!r}, which is no input", at, near(name, known)
                )
