"""The views of a report resolved: which nodes they print, under which heading, by which rule."""

from __future__ import annotations

import string
from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Label, Printed, Sheet, View, ViewColumn, listed, placed, spoken
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
    """Yield every view whose names are all known; add problems for the others, and for `calc`."""
    for view, place, sheet in on_known_sheets(_views(declared, problems), sheets, problems):
        before = len(problems.found)
        _check_shape(view, place, declared.report.sheets[view.sheet], problems)
        if len(problems.found) == before:
            _check_twice(view, place, problems)
        columns = [
            _printed(column, place.inside(*keys), sheet, models, problems)
            for keys, column in _declared_columns(view)
        ]
        if len(problems.found) == before and all(columns):
            yield PlannedView(
                str(place.keys[-1]), view.sheet, view.kind, spoken(view.title, models.language, sheet.title),
                tuple(each for each in columns if each), view.row, listed(view.template), place,
            )  # fmt: skip
    _check_calc(declared, models, problems)


def _views(declared: Declared, problems: Problems) -> Iterator[tuple[View, Place]]:
    """Yield the views of a report, each with its place; add problems for names that differ in case only."""
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


def _check_shape(view: View, place: Place, sheet: Sheet, problems: Problems) -> None:
    """Add problems for keys that a kind of view does not have or lacks, and for rows that its sheet lacks.

    A sheet has rows if it declares some, in known tables or not.
    """
    kind, has_rows = view.kind, bool(sheet.rows) or any(isinstance(each, list) for each in sheet.set.values())
    owners = {"columns": {"table", "record"}, "row": {"record"}, **{key: {"matrix"} for key in _MATRIX}}
    for key, kinds in owners.items():
        if getattr(view, key) and kind not in kinds:
            what = f"{key!r} is for a {' or '.join(sorted(kinds))}"
            problems.add(what, replace(place.inside(key), offset=None))
        elif not getattr(view, key) and kind in kinds and key != "row":
            problems.add(f"a {kind} needs {key!r}", place)
    no_rows = f"sheet {view.sheet!r} has no rows"
    match (kind == "record", has_rows, bool(view.row)):
        case (True, True, False):
            problems.add("a record of a sheet with rows needs row = 'ID'", place)
        case (True, False, True):
            problems.add(no_rows, replace(place.inside("row"), offset=None), "delete 'row'")
        case (False, False, _):
            problems.add(no_rows, place, "a view of one row is a record")


def _check_twice(view: View, place: Place, problems: Problems) -> None:
    """Add a problem for each column that is printed under the name of another."""
    seen: set[str] = set()
    for keys, column in _declared_columns(view):
        name = column.as_ or column.column
        if name in seen:
            hint = "give one of them another name: as = 'NAME'"
            problems.add(f"{name!r} is printed twice", place.inside(*keys), hint)
        seen.add(name)


def _printed(
    column: ViewColumn, place: Place, sheet: PlannedSheet, models: Models, problems: Problems
) -> PrintedColumn | None:
    """Return a column with its heading and its ladder, None if its name has no node."""
    node = sheet.nodes.get(column.column)
    if node is None:  # a problem of the sheet, already added
        return None
    label = spoken(column.label, models.language, node.label or node.name)
    # A column's own label is printed on other sheets too, where braces are only braces.
    heading = _parts(label) if column.label else ((label, ""),)
    for _, name in heading:
        if name in sheet.nodes and sheet.nodes[name].varies:
            what = f"{name!r} in a label differs from row to row"
            problems.add(what, replace(place, offset=None))
    ladder = node.ladder
    if column.display:
        at = place.inside("display")
        ladder = displayed(column.display, node.kind, node.unit, at, models.atoms, problems).ladder
    return PrintedColumn(node.name, column.as_ or column.column, heading, ladder, node.kind.kind)


def _check_calc(declared: Declared, models: Models, problems: Problems) -> None:
    """Add problems for unknown views of `calc`, and for its options of what is no input."""
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
