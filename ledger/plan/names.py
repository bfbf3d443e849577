"""The names of a report, and those of one sheet, each followed to how its value comes about."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ledger.declarations.model import Column, Input, Label, Lookup, Scalar, Sheet, Table, listed, spoken
from ledger.display import rules
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.language import units
from ledger.language.expr import Expr, names, parse
from ledger.language.types import BROKEN, Kind, Scope, described, typed
from ledger.language.units import COUNT, Unit, declare, same
from ledger.plan.plan import (
    ID,
    Axis,
    Computed,
    Fetched,
    Given,
    How,
    Node,
    PlannedSheet,
    PlannedTable,
    PrintedText,
    RowField,
    RowId,
    RowKey,
)
from ledger.values import EXACT, number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ledger.declarations.toml import Declared
    from ledger.display.rules import DisplayRule, Ladder


_ONE_MEANING = "one name has one meaning: use one of them, or rename"
T = TypeVar("T", Table, Input, Lookup, Column)


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A declaration and where it stands."""

    value: T
    place: Place

    def at(self, *keys: str | int) -> Place:
        """Return the place of a key inside the declaration."""
        return replace(self.place, keys=(*self.place.keys, *keys))

    def text_at(self, *keys: str | int, offset: int = 0) -> Place:
        """Return the place of a character of a text inside the declaration."""
        return replace(self.at(*keys), offset=offset)


@dataclass(frozen=True, slots=True)
class Models:
    """Every name that the sheets of a report can use; `offered` are the columns a sheet has by default."""

    atoms: Mapping[str, Unit]
    tables: Mapping[str, Entry[Table]]
    inputs: Mapping[str, Entry[Input]]
    lookups: Mapping[str, Entry[Lookup]]
    columns: Mapping[str, Entry[Column]]
    formulas: Mapping[str, Expr]
    offered: tuple[str, ...]
    broken: frozenset[str]

    def settable(self) -> tuple[str, ...]:
        """Return every name that a sheet, or someone outside, can set."""
        return (*self.inputs, *self.lookups)

    def known(self) -> tuple[str, ...]:
        """Return every name a formula can read without naming a lookup."""
        return (*self.inputs, *self.lookups, *self.columns)


def gather(declared: Declared, problems: Problems) -> Models:
    """Return the library of a report; names declared differently in two models are problems."""
    tables = _merged(declared, "tables", problems)
    inputs = _merged(declared, "inputs", problems)
    lookups = _merged(declared, "lookups", problems)
    columns = _merged(declared, "columns", problems)
    clashing = _check_names(inputs, lookups, columns, problems)
    formulas, broken = _parsed(columns, inputs, lookups, problems)
    own = {f"{declared.project.models}/{name}.toml" for name in declared.report.models}
    offered = tuple(
        name
        for name, entry in columns.items()
        if entry.place.file in own or entry.place.file == declared.file
    )
    return Models(
        _atoms(declared, problems), tables, inputs, lookups, columns, formulas, offered, broken | clashing
    )


def _atoms(declared: Declared, problems: Problems) -> Mapping[str, Unit]:
    """Return the units; one that is declared wrongly is a problem, and a unit of its own."""
    found: dict[str, str] = {}
    files: dict[str, str] = {}
    for file, model in declared.models:
        for name, text in model.units.items():
            if found.setdefault(name, text) != text:
                what = f"unit {name!r} is declared differently in {files[name]}"
                problems.add(what, Place(file, keys=("units", name)), _ONE_MEANING)
            files.setdefault(name, file)
    try:
        return declare(found)
    except LedgerError as error:
        wrong: dict[str, Unit] = {}
        for problem in error.problems:
            name = next(each for each in found if problem.what.startswith(f"unit {each!r}"))
            wrong[name] = Unit(((name, 1),))
            problems.add(problem.what, Place(files[name], keys=("units", name)), problem.hint)
        return {**declare({name: text for name, text in found.items() if name not in wrong}), **wrong}


def _merged(declared: Declared, section: str, problems: Problems) -> dict[str, Entry[Any]]:
    found: dict[str, Entry[Any]] = {}
    for file, model in declared.models:
        for name, value in getattr(model, section).items():
            entry = Entry(value, Place(file, keys=(section, name)))
            found[name] = _joined(found[name], entry, problems) if name in found else entry
    return found


def _joined(first: Entry[T], second: Entry[T], problems: Problems) -> Entry[T]:
    """Return one declaration that says what either says; two that say different things are a problem."""
    changes: dict[str, Any] = {}
    required = _required(first.value)
    for each in fields(first.value):
        ours, theirs = getattr(first.value, each.name), getattr(second.value, each.name)
        default = getattr(type(first.value)(**required), each.name)
        if theirs == ours or (theirs == default and each.name not in required):
            continue
        if ours == default and each.name not in required:
            changes[each.name] = theirs
        else:
            what = f"{second.place.keys[-1]!r} has another {each.name} than in {first.place.file}"
            problems.add(what, second.at(each.name), _ONE_MEANING)
    return Entry(replace(first.value, **changes), first.place)


def _required(value: Any) -> dict[str, Any]:  # noqa: ANN401  # any declaration
    """Return what a declaration of this type cannot go without."""
    return {name: getattr(value, name) for name in ("formula", "table") if hasattr(value, name)}


def _check_names(
    inputs: Mapping[str, Entry[Input]],
    lookups: Mapping[str, Entry[Lookup]],
    columns: Mapping[str, Entry[Column]],
    problems: Problems,
) -> frozenset[str]:
    """Tell names that cannot be told apart; return those that have two meanings."""
    seen: dict[str, str] = {}
    for entries in (inputs, lookups, columns):
        for name, entry in entries.items():
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                problems.add(f"{name!r} and {other!r} differ in case only", entry.place, "rename one of them")
            if name.casefold() == "id":
                problems.add("'id' is the name of every row's own id", entry.place, "rename it")
            if name in lookups and entries is columns:
                problems.add(f"{name!r} is a lookup and a column", entry.place, "rename one of them")
    return frozenset(lookups.keys() & columns.keys())


def _parsed(
    columns: Mapping[str, Entry[Column]],
    inputs: Mapping[str, Entry[Input]],
    lookups: Mapping[str, Entry[Lookup]],
    problems: Problems,
) -> tuple[dict[str, Expr], frozenset[str]]:
    """Return each formula by its name; a default that is a formula goes by its own name and a mark."""
    texts = {name: (entry.value.formula, entry.text_at("formula")) for name, entry in columns.items()}
    numbers = {name: entry for name, entry in inputs.items() if entry.value.kind != "text"}
    defaults = [
        (name, entry.value.default, entry.text_at("default", offset=1)) for name, entry in numbers.items()
    ]
    defaults += [
        (name, entry.value.default, entry.text_at("default", offset=1)) for name, entry in lookups.items()
    ]
    for name, default, place in defaults:
        if isinstance(default, str) and default.startswith("="):
            texts[f"={name}"] = (default[1:], place)
    found: dict[str, Expr] = {}
    broken: set[str] = set()
    for name, (text, place) in texts.items():
        try:
            found[name] = parse(text, place)
        except LedgerError as error:
            broken.add(name.removeprefix("="))
            problems.extend(error)
    return found, frozenset(broken)


@dataclass(frozen=True, slots=True)
class PrintedBy:
    """A display rule and its ladder for one unit."""

    rule: DisplayRule
    ladder: Ladder


def declared_kind(kind: str, unit: str, place: Place, atoms: Mapping[str, Unit], problems: Problems) -> Kind:
    """Return the kind of an input or a field; with a wrong unit, which is a problem, it is broken."""
    if unit and kind == "text":
        problems.add(f"a text has no unit, but {unit!r} is declared", place)
        return BROKEN
    try:
        parsed = units.parse(unit, atoms)
    except LedgerError as error:
        problems.add(error.problems[0].what, place, error.problems[0].hint)
        return BROKEN
    return Kind("text" if kind == "text" else "number", parsed, whole=kind == "integer")


def displayed(
    text: str, kind: Kind, unit: str, place: Place, atoms: Mapping[str, Unit], problems: Problems
) -> PrintedBy:
    """Return how a value is printed: by `text`, else as its kind and unit suggest.

    A wrong rule is a problem, and the suggested one is taken.
    """
    if kind == BROKEN:
        return PrintedBy(rules.DisplayRule("text"), rules.Ladder(()))
    suggested = rules.default_rule(
        "integer" if kind.kind == "number" and kind.whole else kind.kind, kind.unit
    )
    try:
        rule = rules.parse(text, atoms) if text else suggested
        if (rule.kind == "text") != (kind.kind != "number"):
            problems.add(f"display {text!r} does not fit a {kind.kind}", place, f"write '{suggested}'")
            rule = suggested
        return PrintedBy(rule, rules.ladder(rule, kind.unit, unit, atoms))
    except LedgerError as error:
        problems.add(error.problems[0].what, place, error.problems[0].hint)
        return PrintedBy(suggested, rules.ladder(suggested, kind.unit, unit, atoms))


def checked(name: str, value: float | str, kind: Kind, place: Place) -> float | str:
    """Return the value that a declaration gives an input; raise if it is of another kind."""
    if isinstance(value, str) != (kind.kind == "text"):
        raise LedgerError(Problem(f"{name!r} is a {kind.kind}, not {value!r}", place))
    if isinstance(value, str):
        return value
    number = float(str(value))  # which makes a whole number of 400 digits infinite, where float(value) fails
    if not math.isfinite(number):
        raise LedgerError(Problem(f"{name!r} is a finite number, not {number}", place))
    if kind.whole and not (number.is_integer() and abs(value) <= EXACT):
        raise LedgerError(Problem(f"{name!r} is a whole number up to 2**53, not {value!r}", place))
    return number


def from_text(text: str, kind: Kind, place: Place) -> float | str:
    """Return the value that a text from outside gives an input; raise, at the option, if it spells none."""
    if kind.kind == "text":
        return text
    try:
        number = float(text)
        size = abs(int(text)) if kind.whole and text.strip("+-").isdecimal() else abs(number)
    except ValueError:
        raise LedgerError(Problem(f"{text!r} is not a number", place)) from None
    if not math.isfinite(number):
        raise LedgerError(Problem(f"{text!r} is not a finite number", place))
    if kind.whole and not (number.is_integer() and size <= EXACT):
        raise LedgerError(Problem(f"{text!r} is not a whole number up to 2**53", place))
    return number


def check_bounds(
    name: str,
    value: float | str,
    bounds: tuple[float | None, float | None],
    place: Place,
    problems: Problems,
) -> None:
    """Tell a number under its minimum or over its maximum."""
    low, high = bounds
    if isinstance(value, str):
        return
    if low is not None and value < low:
        problems.add(f"{name} = {number_text(value)} is under its minimum {low}", place)
    if high is not None and value > high:
        problems.add(f"{name} = {number_text(value)} is over its maximum {high}", place)


@dataclass(slots=True)
class Settings:
    """Inputs set from outside, as text; the names that some sheet took, and those that any report has.

    Several texts for a name are the values of a list.  `options` says how a name was given, if not by --set.
    """

    given: Mapping[str, tuple[str, ...]]
    options: Mapping[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)

    def place(self, name: str) -> Place:
        """Return where a name is set: an option of the command line."""
        return Place(self.options.get(name, f"--set {name}"))

    def check_used(self, problems: Problems) -> None:
        """Tell every setting that reached no sheet of any report."""
        for name in self.given:
            if name not in self.known:
                problems.add(f"{name!r} is no input", self.place(name), near(name, self.known))
            elif name not in self.taken:
                what = f"rows or a formula give {name!r} on every sheet"
                problems.add(what, self.place(name), "edit the CSV")


@dataclass(frozen=True, slots=True)
class WantedInput:
    """An input that needs a value: its name, its kind, its default and where that stands."""

    name: str
    kind: Kind
    default: float | str | None
    place: Place


def is_set(scope: SheetScope, settings: Settings, name: str) -> bool:
    """Whether the sheet or the outside sets an input."""
    return name in scope.sheet.set or name in settings.given


def given_value(scope: SheetScope, settings: Settings, asked: WantedInput) -> tuple[float | str, Place]:
    """Return the value of an input and where it was given; raise if it has none or one of another kind."""
    name, kind = asked.name, asked.kind
    if name in settings.given:
        settings.taken.add(name)
        return from_text(settings.given[name][0], kind, settings.place(name)), settings.place(name)
    value: Scalar | list[Scalar] | None = asked.default
    place = asked.place
    if name in scope.sheet.set:
        value, place = scope.sheet.set[name], scope.place("set", name)
    if value is None:
        hint = f"set it: set = {{ {name} = … }}, or give it a default, or a column in the rows"
        raise LedgerError(
            Problem(f"input {name!r} has no value on sheet {scope.name!r}", scope.place(), hint)
        )
    if isinstance(value, list):
        raise TypeError(f"the list of {name!r} is an axis, not a value")
    return checked(name, value, kind, place), place


_TEXT = Kind("text")


@dataclass(frozen=True, slots=True)
class SheetScope:
    """One sheet of a report and all that its names can come from."""

    name: str
    sheet: Sheet
    axes: tuple[Axis, ...]
    declared: Declared
    library: Models
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

    def displayed(self, text: str, kind: Kind, unit: str, place: Place) -> PrintedBy:
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


class _Broken(Exception):  # noqa: N818  # not told: its problem already is
    """A name that cannot be resolved; whatever reads it is not told again."""


@dataclass(slots=True)
class SheetNames:
    """Resolves the names of one sheet; nodes are kept in the order in which they are complete."""

    scope: SheetScope
    settings: Settings
    nodes: dict[str, Node] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    path: list[tuple[str, Place]] = field(default_factory=list)

    def planned(self, wanted: Iterable[tuple[str, Place]], title: str) -> PlannedSheet:
        """Return the sheet with every wanted name and all that they read."""
        scope = self.scope
        self.nodes.update((node.name, node) for node in scope.key_nodes())
        self.broken.update(key for key in scope.sheet.set if not scope.can_set(key))
        for name in scope.standing():
            self._wanted(name, scope.place())
        for key in scope.sheet.set:
            self._wanted(key, scope.place("set", key))
        columns = [(each, scope.place("columns", i)) for i, each in enumerate(scope.sheet.columns)]
        columns = columns or [(each, scope.place()) for each in scope.library.offered]
        for each, place in (*columns, *wanted):
            self._wanted(each, place)
        where = self._where()  # first, for what only the filter reads is a node too
        return PlannedSheet(scope.name, title, scope.axes, dict(self.nodes), where, scope.place())

    def _wanted(self, name: str, place: Place) -> None:
        try:
            self.node(name, place)
        except _Broken:
            return

    def node(self, name: str, place: Place) -> Node:
        """Return the node of `name`, read at `place`; raise _Broken when it has none."""
        if name in self.nodes:
            return self.nodes[name]
        if name in self.broken or name in self.scope.library.broken:
            raise _Broken
        if any(each == name for each, _ in self.path):
            self._tell_circle(name, place)
            raise _Broken
        self.path.append((name, place))
        try:
            found = self._resolved(name, place)
        except LedgerError as error:
            self.scope.problems.extend(error)
            self.broken.add(name)
            raise _Broken from None
        except _Broken:
            self.broken.add(name)
            raise
        finally:
            self.path.pop()
        if found.kind == BROKEN:
            self.broken.add(name)
            raise _Broken
        self.nodes[name] = found
        return found

    def _tell_circle(self, name: str, place: Place) -> None:
        """Tell a circle from the same member on, wherever it was entered."""
        members = [each for each, _ in self.path]
        members = members[members.index(name) :]
        first = members.index(min(members))
        circle = [*members[first:], *members[: first + 1]]
        hint = "one of them must not read the next" if len(members) > 1 else "it must not read itself"
        at = {**dict(self.path), name: place}[circle[0]]
        self.scope.problems.add(f"circular reference: {' → '.join(circle)}", at, hint)
        self.broken.update(members)

    def _resolved(self, name: str, place: Place) -> Node:
        library, scope = self.scope.library, self.scope
        if name in library.columns:
            return self._column(name, library.columns[name])
        if name in library.inputs:
            return self._input(name, library.inputs[name])
        if name in library.lookups:
            return self._lookup_key(name, place)
        owner, _, part = name.partition(".")
        if part:
            return self._field(owner, part, place)
        number = scope.axis_with(name)
        if number is not None:
            return scope.row_field(number, name, name)
        if scope.unknown_rows():
            raise _Broken
        known = (*library.known(), *(each for axis in scope.axes for each in scope.fields_of(axis)))
        raise LedgerError(Problem(f"unknown name {name!r}", place, near(name, known)))

    def _column(self, name: str, entry: Entry[Column]) -> Node:
        value, scope = entry.value, self.scope
        place, number = entry.text_at("formula"), scope.axis_with(name)
        if number is not None:
            what = f"{name!r} is a column, and a field of table {scope.axes[number].table!r} in the rows"
            raise LedgerError(Problem(what, entry.place, "rename one of them"))
        computed, kind = self._computed(value.formula, scope.library.formulas[name], place)
        kind = scope.with_unit(kind, entry)
        shown = scope.displayed(value.display, kind, value.unit, entry.text_at("display"))
        return Node(
            name, computed, kind, self.vary(computed.reads), place, value.unit,
            scope.said(value.label, name), shown.rule, shown.ladder, value.source, scope.said(value.note),
        )  # fmt: skip

    def _computed(self, text: str, declared: Expr, place: Place) -> tuple[Computed, Kind]:
        """Return a formula with all that it reads resolved; every name is tried before giving up."""
        kinds: dict[str, Kind] = {}
        for each in names(declared):
            try:
                at = replace(place, offset=(place.offset or 0) + each.start)
                kinds[each.id] = self.node(each.id, at).kind
            except _Broken:
                continue
        if any(each.id not in kinds for each in names(declared)):
            raise _Broken
        found = typed(declared, Scope(kinds, self.scope.library.atoms, place))
        for shown in found.shown:
            self._show(shown.name, shown.rule, shown.text, place)
        reads = tuple(dict.fromkeys(each.id for each in names(found.expr)))
        return Computed(text, declared, found.expr, reads), found.kind

    def _show(self, name: str, rule: str, text: str, place: Place) -> None:
        """Add the text of a printed number, once, beside what it prints."""
        if text in self.nodes:
            return
        shown = self.nodes[name]
        ladder = self.scope.displayed(rule, shown.kind, shown.unit, place).ladder if rule else shown.ladder
        how = PrintedText(name, shown.kind.kind, ladder)
        self.nodes[text] = Node(text, how, Kind("text"), shown.varies, place, label=text)

    def vary(self, reads: Iterable[str]) -> bool:
        """Whether what reads these names differs from row to row."""
        return any(self.nodes[each].varies for each in reads)

    def _input(self, name: str, entry: Entry[Input]) -> Node:
        """Return an input: set, or the row's field, or its default."""
        scope = self.scope
        number = scope.axis_with(name)
        if number is not None:
            return scope.row_field(number, name, name)
        kind = scope.kind_of(entry)
        if kind == BROKEN or (scope.unknown_rows() and not is_set(scope, self.settings, name)):
            raise _Broken
        if self._has_formula(name):
            return self._input_node(name, entry, *self._default(name, entry, kind))
        asked = WantedInput(name, kind, entry.value.default, entry.text_at("default"))
        value, place = given_value(scope, self.settings, asked)
        check_bounds(name, value, (entry.value.min, entry.value.max), place, scope.problems)
        return self._input_node(name, entry, Given(value), place)

    def _input_node(self, name: str, entry: Entry[Input], how: How, place: Place) -> Node:
        value, kind = entry.value, self.scope.kind_of(entry)
        shown = self.scope.displayed(value.display, kind, value.unit, entry.text_at("display"))
        varies = self.vary(how.reads) if isinstance(how, Computed) else False
        return Node(
            name, how, kind, varies, place, value.unit, self.scope.said(value.label, name),
            shown.rule, shown.ladder, value.source, bounds=(value.min, value.max),
        )  # fmt: skip

    def _default(self, name: str, entry: Entry[Input] | Entry[Lookup], kind: Kind) -> tuple[Computed, Place]:
        """Return a default that is a formula, of the kind it is wanted in."""
        place, text = entry.text_at("default", offset=1), str(entry.value.default)[1:]
        computed, found = self._computed(text, self.scope.library.formulas[f"={name}"], place)
        if found.kind != kind.kind or not (same(found.unit, kind.unit) or same(found.unit, COUNT)):
            what = f"the default of {name!r} is {described(found)}, the input is {described(kind)}"
            raise LedgerError(Problem(what, place))
        return computed, place

    def _lookup_key(self, name: str, place: Place) -> Node:
        """Return the text that leads a lookup with no `by`: the row's field, set, or its default."""
        entry, text = self.scope.library.lookups[name], Kind("text")
        value, number = entry.value, self.scope.axis_with(name)
        label = self.scope.said(value.label, name)
        if value.by:
            what = f"{name!r} is a lookup by {', '.join(listed(value.by))}; it has fields, no value"
            raise LedgerError(Problem(what, place, f"read one of its fields, such as {name}.FIELD"))
        if number is not None:
            return self.scope.row_field(number, name, name)
        if self._has_formula(name):
            how, at = self._default(name, entry, text)
            return Node(name, how, text, self.vary(how.reads), at, label=label, source=value.source)
        asked = WantedInput(name, text, value.default, entry.text_at("default"))
        given, at = given_value(self.scope, self.settings, asked)
        return Node(name, Given(given), text, varies=False, place=at, label=label, source=value.source)

    def _has_formula(self, name: str) -> bool:
        """Whether a default that is a formula counts, since nothing sets the name."""
        return f"={name}" in self.scope.library.formulas and not is_set(self.scope, self.settings, name)

    def _field(self, owner: str, part: str, place: Place) -> Node:
        """Return a field of a lookup, or of a table among the rows."""
        scope = self.scope
        for number, axis in enumerate(scope.axes):
            if axis.table == owner and owner not in scope.library.lookups and part in scope.fields_of(axis):
                return scope.row_field(number, f"{owner}.{part}", part)
        found = scope.lookup_field(owner, part, place)
        entry = scope.library.lookups[owner]
        by = listed(entry.value.by) or (owner,)
        places = [
            entry.text_at(*(("by",) if isinstance(entry.value.by, str) else ("by", i)))
            for i in range(len(by))
        ]
        keys = [self.node(key, at) for key, at in zip(by, places, strict=True)]
        for key, at in zip(keys, places, strict=True):
            if key.kind.kind != "text":
                raise LedgerError(Problem(f"a key is a text, {key.name!r} is not", at))
        source = scope.tables[entry.value.table].source
        width = len(source.key) if source else 1
        if width and len(by) != width:
            what = f"lookup {owner!r} has {len(by)} key(s), table {entry.value.table!r} has {width}"
            raise LedgerError(Problem(what, entry.text_at("by")))
        return replace(
            found,
            name=f"{owner}.{part}",
            how=Fetched(entry.value.table, part, by),
            varies=any(key.varies for key in keys),
            label=found.label if found.label != part else f"{owner}.{part}",
        )

    def _where(self) -> Expr | None:
        text = self.scope.sheet.where
        if not text:
            return None
        place = self.scope.place("where")
        if not self.scope.axes and not self.scope.unknown_rows():
            self.scope.problems.add(f"sheet {self.scope.name!r} has no rows to filter", place)
            return None
        found = self.truth(text, place, "a row filter")
        return found.expr if found else None

    def truth(self, text: str, place: Place, what: str) -> Computed | None:
        """Return a formula that holds or not, None after telling what is wrong with it."""
        try:
            computed, kind = self._computed(text, parse(text, place), place)
        except LedgerError as error:
            self.scope.problems.extend(error)
            return None
        except _Broken:
            return None
        if kind.kind == "bool":
            return computed
        self.scope.problems.add(f"{what} is a comparison, not a {kind.kind}", place)
        return None
