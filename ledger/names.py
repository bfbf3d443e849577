"""The names of one sheet, each followed to how its value comes about."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.expr import names
from ledger.kinds import Kind, Scope, typed
from ledger.model import listed, spoken
from ledger.nodes import declared_kind, displayed
from ledger.parse import EXACT, parse
from ledger.plan import (
    ID,
    Computed,
    Fetched,
    Given,
    How,
    Node,
    PlannedSheet,
    RowField,
    RowId,
    RowKey,
    Shown,
)
from ledger.units import COUNT, same, spell
from ledger.units import parse as parse_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ledger.declarations import Declared
    from ledger.expr import Expr
    from ledger.library import Entry, Library
    from ledger.model import Column, Input, Sheet
    from ledger.plan import Axis, PlannedTable


@dataclass(frozen=True, slots=True)
class Settings:
    """Inputs set from outside, as text, and the names that some sheet took."""

    report: str
    given: dict[str, str]
    taken: set[str]

    def check_used(self, library: Library, problems: Problems) -> None:
        """Tell every setting that reached no sheet."""
        for name in self.given:
            if name not in library.inputs and name not in library.lookups:
                known = (*library.inputs, *library.lookups)
                problems.add(f"--set {name}: {name!r} is no input of {self.report}", hint=near(name, known))
            elif name not in self.taken:
                what = f"--set {name}: rows or a formula give {name!r} on every sheet of {self.report}"
                problems.add(what, hint="edit the CSV")


class _Broken(Exception):  # noqa: N818  # not told: its problem already is
    """A name that cannot be resolved; whatever reads it is not told again."""


@dataclass(frozen=True, slots=True)
class SheetNames:
    """Resolves the names of one sheet; nodes are kept in the order in which they are complete."""

    name: str
    sheet: Sheet
    axes: tuple[Axis, ...]
    declared: Declared
    library: Library
    tables: Mapping[str, PlannedTable]
    settings: Settings
    problems: Problems
    nodes: dict[str, Node] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    path: list[str] = field(default_factory=list)

    def planned(self, wanted: Iterable[str], title: str) -> PlannedSheet:
        """Return the sheet with every wanted name and all that they read."""
        self._axis_nodes()
        for key in self.sheet.set:
            self._wanted(key, self._place("set", key), set_here=True)
        columns = [(each, self._place("columns", i)) for i, each in enumerate(self.sheet.columns)]
        columns = columns or [(each, self._place()) for each in self.library.offered]
        for each, place in [*columns, *((each, self._place()) for each in wanted)]:
            self._wanted(each, place)
        where = self._where()
        return PlannedSheet(self.name, title, self.axes, dict(self.nodes), where, self._place())

    def _place(self, *keys: str | int) -> Place:
        return Place(self.declared.file, keys=("sheets", self.name, *keys), offset=0 if keys else None)

    def _wanted(self, name: str, place: Place, *, set_here: bool = False) -> None:
        if set_here and name not in self.library.inputs and name not in self.library.lookups:
            at = replace(place, offset=None)
            self.problems.add(f"{name!r} is no input of this report", at, near(name, self.library.known()))
            return
        if set_here and name in self.library.columns:
            at = replace(place, offset=None)
            self.problems.add(
                f"{name!r} is computed and cannot be set", at, "remove it, or do not use its model"
            )
            return
        try:
            self.node(name, place)
        except _Broken:
            return

    def node(self, name: str, place: Place) -> Node:
        """Return the node of `name`, read at `place`; raise _Broken when it has none."""
        if name in self.nodes:
            return self.nodes[name]
        if name in self.broken or name in self.library.broken:
            raise _Broken
        if name in self.path:
            circle = [*self.path[self.path.index(name) :], name]
            self.problems.add(
                f"circular reference: {' → '.join(circle)}", place, "one of them must not read the other"
            )
            self.broken.update(circle)
            raise _Broken
        self.path.append(name)
        try:
            found = self._resolved(name, place)
        except LedgerError as error:
            self.problems.extend(error)
            self.broken.add(name)
            raise _Broken from None
        except _Broken:
            self.broken.add(name)
            raise
        finally:
            self.path.pop()
        self.nodes[name] = found
        return found

    def _resolved(self, name: str, place: Place) -> Node:
        library = self.library
        if name in library.columns:
            return self._column(name, library.columns[name])
        if name in library.inputs:
            return self._input(name, library.inputs[name])
        if name in library.lookups:
            return self._lookup_key(name)
        owner, _, part = name.partition(".")
        if part:
            return self._fetched(owner, part, place)
        for number, axis in enumerate(self.axes):
            table = self.tables.get(axis.table)
            if table and any(each.name == name for each in table.fields) and not self._is_lookup(axis.table):
                return self._row_field(number, name, name)
        known = (*library.known(), *(each for axis in self.axes for each in self._fields_of(axis)))
        raise LedgerError(Problem(f"unknown name {name!r}", place, near(name, known)))

    def _fields_of(self, axis: Axis) -> tuple[str, ...]:
        table = self.tables.get(axis.table)
        return tuple(each.name for each in table.fields) if table else ()

    def _is_lookup(self, table: str) -> bool:
        return any(entry.value.table == table for entry in self.library.lookups.values())

    def _axis_nodes(self) -> None:
        """Put the row's id and keys first, then the fields of the table that stands on this sheet."""
        if not self.axes:
            return
        text = Kind("text")
        self.nodes[ID] = Node(ID, RowId(), text, True, self._place(), label=ID)
        for number, axis in enumerate(self.axes):
            table = self.tables.get(axis.table)
            if table is None:
                continue
            if table.sheet == self.name:
                for each in table.fields:
                    self.nodes[each.name] = replace(
                        each, how=RowField(number, each.name), bounds=self._bounds(each.name)
                    )
            else:
                key = self._key_name(number)
                self.nodes[key] = Node(key, RowKey(number), text, True, self._place(), label=table.label)

    def _key_name(self, number: int) -> str:
        """Return the name of an axis's key: the lookup it leads, a text input, else the table."""
        axis = self.axes[number]
        if axis.name != axis.table:
            entry = self.library.inputs.get(axis.name)
            is_text = entry is None or entry.value.kind == "text"
            return axis.name if is_text else f"{axis.name} key"
        leads = [
            name
            for name, entry in self.library.lookups.items()
            if entry.value.table == axis.table and not entry.value.by and name not in self.sheet.set
        ]
        if len(leads) > 1:
            what = f"table {axis.table!r} gives the key of {' and '.join(leads)}"
            self.problems.add(what, self._place("rows"), "set all but one of them")
        return leads[0] if leads else axis.table

    def _bounds(self, name: str) -> tuple[float | None, float | None]:
        entry = self.library.inputs.get(name)
        return (entry.value.min, entry.value.max) if entry else (None, None)

    def _row_field(self, number: int, name: str, field_name: str) -> Node:
        table = self.tables[self.axes[number].table]
        found = next(each for each in table.fields if each.name == field_name)
        how: How = RowField(number, field_name)
        if table.sheet != self.name:
            how = Fetched(table.name, field_name, (self._key_name(number),))
        entry = self.library.inputs.get(name)
        if entry is not None:
            self._check_feeds(found, entry, name)
        return replace(found, name=name, how=how, bounds=self._bounds(name))

    def _check_feeds(self, found: Node, entry: Entry[Input], name: str) -> None:
        """Tell when a table's field cannot be the input of the same name."""
        wanted = declared_kind(
            entry.value.kind, entry.value.unit, entry.at("unit"), self.library.atoms, self.problems
        )
        fits = found.kind.kind == wanted.kind and (found.kind.whole or not wanted.whole)
        if not fits or not same(found.kind.unit, wanted.unit):
            ours = f"{_told(wanted)}"
            what = f"field {name!r} is {_told(found.kind)}, the input of that name is {ours}"
            raise LedgerError(Problem(what, found.place, "declare both alike"))

    def _column(self, name: str, entry: Entry[Column]) -> Node:
        value, place = entry.value, entry.text_at("formula")
        computed, kind = self._computed(name, value.formula, self.library.formulas[name], place)
        kind = self._with_unit(kind, value.unit, entry)
        language = self.declared.project.language
        shown = displayed(
            value.display, kind, value.unit, entry.text_at("display"), self.library.atoms, self.problems
        )
        return Node(
            name, computed, kind, self._vary(computed.reads), place, value.unit,
            spoken(value.label, language, name), shown.rule, shown.ladder, value.source, spoken(value.note, language),
        )  # fmt: skip

    def _computed(self, name: str, text: str, declared: Expr, place: Place) -> tuple[Computed, Kind]:
        kinds: dict[str, Kind] = {}
        failed = False
        for each in names(declared):
            try:
                kinds[each.id] = self.node(
                    each.id, replace(place, offset=(place.offset or 0) + each.start)
                ).kind
            except _Broken:
                failed = True
        if failed:
            raise _Broken
        found = typed(declared, Scope(kinds, self.library.atoms, place))
        for shown in found.shown:
            self._shown(shown.name, shown.rule, shown.text, place)
        reads = tuple(dict.fromkeys(each.id for each in names(found.expr)))
        return Computed(text, declared, found.expr, reads), found.kind

    def _shown(self, name: str, rule: str, text: str, place: Place) -> None:
        """Add the text of a printed number, once, beside what it prints."""
        if text in self.nodes:
            return
        shown = self.nodes[name]
        ladder = shown.ladder
        if rule:
            ladder = displayed(rule, shown.kind, shown.unit, place, self.library.atoms, self.problems).ladder
        self.nodes[text] = Node(
            text, Shown(name, shown.kind.kind, ladder), Kind("text"), shown.varies, place, label=text
        )

    def _vary(self, reads: Iterable[str]) -> bool:
        return any(self.nodes[each].varies for each in reads)

    def _with_unit(self, kind: Kind, unit: str, entry: Entry[Column]) -> Kind:
        """Return the kind in the declared unit: a count takes it, anything else must have it."""
        if kind.kind != "number":
            if unit:
                self.problems.add(
                    f"a {kind.kind} has no unit, but {unit!r} is declared", entry.text_at("unit")
                )
            return kind
        wanted = parse_unit(unit, self.library.atoms)
        if same(kind.unit, wanted) or same(kind.unit, COUNT) or kind.free:
            return replace(kind, unit=wanted)
        have = spell(kind.unit)
        if not unit:
            raise LedgerError(
                Problem(f"the formula gives {have}, no unit is declared", entry.place, f"unit = {have!r}")
            )
        hint = (
            f"write to(…, {unit!r})"
            if kind.unit.dimension == wanted.dimension
            else f"the formula gives {have}"
        )
        what = f"the formula gives {have}, declared is {unit!r}"
        raise LedgerError(Problem(what, entry.text_at("unit"), hint))

    def _input(self, name: str, entry: Entry[Input]) -> Node:
        """Return an input: set, or the row's field, or its default."""
        value, at = entry.value, entry.at
        for number, axis in enumerate(self.axes):
            if axis.name == name or (name in self._fields_of(axis) and not self._is_lookup(axis.table)):
                if name in self.sheet.set and axis.name != name:
                    break
                return self._row_field(number, name, name)
        kind = declared_kind(value.kind, value.unit, at("unit"), self.library.atoms, self.problems)
        if isinstance(value.default, str) and f"={name}" in self.library.formulas and not self._is_set(name):
            return self._formula_default(name, entry, kind)
        given, place = self._given(name, value.default, kind, at("default"))
        self._check_bounds(name, given, entry, place)
        return self._given_node(name, entry, kind, Given(given), place)

    def _is_set(self, name: str) -> bool:
        return name in self.sheet.set or name in self.settings.given

    def _given_node(self, name: str, entry: Entry[Input], kind: Kind, how: How, place: Place) -> Node:
        value = entry.value
        shown = displayed(
            value.display, kind, value.unit, entry.text_at("display"), self.library.atoms, self.problems
        )
        varies = self._vary(how.reads) if isinstance(how, Computed) else False
        return Node(
            name, how, kind, varies, place, value.unit, spoken(value.label, self.declared.project.language, name),
            shown.rule, shown.ladder, value.source, bounds=(value.min, value.max),
        )  # fmt: skip

    def _formula_default(self, name: str, entry: Entry[Input], kind: Kind) -> Node:
        place = entry.text_at("default", offset=1)
        computed, found = self._computed(
            name, str(entry.value.default)[1:], self.library.formulas[f"={name}"], place
        )
        if found.kind != kind.kind or not (same(found.unit, kind.unit) or found.unit.dimension == ()):
            what = f"the default of {name!r} is {_told(found)}, the input is {_told(kind)}"
            raise LedgerError(Problem(what, place))
        return self._given_node(name, entry, kind, computed, place)

    def _given(self, name: str, default: object, kind: Kind, place: Place) -> tuple[float | str, Place]:
        """Return the value of an input: from outside, from the sheet's `set`, else its default."""
        value = default
        if name in self.settings.given:
            self.settings.taken.add(name)
            return self._from_text(name, self.settings.given[name], kind), Place("--set " + name)
        if name in self.sheet.set:
            value, place = self.sheet.set[name], self._place("set", name)
        if value is None:
            what = f"input {name!r} has no value on sheet {self.name!r}"
            hint = f"set it: set = {{ {name} = … }}, or give it a default, or a column in the rows"
            raise LedgerError(Problem(what, self._place(), hint))
        if isinstance(value, str) != (kind.kind == "text"):
            raise LedgerError(Problem(f"{name!r} is a {kind.kind}, not {value!r}", place))
        if isinstance(value, str):
            return value, place
        number = float(str(value))
        if kind.whole and (not number.is_integer() or abs(number) > EXACT):
            raise LedgerError(Problem(f"{name!r} is a whole number up to 2**53, not {value!r}", place))
        return number, place

    def _from_text(self, name: str, text: str, kind: Kind) -> float | str:
        if kind.kind == "text":
            return text
        try:
            number = parse(text.strip())
            value = float(text) if number else 0.0
        except (LedgerError, ValueError):
            raise LedgerError(Problem(f"--set {name}: {text!r} is not a number")) from None
        if kind.whole and not value.is_integer():
            raise LedgerError(Problem(f"--set {name}: {text!r} is not a whole number"))
        return value

    def _check_bounds(self, name: str, given: float | str, entry: Entry[Input], place: Place) -> None:
        low, high = entry.value.min, entry.value.max
        if isinstance(given, str):
            return
        if low is not None and given < low:
            self.problems.add(f"{name} = {given:g} is under its minimum {low:g}", place)
        if high is not None and given > high:
            self.problems.add(f"{name} = {given:g} is over its maximum {high:g}", place)

    def _lookup_key(self, name: str) -> Node:
        """Return the text that leads a lookup with no `by`: set, or its default."""
        entry = self.library.lookups[name]
        if entry.value.by:
            what = f"{name!r} is a lookup by {', '.join(listed(entry.value.by))}; it has fields, no value"
            fields = self._table_fields(entry.value.table)
            raise LedgerError(Problem(what, self._place(), f"read one of its fields: {fields}"))
        given, place = self._given(name, entry.value.default, Kind("text"), entry.at("default"))
        label = spoken(entry.value.label, self.declared.project.language, name)
        return Node(name, Given(given), Kind("text"), False, place, label=label, source=entry.value.source)

    def _table_fields(self, table: str) -> str:
        planned = self.tables.get(table)
        return ", ".join(each.name for each in planned.fields) if planned else ""

    def _fetched(self, owner: str, part: str, place: Place) -> Node:
        """Return a field of a lookup, or of a table among the rows."""
        axes = {axis.table: number for number, axis in enumerate(self.axes)}
        if (
            owner not in self.library.lookups
            and owner in axes
            and part in self._fields_of(self.axes[axes[owner]])
        ):
            return self._row_field(axes[owner], f"{owner}.{part}", part)
        if owner not in self.library.lookups:
            raise LedgerError(Problem(f"unknown lookup {owner!r}", place, near(owner, self.library.lookups)))
        entry = self.library.lookups[owner]
        table = self.tables.get(entry.value.table)
        if table is None:
            what = f"unknown table {entry.value.table!r}"
            raise LedgerError(
                Problem(what, entry.text_at("table"), near(entry.value.table, self.library.tables))
            )
        found = next((each for each in table.fields if each.name == part), None)
        if found is None:
            what = f"table {table.name!r} has no field {part!r}"
            raise LedgerError(Problem(what, place, near(part, (each.name for each in table.fields))))
        by = listed(entry.value.by) or (owner,)
        keys = [self.node(key, entry.text_at("by")) for key in by]
        wrong = [key.name for key in keys if key.kind.kind != "text"]
        if wrong:
            raise LedgerError(Problem(f"a key is a text, {wrong[0]!r} is not", entry.text_at("by")))
        width = len(table.source.key) if table.source else 1
        if len(by) != width:
            what = f"lookup {owner!r} has {len(by)} key(s), table {table.name!r} has {width}"
            raise LedgerError(Problem(what, entry.text_at("by")))
        label = found.label if found.label != part else f"{owner}.{part}"
        varies = any(key.varies for key in keys)
        return replace(
            found, name=f"{owner}.{part}", how=Fetched(table.name, part, by), varies=varies, label=label
        )

    def _where(self) -> Expr | None:
        if not self.sheet.where:
            return None
        place = self._place("where")
        try:
            computed, kind = self._computed("where", self.sheet.where, parse(self.sheet.where, place), place)
        except LedgerError as error:
            self.problems.extend(error)
            return None
        except _Broken:
            return None
        if kind.kind != "bool":
            self.problems.add(f"a row filter is a comparison, not a {kind.kind}", place)
        return computed.expr


def _told(kind: Kind) -> str:
    unit = f" in {spell(kind.unit)}" if kind.kind == "number" else ""
    return f"{'a whole ' if kind.whole else 'a '}{kind.kind}{unit}"
