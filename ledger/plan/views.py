"""The views of a report resolved: which nodes they print, under which heading, by which rule."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Label, Printed, View, ViewColumn, listed, placed, spoken
from ledger.errors import Place, Problems, near
from ledger.plan.names import Models, check_case, displayed, on_known_sheets
from ledger.plan.plan import PlannedSheet, PlannedView, PrintedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.declarations.toml import Declared

_MATRIX = ("down", "across", "cell")


def wanted_names(declared: Declared, sheet: str) -> tuple[tuple[str, Place], ...]:
    """Return the names of a sheet that views print, each with the place where a view reads it first."""
    found: dict[str, Place] = {}
    for name, view in declared.report.views.items():
        for keys, column in _declared_columns(view) if view.sheet == sheet else ():
            at = Place(declared.file).inside("views", name, *keys)
            found.setdefault(column.column, _key_place(view, at, "column"))
            for inner in _named(column.label):
                found.setdefault(inner, _key_place(view, at, "label"))
    return tuple(found.items())


def planned_views(
    declared: Declared, models: Models, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> Iterator[PlannedView]:
    """Yield every view whose names are all known; tell the others, and what is wrong with `calc`."""
    for view, place, sheet in on_known_sheets(_views(declared, problems), sheets, problems):
        own = declared.report.sheets[view.sheet]
        has_rows = bool(own.rows) or any(isinstance(value, list) for value in own.set.values())
        if planned := _ViewPlanner(view, place, sheet, has_rows, models, problems).planned():
            yield planned
    _check_calc(declared, models, problems)


def _views(declared: Declared, problems: Problems) -> Iterator[tuple[View, Place]]:
    """Yield the views of a report, each with its place, after telling names that differ in case only."""
    seen: dict[str, str] = {}
    for name, view in declared.report.views.items():
        place = Place(declared.file, keys=("views", name))
        check_case(name, seen, place, problems, "rename one of them: both are names of files")
        yield view, place


def _declared_columns(view: View) -> Iterator[tuple[tuple[str | int, ...], ViewColumn]]:
    """Yield each column that a view names, with its keys."""
    columns: list[tuple[tuple[str | int, ...], Printed]] = [
        *((("columns", i), column) for i, column in enumerate(view.columns)),
        *(((key,), getattr(view, key)) for key in _MATRIX if getattr(view, key)),
    ]
    for keys, column in columns:
        yield keys, ViewColumn(column) if isinstance(column, str) else column


def _key_place(view: View, column: Place, key: str) -> Place:
    """Return the place of a key of a column that a view declares, of the column if it is a name alone."""
    name, *number = column.keys[2:]
    declared = getattr(view, str(name))
    alone = isinstance(declared[int(number[0])] if number else declared, str)
    return column if alone else column.inside(key)


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
    """One view and its sheet; `has_rows` is whether rows are declared for it, known tables or not."""

    view: View
    place: Place
    sheet: PlannedSheet
    has_rows: bool
    models: Models
    problems: Problems

    def planned(self) -> PlannedView | None:
        """Return the view with its columns resolved, None if some cannot be."""
        view, before = self.view, len(self.problems.found)
        self._check_shape()
        if len(self.problems.found) == before:
            self._check_twice()
        columns = [self._printed(column, keys) for keys, column in _declared_columns(view)]
        if len(self.problems.found) > before or not all(columns):
            return None
        name, title = str(self.place.keys[-1]), spoken(view.title, self.models.language, self.sheet.title)
        return PlannedView(
            name, view.sheet, view.kind, title,
            tuple(each for each in columns if each), view.row, listed(view.template), self.place,
        )  # fmt: skip

    def _key(self, *keys: str | int) -> Place:
        """Return the place of a key itself, not that of its value."""
        return replace(self.place.inside(*keys), offset=None)

    def _check_shape(self) -> None:
        """Tell keys that the kind of view does not have, and those that it needs."""
        view, kind = self.view, self.view.kind
        owners = {"columns": {"table", "record"}, "row": {"record"}, **{key: {"matrix"} for key in _MATRIX}}
        for key, kinds in owners.items():
            if getattr(view, key) and kind not in kinds:
                self.problems.add(f"{key!r} is for a {' or '.join(sorted(kinds))}", self._key(key))
            elif not getattr(view, key) and kind in kinds and key != "row":
                self.problems.add(f"a {kind} needs {key!r}", self.place)
        if kind == "record" and self.has_rows and not view.row:
            self.problems.add("a record of a sheet with rows needs row = 'ID'", self.place)
        if kind == "record" and view.row and not self.has_rows:
            self.problems.add(f"sheet {view.sheet!r} has no rows", self._key("row"), "delete 'row'")
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
                self.problems.add(what, self.place.inside(*keys), hint)
            seen.add(name)

    def _printed(self, column: ViewColumn, keys: tuple[str | int, ...]) -> PrintedColumn | None:
        """Return a column with its heading and its ladder, None if its name has no node."""
        node = self.sheet.nodes.get(column.column)
        if node is None:  # the sheet has told of it, or of what it reads
            return None
        label = spoken(column.label, self.models.language, node.label or node.name)
        # A column's own label stands on other sheets too, where braces are only braces.
        heading = _parts(label) if column.label else ((label, ""),)
        for _, name in heading:
            inside = self.sheet.nodes.get(name) if name else None
            if inside is not None and inside.varies:
                self.problems.add(f"{name!r} in a label differs from row to row", self._key(*keys))
        ladder = node.ladder
        if column.display:
            at, atoms = self.place.inside(*keys, "display"), self.models.atoms
            ladder = displayed(column.display, node.kind, node.unit, at, atoms, self.problems).ladder
        return PrintedColumn(node.name, column.as_ or column.column, heading, ladder, node.kind.kind)


def _check_calc(declared: Declared, models: Models, problems: Problems) -> None:
    """Tell the views of `calc` that are unknown, and its options for what is no input."""
    calc, views = declared.report.calc, declared.report.views
    if calc is None:
        return
    for key, named in (("view", calc.view), ("sweep", calc.sweep), ("csv", calc.csv)):
        for view, place in placed(named, Place(declared.file, keys=("calc", key))):
            if view not in views:
                problems.add(f"unknown view {view!r}", place, near(view, views))
    known = models.settable()
    for option, inputs in calc.options.items():
        for name in listed(inputs):
            if name not in known:
                what = f"option {option!r} stands for {name!r}, which is no input"
                place = Place(declared.file, keys=("calc", "options", option))
                problems.add(what, place, near(name, known))
