"""The tables of a report: scenario CSVs with typed fields, and the lists a sheet takes as an axis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from ledger.declarations.model import Scalar, Table, listed, spoken
from ledger.declarations.scenario import KEY_HINT, NOT_IN_KEY, NUMBERED, Field, Source
from ledger.errors import LedgerError, Place, Problems
from ledger.language.types import Kind
from ledger.plan.names import (
    Entry,
    Models,
    Settings,
    check_bounds,
    check_case,
    checked,
    declared_node,
    from_text,
)
from ledger.plan.plan import Axis, Node, PlannedTable, RowField
from ledger.values import number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.declarations.toml import Declared


def planned_tables(
    declared: Declared,
    models: Models,
    axes: Mapping[str, Sequence[Axis]],
    homes: Mapping[str, str],
    settings: Settings,
    problems: Problems,
) -> dict[str, PlannedTable]:
    """Return every table that a sheet's rows or a lookup can need, by name.

    `axes` are those of each sheet, `homes` the ledger sheets of the tables that have no sheet of their own.
    """
    needed = models.looked_up() | {axis.table for parts in axes.values() for axis in parts}
    found = {
        name: _planned(name, entry, declared, models, homes.get(name, ""), problems)
        for name, entry in models.tables.items()
        if name in needed
    }
    for sheet, parts in axes.items():
        for axis in parts:
            if axis.name != axis.table:
                listing = _listing(axis, sheet, declared, models, settings, problems)
                found[axis.table] = replace(listing, sheet=homes.get(axis.table, ""))
    return found


def _planned(
    name: str, entry: Entry[Table], declared: Declared, models: Models, sheet: str, problems: Problems
) -> PlannedTable:
    """Return a table with its scenario file, its typed fields and the file of its notes."""
    table = entry.value
    source = _source(declared, table.path or f"{name}.csv", _key(entry, problems), table.encoding)
    source = replace(source, documents=tuple(table.documents))
    notes = _source(declared, table.notes, NUMBERED, table.encoding) if table.notes else None
    nodes, typed = [], []
    seen: dict[str, str] = {}
    for field, value in table.fields.items():
        at = replace(entry.place.inside("fields", field), offset=None)
        check_case(field, seen, at, problems)
        node = Node(field, RowField(0, field), Kind("text"), varies=True, place=at, source=value.source)
        nodes.append(declared_node(node, value, at, models, problems))
        typed.append(Field(field, value.column or field, value.kind, value.optional, value.min, value.max))
    label = spoken(table.label, models.language, name)
    return PlannedTable(name, tuple(nodes), tuple(typed), source, (), sheet, label, entry.place, notes)


def _key(entry: Entry[Table], problems: Problems) -> tuple[str, ...]:
    """Return the columns that identify a row, none if they are declared wrongly."""
    key, place = listed(entry.value.key), entry.place.inside("key")
    if not key or not all(key):
        problems.add("the key of a table is at least one column", place, "such as key = 'id'")
        return ()
    if len(set(key)) < len(key):
        problems.add("a column stands twice in the key", place)
        return ()
    return key


def _source(declared: Declared, name: str, key: tuple[str, ...], encoding: str) -> Source:
    """Return a file of the scenarios; one from outside the project goes by its name alone.

    No path of a machine gets into an output.
    """
    path = PurePath(name)
    file = path.name if path.is_absolute() else f"{declared.project.scenarios}/{path.as_posix()}"
    return Source(declared.root / declared.project.scenarios / path, file, key, encoding)


def _listing(
    axis: Axis, sheet: str, declared: Declared, models: Models, settings: Settings, problems: Problems
) -> PlannedTable:
    """Return the values to which a sheet's `set` sets an input, as a table; those of an option replace them.

    Its one field is as the input is declared; the key of a lookup is a text.
    """
    place = Place(declared.file, keys=("sheets", sheet, "set", axis.name))
    node = Node(axis.name, RowField(0, axis.name), Kind("text"), varies=True, place=place, label=axis.name)
    entry = models.inputs.get(axis.name)
    if entry is not None:
        node = declared_node(node, entry.value, entry.place, models, problems)
        node = replace(node, bounds=(entry.value.min, entry.value.max))
    values = declared.report.sheets[sheet].set[axis.name]
    items: Sequence[tuple[Scalar, Place]] = [
        (item, place.inside(i)) for i, item in enumerate(values if isinstance(values, list) else [values])
    ]
    if axis.name in settings.given:
        items = _from_outside(node, settings, problems)
    found = tuple(_items(node, items, problems))
    return PlannedTable(axis.table, (node,), (), None, found, "", node.label, place)


def _from_outside(node: Node, settings: Settings, problems: Problems) -> list[tuple[Scalar, Place]]:
    """Return the values that the texts of an option give a list; add problems for those that spell none."""
    found: list[tuple[Scalar, Place]] = []
    place = settings.place(node.name)
    for text in settings.given[node.name]:
        try:
            found.append((from_text(text, node.kind, place), place))
        except LedgerError as error:
            problems.extend(error)
    return found


def _items(node: Node, items: Sequence[tuple[Scalar, Place]], problems: Problems) -> Iterator[float | str]:
    """Yield each value of a list that can be used; add problems for the others."""
    if not items:
        problems.add(f"the list of {node.name!r} is empty", node.place, "give at least one value")
    seen: set[str] = set()
    for item, at in items:
        try:
            value = checked(node.name, item, node.kind, at)
        except LedgerError as error:
            problems.extend(error)
            continue
        check_bounds(node.name, value, node.bounds, at, problems)
        text = value if isinstance(value, str) else number_text(value)
        if text.casefold() in seen:  # a spreadsheet looks keys up without case
            problems.add(f"{text!r} stands twice in the list", at, "each row needs a key of its own")
        seen.add(text.casefold())
        if found := NOT_IN_KEY.search(text):
            problems.add(f"key {text!r} holds {found[0]!r}", at, KEY_HINT)
        yield value
