"""The tables of a report: scenario CSVs with typed fields, and the lists a sheet takes as an axis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.errors import Place, Problems
from ledger.kinds import Kind
from ledger.model import listed, spoken
from ledger.nodes import declared_kind, displayed
from ledger.plan import Axis, Node, PlannedTable, RowField
from ledger.scenario import Field, Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.declarations import Declared
    from ledger.library import Entry, Library
    from ledger.model import Input, Scalar, Table, TableField


def planned_tables(
    declared: Declared,
    library: Library,
    axes: Mapping[str, Sequence[Axis]],
    stands: Mapping[str, str],
    problems: Problems,
) -> dict[str, PlannedTable]:
    """Return every table that a sheet's rows or a lookup can need, by name."""
    needed = {entry.value.table for entry in library.lookups.values()}
    needed |= {axis.table for parts in axes.values() for axis in parts}
    found = {
        name: _planned(name, entry, declared, library, stands.get(name, ""), problems)
        for name, entry in library.tables.items()
        if name in needed
    }
    for sheet, parts in axes.items():
        for axis in parts:
            if axis.name != axis.table:
                listing = _listing(axis, sheet, declared, library, stands.get(axis.table, ""), problems)
                found[axis.table] = listing
    return found


def _planned(
    name: str, entry: Entry[Table], declared: Declared, library: Library, sheet: str, problems: Problems
) -> PlannedTable:
    table = entry.value
    file = f"{declared.project.scenarios}/{table.path or name + '.csv'}"
    source = Source(declared.root / file, file, listed(table.key), table.encoding)
    nodes, typed = [], []
    for field, value in table.fields.items():
        at = replace(entry.place, keys=(*entry.place.keys, "fields", field))
        nodes.append(_field_node(field, value, at, library, declared.project.language, problems))
        typed.append(Field(field, value.column or field, value.kind, value.optional, value.min, value.max))
    label = spoken(table.label, declared.project.language, name)
    return PlannedTable(name, tuple(nodes), tuple(typed), source, (), sheet, label, entry.place)


def _field_node(
    name: str, field: TableField, place: Place, library: Library, language: str, problems: Problems
) -> Node:
    kind = declared_kind(field.kind, field.unit, _inside(place, "unit"), library.atoms, problems)
    shown = displayed(field.display, kind, field.unit, _inside(place, "display"), library.atoms, problems)
    return Node(
        name, RowField(0, name), kind, varies=True, place=place, unit=field.unit,
        label=spoken(field.label, language, name), rule=shown.rule, ladder=shown.ladder, source=field.source,
    )  # fmt: skip


def _inside(place: Place, key: str) -> Place:
    return replace(place, keys=(*place.keys, key), offset=0)


def _listing(
    axis: Axis, sheet: str, declared: Declared, library: Library, stands: str, problems: Problems
) -> PlannedTable:
    """Return the values that a sheet's `set` gives an input as a table of one field."""
    place = Place(declared.file, keys=("sheets", sheet, "set", axis.name))
    values = declared.report.sheets[sheet].set[axis.name]
    entry = library.inputs.get(axis.name)
    language = declared.project.language
    kind, unit, label = Kind("text"), "", axis.name
    shown = displayed("", kind, "", place, library.atoms, problems)
    if entry is not None:
        kind, unit = _input_kind(entry, library, problems), entry.value.unit
        label = spoken(entry.value.label, language, axis.name)
        shown = displayed(entry.value.display, kind, unit, entry.at("display"), library.atoms, problems)
    how = RowField(0, axis.name)
    node = Node(
        axis.name,
        how,
        kind,
        varies=True,
        place=place,
        unit=unit,
        label=label,
        rule=shown.rule,
        ladder=shown.ladder,
    )
    checked = tuple(_checked(value, i, kind, place, problems) for i, value in enumerate(_as_list(values)))
    if not checked:
        problems.add(f"the list of {axis.name!r} is empty", place, "give at least one value")
    for i, value in enumerate(checked):
        if value in checked[:i]:
            problems.add(f"{value!r} stands twice in the list", replace(place, keys=(*place.keys, i)))
    return PlannedTable(axis.table, (node,), (), None, checked, stands, label, place)


def _as_list(values: Scalar | list[Scalar]) -> list[Scalar]:
    return values if isinstance(values, list) else [values]


def _input_kind(entry: Entry[Input], library: Library, problems: Problems) -> Kind:
    return declared_kind(entry.value.kind, entry.value.unit, entry.at("unit"), library.atoms, problems)


def _checked(value: Scalar, i: int, kind: Kind, place: Place, problems: Problems) -> float | str:
    at = replace(place, keys=(*place.keys, i))
    if isinstance(value, str) != (kind.kind == "text"):
        problems.add(f"{value!r} is not a {kind.kind}", at)
        return 0.0 if kind.kind == "number" else ""
    if kind.whole and isinstance(value, float) and not value.is_integer():
        problems.add(f"{value!r} is not a whole number", at)
    return value if isinstance(value, str) else float(value)
