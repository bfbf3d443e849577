"""What the names of one sheet can mean: its declaration, the library, the tables among its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger import units
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.kinds import BROKEN, Kind, described
from ledger.model import listed, spoken
from ledger.nodes import Display, declared_kind, displayed
from ledger.plan import ID, Axis, Fetched, How, Node, PlannedTable, RowField, RowId, RowKey

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.declarations import Declared
    from ledger.library import Entry, Library
    from ledger.model import Column, Input, Label, Sheet
    from ledger.units import Unit

_TEXT = Kind("text")


@dataclass(frozen=True, slots=True)
class SheetScope:
    """One sheet of a report and all that its names can come from."""

    name: str
    sheet: Sheet
    axes: tuple[Axis, ...]
    declared: Declared
    library: Library
    tables: Mapping[str, PlannedTable]
    problems: Problems

    def place(self, *keys: str | int) -> Place:
        """Return the place of a key inside the sheet's declaration."""
        return Place(self.declared.file, keys=("sheets", self.name, *keys), offset=0 if keys else None)

    def said(self, label: Label, otherwise: str = "") -> str:
        """Return a label in the project's language."""
        return spoken(label, self.declared.project.language, otherwise)

    def kind_of(self, entry: Entry[Input]) -> Kind:
        """Return the declared kind of an input."""
        value = entry.value
        return declared_kind(value.kind, value.unit, entry.text_at("unit"), self.library.atoms, self.problems)

    def displayed(self, text: str, kind: Kind, unit: str, place: Place) -> Display:
        """Return how a value of this sheet is printed."""
        return displayed(text, kind, unit, place, self.library.atoms, self.problems)

    def with_unit(self, kind: Kind, entry: Entry[Column]) -> Kind:
        """Return the kind in the declared unit: a count takes it, anything else must have it."""
        unit = entry.value.unit
        if kind.kind != "number":
            if unit:
                what = f"a {kind.kind} has no unit, but {unit!r} is declared"
                self.problems.add(what, entry.text_at("unit"))
            return kind
        wanted = self._unit(unit, entry)
        if units.same(kind.unit, wanted) or units.same(kind.unit, units.COUNT) or kind.free:
            return replace(kind, unit=wanted)
        have = units.spell(kind.unit)
        if not unit:
            what = f"the formula gives {have}, no unit is declared"
            raise LedgerError(Problem(what, entry.place, f"unit = {have!r}"))
        close = kind.unit.dimension == wanted.dimension
        hint = f"write to(…, {unit!r})" if close else "one of the two is wrong"
        raise LedgerError(
            Problem(f"the formula gives {have}, declared is {unit!r}", entry.text_at("unit"), hint)
        )

    def _unit(self, unit: str, entry: Entry[Column]) -> Unit:
        try:
            return units.parse(unit, self.library.atoms)
        except LedgerError as error:
            problem = error.problems[0]
            raise LedgerError(replace(problem, place=entry.text_at("unit"))) from None

    def unknown_rows(self) -> bool:
        """Whether the rows name a table that is none, so that there is no telling what they give."""
        return any(table not in self.library.tables for table in listed(self.sheet.rows))

    def can_set(self, name: str) -> bool:
        """Whether the sheet can set `name`; tell why not."""
        library, number = self.library, self.axis_with(name)
        place = replace(self.place("set", name), offset=None)
        if name in library.broken:
            return False
        if name in library.columns:
            hint = "remove it, or do not use its model"
            self.problems.add(f"{name!r} is computed and cannot be set", place, hint)
        elif name not in library.settable():
            self.problems.add(f"{name!r} is no input of this report", place, near(name, library.settable()))
        elif number is not None and self.axes[number].name != name:
            what = f"{name!r} is set, and table {self.axes[number].table!r} gives it for each row"
            self.problems.add(what, place, "remove one of them")
        else:
            return True
        return False

    def standing(self) -> Iterator[str]:
        """Yield the fields of the table that stands on this sheet."""
        for axis in self.axes:
            if self.tables[axis.table].sheet == self.name:
                yield from self.fields_of(axis)

    def key_nodes(self) -> Iterator[Node]:
        """Yield the row's id, and the key of each axis whose table does not stand on this sheet."""
        if self.axes:
            yield Node(ID, RowId(), _TEXT, varies=True, place=self.place(), label=ID)
        for number, axis in enumerate(self.axes):
            table = self.tables[axis.table]
            if table.sheet != self.name:
                key = self._key_name(number)
                yield Node(key, RowKey(number), _TEXT, varies=True, place=self.place(), label=table.label)

    def axis_with(self, name: str) -> int | None:
        """Return the number of the axis that has a field `name` for formulas to read, None if none has.

        A lookup's table among the rows gives only its key.
        """
        for number, axis in enumerate(self.axes):
            if axis.name == name or (name in self.fields_of(axis) and not self._is_lookup(axis.table)):
                return number
        return None

    def fields_of(self, axis: Axis) -> tuple[str, ...]:
        """Return the names of the fields that an axis's rows have."""
        return tuple(each.name for each in self.tables[axis.table].fields)

    def row_field(self, number: int, name: str, field: str) -> Node:
        """Return a field of an axis's row as the node `name`."""
        table = self.tables[self.axes[number].table]
        found = next(each for each in table.fields if each.name == field)
        here = table.sheet == self.name
        how: How = RowField(number, field) if here else Fetched(table.name, field, (self._key_name(number),))
        entry = self.library.inputs.get(name)
        if entry is not None:
            self._check_feeds(found, entry, name)
        return replace(found, name=name, how=how, bounds=self._bounds(name))

    def lookup_field(self, owner: str, part: str, place: Place) -> Node:
        """Return a field of the table that the lookup `owner` leads to, as the table has it."""
        lookups = self.library.lookups
        if owner not in lookups:
            raise LedgerError(Problem(f"unknown lookup {owner!r}", place, near(owner, lookups)))
        wanted, known = lookups[owner].value.table, self.library.tables
        table = self.tables.get(wanted)
        if table is None:
            at = lookups[owner].text_at("table")
            raise LedgerError(Problem(f"unknown table {wanted!r}", at, near(wanted, known)))
        found = next((each for each in table.fields if each.name == part), None)
        if found is None:
            what, hint = (
                f"table {wanted!r} has no field {part!r}",
                near(part, (each.name for each in table.fields)),
            )
            raise LedgerError(Problem(what, place, hint))
        return found

    def _is_lookup(self, table: str) -> bool:
        return any(entry.value.table == table for entry in self.library.lookups.values())

    def _key_name(self, number: int) -> str:
        """Return the name of an axis's key: that of a list's value, the lookup it leads, else the table."""
        axis = self.axes[number]
        if axis.name != axis.table:
            return f"{axis.name} key"  # so that the value itself stands in one cell, on the list's own sheet
        leads = [
            name
            for name, entry in self.library.lookups.items()
            if entry.value.table == axis.table and not entry.value.by and name not in self.sheet.set
        ]
        if len(leads) > 1:
            what = f"table {axis.table!r} gives the key of {' and '.join(leads)}"
            self.problems.add(what, self.place("rows"), "set all but one of them")
        return leads[0] if leads else axis.table

    def _bounds(self, name: str) -> tuple[float | None, float | None]:
        entry = self.library.inputs.get(name)
        return (entry.value.min, entry.value.max) if entry else (None, None)

    def _check_feeds(self, found: Node, entry: Entry[Input], name: str) -> None:
        """Tell when a table's field cannot be the input of the same name."""
        wanted = self.kind_of(entry)
        if BROKEN in (found.kind, wanted):
            return
        fits = found.kind.kind == wanted.kind and (found.kind.whole or not wanted.whole)
        if not fits or not units.same(found.kind.unit, wanted.unit):
            what = f"field {name!r} is {described(found.kind)}, the input of that name is {described(wanted)}"
            raise LedgerError(Problem(what, found.place, "declare both alike"))
