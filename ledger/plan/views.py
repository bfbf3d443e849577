"""The views of a report resolved: which nodes they print, under which heading, by which rule."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Label, Printed, View, ViewColumn, listed, spoken
from ledger.errors import Place, Problems, near
from ledger.plan.names import Models, displayed
from ledger.plan.plan import Node, PlannedSheet, PlannedView, PrintedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.declarations.toml import Declared
    from ledger.display.rules import Ladder

_MATRIX = ("down", "across", "cell")


def wanted_names(declared: Declared, sheet: str) -> tuple[tuple[str, Place], ...]:
    """Return the names of a sheet that views print, each with where a view names it first."""
    found: dict[str, Place] = {}
    for name, view in declared.report.views.items():
        for keys, column in _declared_columns(view) if view.sheet == sheet else ():
            at = Place(declared.file, keys=("views", name, *keys), offset=0)
            found.setdefault(column.column, _inside(view, at, "column"))
            for inner in _named(column.label):
                found.setdefault(inner, _inside(view, at, "label"))
    return tuple(found.items())


def planned_views(
    declared: Declared, library: Models, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> tuple[PlannedView, ...]:
    """Return every view whose names are all known; tell the others."""
    report = declared.report
    found = []
    seen: dict[str, str] = {}
    for name, view in report.views.items():
        place = Place(declared.file, keys=("views", name))
        if seen.setdefault(name.casefold(), name) != name:
            what = f"{name!r} and {seen[name.casefold()]!r} differ in case only"
            problems.add(what, place, "rename one of them: both are names of files")
        if view.sheet not in sheets:
            at = replace(place, keys=(*place.keys, "sheet"), offset=0)
            problems.add(f"unknown sheet {view.sheet!r}", at, near(view.sheet, sheets))
            continue
        sheet, language = report.sheets[view.sheet], declared.project.language
        has_rows = bool(sheet.rows) or any(isinstance(value, list) for value in sheet.set.values())
        writer = _ViewPlanner(view, place, sheets[view.sheet], has_rows, language, library, problems)
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


def _inside(view: View, column: Place, key: str) -> Place:
    """Return the place of a key of a column that a view declares, of the column where it is only a name."""
    name, *number = column.keys[2:]
    declared = getattr(view, str(name))
    alone = isinstance(declared[int(number[0])] if number else declared, str)
    return column if alone else replace(column, keys=(*column.keys, key))


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
class _ViewPlanner:
    view: View
    place: Place
    sheet: PlannedSheet
    has_rows: bool
    language: str
    library: Models
    problems: Problems

    def planned(self, name: str) -> PlannedView | None:
        """Return the view with its columns resolved, None if some cannot be."""
        view, before = self.view, len(self.problems.found)
        self._check_shape()
        if len(self.problems.found) == before:
            self._check_twice()
        columns = [self._printed(column, keys) for keys, column in _declared_columns(view)]
        if len(self.problems.found) > before or not all(columns):
            return None
        return PlannedView(
            name, view.sheet, view.kind, spoken(view.title, self.language, self.sheet.title),
            tuple(each for each in columns if each), view.row, listed(view.template), self.place,
        )  # fmt: skip

    def _at(self, *keys: str | int) -> Place:
        return replace(self.place, keys=(*self.place.keys, *keys))

    def _check_shape(self) -> None:
        """Tell keys that the kind of view does not have, and those that it needs."""
        view, kind = self.view, self.view.kind
        owners = {"columns": {"table", "record"}, "row": {"record"}, **{key: {"matrix"} for key in _MATRIX}}
        for key, kinds in owners.items():
            if getattr(view, key) and kind not in kinds:
                self.problems.add(f"{key!r} is for a {' or '.join(sorted(kinds))}", self._at(key))
            elif not getattr(view, key) and kind in kinds and key != "row":
                self.problems.add(f"a {kind} needs {key!r}", self.place)
        if kind == "record" and self.has_rows and not view.row:
            self.problems.add("a record of a sheet with rows needs row = 'ID'", self.place)
        if kind == "record" and view.row and not self.has_rows:
            self.problems.add(f"sheet {view.sheet!r} has no rows", self._at("row"), "delete 'row'")
        if kind != "record" and not self.has_rows:
            hint = "a view of one row is a record"
            self.problems.add(f"sheet {view.sheet!r} has no rows", self.place, hint)

    def _check_twice(self) -> None:
        """Tell columns that go by one name."""
        seen: set[str] = set()
        for keys, column in _declared_columns(self.view):
            name = column.as_ or column.column
            if name in seen:
                what, hint = f"{name!r} is printed twice", "give one of them another name: as = 'NAME'"
                self.problems.add(what, replace(self._at(*keys), offset=0), hint)
            seen.add(name)

    def _printed(self, column: ViewColumn, keys: tuple[str | int, ...]) -> PrintedColumn | None:
        node = self.sheet.nodes.get(column.column)
        if node is None:  # which the sheet has told, or what it reads
            return None
        label = spoken(column.label, self.language, node.label or node.name)
        # A column's own label stands on other sheets too, where braces are only braces.
        heading = _parts(label) if column.label else ((label, ""),)
        for _, name in heading:
            inside = self.sheet.nodes.get(name) if name else None
            if inside is not None and inside.varies:
                self.problems.add(f"{name!r} in a label differs from row to row", self._at(*keys))
        ladder = self._ladder(column, node, keys)
        return PrintedColumn(node.name, column.as_ or column.column, heading, ladder, node.kind.kind)

    def _ladder(self, column: ViewColumn, node: Node, keys: tuple[str | int, ...]) -> Ladder | None:
        if not column.display:
            return node.ladder
        at = replace(self._at(*keys, "display"), offset=0)
        return displayed(column.display, node.kind, node.unit, at, self.library.atoms, self.problems).ladder


def _check_calc(declared: Declared, library: Models, problems: Problems) -> None:
    calc, place = declared.report.calc, Place(declared.file, keys=("calc",))
    if calc is None:
        return
    for key, views in (("view", calc.view), ("sweep", calc.sweep), ("csv", calc.csv)):
        for number, view in enumerate(listed(views)):
            if view not in declared.report.views:
                keys = ("calc", key) if isinstance(views, str) else ("calc", key, number)
                at = replace(place, keys=keys, offset=0)
                problems.add(f"unknown view {view!r}", at, near(view, declared.report.views))
    known = (*library.inputs, *library.lookups)
    for option, inputs in calc.options.items():
        for name in listed(inputs):
            if name not in known:
                at = replace(place, keys=("calc", "options", option))
                problems.add(
                    f"option {option!r} stands for {name!r}, which is no input", at, near(name, known)
                )
