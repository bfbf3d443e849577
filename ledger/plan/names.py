"""The names of a report, and those of one sheet, each followed to how its value comes about."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ledger.declarations.model import (
    Chart,
    Claim,
    Column,
    Input,
    Lookup,
    Scalar,
    Sheet,
    Table,
    TableField,
    View,
    listed,
    placed,
    spoken,
)
from ledger.display import rules
from ledger.errors import KnownWords, LedgerError, Place, Problem, Problems, near
from ledger.language import units
from ledger.language.expr import Expr, compile_to, names, parse, size
from ledger.language.targets.excel import EXCEL, LONGEST
from ledger.language.types import BROKEN, Kind, Scope, described, typed
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
from ledger.values import EXACT, SMALLEST, TOO_SMALL, TOO_SMALL_HINT, is_too_small, number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ledger.declarations.toml import Declared


_ONE_MEANING = "one name has one meaning: use one of them, or rename"
# What a declaration cannot go without.
_REQUIRED = ("formula", "table")
_TEXT = Kind("text")
T = TypeVar("T", Table, Input, Lookup, Column)
U = TypeVar("U", View, Chart, Claim)


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """The declaration of a table, an input, a lookup or a column, and the place of its name in a file."""

    value: T
    place: Place


@dataclass(frozen=True, slots=True)
class Models:
    """Every name that the sheets of a report can use, and the language of their labels.

    `formulas` are the columns' by their names, and the defaults that are formulas by their names after a `=`;
    `offered` are the columns that a sheet has by default, `broken` the names that no formula may read.
    """

    language: str
    atoms: Mapping[str, units.Unit]
    tables: Mapping[str, Entry[Table]]
    inputs: Mapping[str, Entry[Input]]
    lookups: Mapping[str, Entry[Lookup]]
    columns: Mapping[str, Entry[Column]]
    formulas: Mapping[str, Expr]
    offered: tuple[str, ...]
    broken: frozenset[str]

    def settable(self) -> tuple[str, ...]:
        """Return every name that a sheet, or an option of the command line, can set."""
        return (*self.inputs, *self.lookups)

    def known(self) -> tuple[str, ...]:
        """Return every name that a formula can read without naming a lookup."""
        return (*self.inputs, *self.lookups, *self.columns)

    def looked_up(self) -> frozenset[str]:
        """Return the names of the tables that lookups lead to."""
        return frozenset(entry.value.table for entry in self.lookups.values())


def gather(declared: Declared, problems: Problems) -> Models:
    """Return the names of a report's models and its own; those declared differently in two are problems."""
    tables, inputs, lookups, columns = (
        _merged(declared, section, problems) for section in ("tables", "inputs", "lookups", "columns")
    )
    clashing = _check_names(inputs, lookups, columns, problems)
    formulas, broken = _parsed(columns, inputs, lookups, problems)
    own = {declared.file, *(f"{declared.project.models}/{name}.toml" for name in declared.report.models)}
    return Models(
        declared.project.language, _atoms(declared, problems), tables, inputs, lookups, columns, formulas,
        tuple(name for name, entry in columns.items() if entry.place.file in own), broken | clashing,
    )  # fmt: skip


def _atoms(declared: Declared, problems: Problems) -> Mapping[str, units.Unit]:
    """Return the declared units by name; one that is declared wrongly is a problem, and a unit of its own."""
    texts: dict[str, str] = {}
    files: dict[str, str] = {}
    for file, model in declared.models:
        for name, text in model.units.items():
            files.setdefault(name, file)
            if texts.setdefault(name, text) != text:
                what = f"unit {name!r} is declared differently in {files[name]}"
                problems.add(what, Place(file, keys=("units", name)), _ONE_MEANING)
    try:
        return units.declare(texts)
    except LedgerError as error:
        wrong: dict[str, units.Unit] = {}
        for problem in error.problems:
            name = next(each for each in texts if problem.what.startswith(f"unit {each!r}"))
            wrong[name] = units.Unit(((name, 1),))
            problems.add(problem.what, Place(files[name], keys=("units", name)), problem.hint)
        return {**units.declare({name: texts[name] for name in texts if name not in wrong}), **wrong}


def _merged(declared: Declared, section: str, problems: Problems) -> dict[str, Entry[Any]]:
    """Return the declarations of a section of every model and of the report, by name."""
    found: dict[str, Entry[Any]] = {}
    for file, model in declared.models:
        for name, value in getattr(model, section).items():
            entry = Entry(value, Place(file, keys=(section, name)))
            found[name] = _joined(found[name], entry, problems) if name in found else entry
    return found


def _joined(first: Entry[T], second: Entry[T], problems: Problems) -> Entry[T]:
    """Return one declaration with the fields that either sets; two that set one differently are a problem."""
    required = {name: getattr(first.value, name) for name in _REQUIRED if hasattr(first.value, name)}
    blank = type(first.value)(**required)
    changes: dict[str, Any] = {}
    for each in fields(blank):
        ours: Any = getattr(first.value, each.name)
        theirs: Any = getattr(second.value, each.name)
        default: Any = getattr(blank, each.name)
        if theirs in (ours, default):
            continue
        if each.name == "documents":
            changes[each.name] = [*dict.fromkeys((*ours, *theirs))]
            continue
        if ours == default and each.name not in required:
            changes[each.name] = theirs
        else:
            what = f"{second.place.keys[-1]!r} has another {each.name} than in {first.place.file}"
            problems.add(what, replace(second.place.inside(each.name), offset=None), _ONE_MEANING)
    return replace(first, value=replace(first.value, **changes))


def check_case(name: str, seen: dict[str, str], place: Place, problems: Problems, hint: str = "") -> None:
    """Add a name to those `seen`, by its folded case, and a problem if it differs from one in case only."""
    other = seen.setdefault(name.casefold(), name)
    if other != name:
        problems.add(f"{name!r} and {other!r} differ in case only", place, hint or "rename one of them")


def _check_names(
    inputs: Mapping[str, Entry[Input]],
    lookups: Mapping[str, Entry[Lookup]],
    columns: Mapping[str, Entry[Column]],
    problems: Problems,
) -> frozenset[str]:
    """Return the names that are a lookup and a column; add problems for these and for unclear names."""
    seen: dict[str, str] = {}
    for entries in (inputs, lookups, columns):
        for name, entry in entries.items():
            check_case(name, seen, entry.place, problems)
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
    """Return each formula by its name (a default by `=` and its name), and the names of the wrong ones."""
    texts = {name: (entry.value.formula, entry.place.inside("formula")) for name, entry in columns.items()}
    numbers = [(name, entry) for name, entry in inputs.items() if entry.value.kind != "text"]
    defaults: list[tuple[str, Entry[Any]]] = [*numbers, *lookups.items()]
    for name, entry in defaults:
        default = entry.value.default
        if isinstance(default, str) and default.startswith("="):
            texts[f"={name}"] = (default[1:], replace(entry.place.inside("default"), offset=1))
    found: dict[str, Expr] = {}
    broken: set[str] = set()
    for name, (text, place) in texts.items():
        try:
            found[name] = parse(text, place)
        except LedgerError as error:
            broken.add(name.removeprefix("="))
            problems.extend(error)
    return found, frozenset(broken)


def on_known_sheets(
    declared: Iterable[tuple[U, Place]], sheets: Mapping[str, PlannedSheet], problems: Problems
) -> Iterator[tuple[U, Place, PlannedSheet]]:
    """Yield each view, chart or claim with its place and its sheet; add problems for unknown sheets."""
    for each, place in declared:
        if each.sheet in sheets:
            yield each, place, sheets[each.sheet]
        else:
            problems.add(f"unknown sheet {each.sheet!r}", place.inside("sheet"), near(each.sheet, sheets))


@dataclass(frozen=True, slots=True)
class PrintedBy:
    """A display rule, and its ladder: the factors and suffixes for a value in one unit."""

    rule: rules.DisplayRule
    ladder: rules.Ladder


def declared_kind(
    value: Input | TableField, place: Place, atoms: Mapping[str, units.Unit], problems: Problems
) -> Kind:
    """Return the kind of an input or a field; with a wrong unit, which is a problem, it is broken."""
    if value.unit and value.kind == "text":
        problems.add(f"a text has no unit, but {value.unit!r} is declared", place.inside("unit"))
        return BROKEN
    try:
        unit = units.parse(value.unit, atoms)
    except LedgerError as error:
        problems.add(error.problems[0].what, place.inside("unit"), error.problems[0].hint)
        return BROKEN
    return Kind("text" if value.kind == "text" else "number", unit, whole=value.kind == "integer")


def displayed(
    text: str, kind: Kind, unit: str, place: Place, atoms: Mapping[str, units.Unit], problems: Problems
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


def declared_node(
    node: Node, value: Input | TableField, place: Place, models: Models, problems: Problems
) -> Node:
    """Return a node with the kind, unit, label and display rule of the input or field declared at `place`."""
    kind = declared_kind(value, place, models.atoms, problems)
    printed = displayed(value.display, kind, value.unit, place.inside("display"), models.atoms, problems)
    label = spoken(value.label, models.language, node.name)
    return replace(node, kind=kind, unit=value.unit, label=label, rule=printed.rule, ladder=printed.ladder)


def checked(name: str, value: float | str, kind: Kind, place: Place) -> float | str:
    """Return the value that a declaration sets an input to; raise if it is of another kind."""
    if isinstance(value, str) != (kind.kind == "text"):
        raise LedgerError(Problem(f"{name!r} is a {kind.kind}, not {value!r}", place))
    if isinstance(value, str):
        return value
    number = float(str(value))  # which makes a whole number of 400 digits infinite, where float(value) fails
    if not math.isfinite(number):
        raise LedgerError(Problem(f"{name!r} is a finite number, not {number}", place))
    if 0 < abs(number) < SMALLEST:
        raise LedgerError(Problem(f"{name} = {number} {TOO_SMALL}", place, TOO_SMALL_HINT))
    if kind.whole and not (number.is_integer() and abs(value) <= EXACT):
        raise LedgerError(Problem(f"{name!r} is a whole number up to 2**53, not {value!r}", place))
    return number


def from_text(text: str, kind: Kind, place: Place) -> float | str:
    """Return the value that an option's text sets an input to; raise, at the option, if it spells none."""
    if kind.kind == "text":
        return text
    try:
        number = float(text)
        size = abs(int(text)) if kind.whole and text.strip("+-").isdecimal() else abs(number)
    except ValueError:
        raise LedgerError(Problem(f"{text!r} is not a number", place)) from None
    if not math.isfinite(number):
        raise LedgerError(Problem(f"{text!r} is not a finite number", place))
    if is_too_small(text):
        raise LedgerError(Problem(f"{text!r} {TOO_SMALL}", place, TOO_SMALL_HINT))
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
    """Add a problem for a number under its minimum or over its maximum."""
    low, high = bounds
    if isinstance(value, str):
        return
    if low is not None and value < low:
        problems.add(f"{name} = {number_text(value)} is under its minimum {low}", place)
    if high is not None and value > high:
        problems.add(f"{name} = {number_text(value)} is over its maximum {high}", place)


@dataclass(slots=True)
class Settings:
    """The texts that inputs are set to from outside, several for the values of a list.

    `options` names the option that set an input, if not --set.  `used` collects the names that some sheet
    used, `inputs` those of every report's inputs.
    """

    given: Mapping[str, tuple[str, ...]]
    options: Mapping[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)

    def place(self, name: str) -> Place:
        """Return where a name is set: an option of the command line."""
        return Place(self.options.get(name, f"--set {name}"))

    def check_used(self, problems: Problems) -> None:
        """Add a problem for every setting that reached no sheet of any report."""
        for name in self.given:
            if name not in self.inputs:
                problems.add(f"{name!r} is no input", self.place(name), near(name, self.inputs))
            elif name not in self.used:
                what = f"{name!r} reaches no sheet: rows or a formula give it, or nothing reads it"
                problems.add(what, self.place(name))


def _check_length(expr: Expr, place: Place) -> None:
    """Raise a formula that no spreadsheet takes, wherever the cells are that it reads."""
    # Each part is a character at least: a formula of many more is not spelled to be measured.
    length = size(expr)
    if length <= LONGEST:
        length = len(compile_to(EXCEL, expr, lambda _: "A1"))
    if length > LONGEST:
        what = f"written out, the formula has more than {LONGEST:,} characters, which no spreadsheet takes"
        raise LedgerError(Problem(what, replace(place, offset=0), "give its parts to columns of their own"))


class _BrokenNameError(LedgerError):
    """A name that cannot be resolved: its problems are already added, so it carries none."""


@dataclass(slots=True)
class SheetNames:
    """Resolves the names of one sheet; nodes are kept in the order in which they are complete.

    `place` is that of the sheet's declaration, `path` the names that are being resolved, each with the place
    where the one before reads it.
    """

    name: str
    sheet: Sheet
    place: Place
    axes: tuple[Axis, ...]
    models: Models
    tables: Mapping[str, PlannedTable]
    settings: Settings
    problems: Problems
    nodes: dict[str, Node] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    path: dict[str, Place] = field(default_factory=dict)
    #: The names that there are, once one was asked for that there is not.
    known: KnownWords | None = None

    def planned(self, wanted: Iterable[tuple[str, Place]]) -> PlannedSheet:
        """Return the sheet with every wanted name and all that they read."""
        self.nodes.update((node.name, node) for node in self._key_nodes())
        self.broken.update(key for key in self.sheet.set if not self._can_set(key))
        everything = [(name, self.place) for axis in self._own_axes() for name in self._fields_of(axis)]
        everything += [(key, self.place.inside("set", key)) for key in self.sheet.set]
        everything += placed(self.sheet.columns, self.place.inside("columns")) or [
            (each, self.place) for each in self.models.offered
        ]
        for name, place in (*everything, *wanted):
            with suppress(_BrokenNameError):
                self.node(name, place)
        title = spoken(self.sheet.title, self.models.language, self.name)
        where = self._where()  # first, for what only the filter reads is a node too
        return PlannedSheet(self.name, title, self.axes, dict(self.nodes), where, self.place)

    def _own_axes(self) -> list[Axis]:
        """Return the axes whose tables are on this sheet, not on a worksheet of their own."""
        return [axis for axis in self.axes if self.tables[axis.table].sheet == self.name]

    def _fields_of(self, axis: Axis) -> tuple[str, ...]:
        """Return the names of the fields that an axis's rows have."""
        return tuple(each.name for each in self.tables[axis.table].fields)

    def _key_nodes(self) -> Iterator[Node]:
        """Yield the row's id, and the key of each axis whose table is on another worksheet."""
        if self.axes:
            yield Node(ID, RowId(), _TEXT, varies=True, place=self.place, label=ID)
        for number, axis in enumerate(self.axes):
            if axis not in self._own_axes():
                key, label = self._key_name(number), self.tables[axis.table].label
                yield Node(key, RowKey(number), _TEXT, varies=True, place=self.place, label=label)

    def _key_name(self, number: int) -> str:
        """Return the name of an axis's key: that of a list's value, the lookup it leads, else the table."""
        axis = self.axes[number]
        if axis.name != axis.table:
            return f"{axis.name} key"  # so that the value itself is in one cell, on the list's own sheet
        leads = [
            name
            for name, entry in self.models.lookups.items()
            if entry.value.table == axis.table and not entry.value.by and name not in self.sheet.set
        ]
        if len(leads) > 1:
            what = f"table {axis.table!r} gives the key of {' and '.join(leads)}"
            self.problems.add(what, self.place.inside("rows"), "set all but one of them")
        return leads[0] if leads else axis.table

    def _can_set(self, name: str) -> bool:
        """Whether the sheet can set `name`; add a problem if it cannot."""
        models, number = self.models, self._axis_with(name)
        if name in models.broken:
            return False
        if name in models.columns:
            what, hint = f"{name!r} is computed and cannot be set", "remove it, or do not use its model"
        elif name not in models.settable():
            what, hint = f"{name!r} is no input of this report", near(name, models.settable())
        elif number is not None and self.axes[number].name != name:
            what = f"{name!r} is set, and table {self.axes[number].table!r} gives it for each row"
            hint = "remove one of them"
        else:
            return True
        self.problems.add(what, replace(self.place.inside("set", name), offset=None), hint)
        return False

    def _axis_with(self, name: str) -> int | None:
        """Return the number of the axis that has a field `name` for formulas to read, None if none has.

        Of a lookup's table among the rows formulas read only the key.
        """
        return next(iter(self._axes_with(name)), None)

    def _axes_with(self, name: str) -> tuple[int, ...]:
        looked_up = self.models.looked_up()
        return tuple(
            number
            for number, axis in enumerate(self.axes)
            if name in self._fields_of(axis) and (axis.name == name or axis.table not in looked_up)
        )

    def _unknown_rows(self) -> bool:
        """Whether the rows name a table that is none, so that their fields are not known."""
        return any(table not in self.models.tables for table in listed(self.sheet.rows))

    def node(self, name: str, place: Place) -> Node:
        """Return the node of `name`, read at `place`; raise _BrokenNameError when it has none."""
        if name in self.nodes:
            return self.nodes[name]
        if name in self.broken or name in self.models.broken:
            raise _BrokenNameError
        if name in self.path:
            self._add_circle(name, place)
            raise _BrokenNameError
        self.path[name] = place
        try:
            found = self._resolved(name, place)
        except LedgerError as error:
            self.problems.extend(error)
            self.broken.add(name)
            raise _BrokenNameError from None
        finally:
            del self.path[name]
        if found.kind == BROKEN:
            self.broken.add(name)
            raise _BrokenNameError
        self.nodes[name] = found
        return found

    def _add_circle(self, name: str, place: Place) -> None:
        """Add the problem of a circular reference, from the same name on wherever the circle was entered."""
        members = list(self.path)
        members = members[members.index(name) :]
        first = members.index(min(members))
        circle = [*members[first:], *members[: first + 1]]
        hint = "one of them must not read the next" if len(members) > 1 else "it must not read itself"
        at = {**self.path, name: place}[circle[0]]
        self.problems.add(f"circular reference: {' → '.join(circle)}", at, hint)
        self.broken.update(members)

    def _resolved(self, name: str, place: Place) -> Node:
        """Return the node of a name of a column, an input, a lookup, or a field; raise if it is unknown."""
        models, number = self.models, self._axis_with(name)
        tables = [self.axes[each].table for each in self._axes_with(name)]
        if len(tables) > 1:
            what = f"{name!r} is a field of {' and of '.join(map(repr, tables))}"
            raise LedgerError(Problem(what, place, f"say {' or '.join(f'{each}.{name}' for each in tables)}"))
        if name in models.columns:
            return self._column(name, models.columns[name])
        lookup = None if name in models.inputs else models.lookups.get(name)
        if lookup is not None and lookup.value.by:
            what = f"{name!r} is a lookup by {', '.join(listed(lookup.value.by))}; it has fields, no value"
            raise LedgerError(Problem(what, place, f"read one of its fields, such as {name}.FIELD"))
        if number is not None:
            return self._row_field(number, name, name)
        if lookup is not None:
            return self._lookup_key(name, lookup)
        if name in models.inputs:
            return self._input(name, models.inputs[name])
        owner, _, part = name.partition(".")
        if part:
            return self._field(owner, part, place)
        if self._unknown_rows():
            raise _BrokenNameError
        if self.known is None:
            fields = (each for axis in self.axes for each in self._fields_of(axis))
            self.known = KnownWords((*models.known(), *fields))
        hint = self._row_hint(name) or self.known.hint(name)
        raise LedgerError(Problem(f"unknown name {name!r}", place, hint))

    def _row_hint(self, name: str) -> str:
        """Return how a row of the table `name` is called on this sheet, nothing if its rows are others."""
        for number, axis in enumerate(self.axes):
            if axis.name == axis.table == name:
                key = ID if axis in self._own_axes() else self._key_name(number)
                return f"a row of {name!r} is called by its {key!r} here"
        return ""

    def _column(self, name: str, entry: Entry[Column]) -> Node:
        """Return the node of a column with all that its formula reads resolved."""
        value, place, number = entry.value, entry.place.inside("formula"), self._axis_with(name)
        if number is not None:
            what = f"{name!r} is a column, and a field of table {self.axes[number].table!r} in the rows"
            raise LedgerError(Problem(what, entry.place, "rename one of them"))
        computed, kind = self._computed(value.formula, self.models.formulas[name], place)
        kind = self._with_unit(kind, entry)
        printed = self.displayed(value.display, kind, value.unit, entry.place.inside("display"))
        language = self.models.language
        return Node(
            name, computed, kind, self.vary(computed.reads), place, value.unit,
            spoken(value.label, language, name), printed.rule, printed.ladder, value.source,
            spoken(value.note, language),
        )  # fmt: skip

    def displayed(self, text: str, kind: Kind, unit: str, place: Place) -> PrintedBy:
        """Return how a value of this sheet is printed: by the rule `text`, else as its kind suggests."""
        return displayed(text, kind, unit, place, self.models.atoms, self.problems)

    def _with_unit(self, kind: Kind, entry: Entry[Column]) -> Kind:
        """Return the kind in the declared unit: a count takes it, anything else must have it."""
        unit, place = entry.value.unit, entry.place.inside("unit")
        if kind.kind != "number":
            if unit:
                self.problems.add(f"a {kind.kind} has no unit, but {unit!r} is declared", place)
            return kind
        try:
            wanted = units.parse(unit, self.models.atoms)
        except LedgerError as error:
            raise LedgerError(replace(error.problems[0], place=place)) from None
        if units.same(kind.unit, wanted) or units.same(kind.unit, units.COUNT) or kind.free:
            return replace(kind, unit=wanted)
        have = units.spell(kind.unit)
        if not unit:
            what = f"the formula gives {have}, no unit is declared"
            raise LedgerError(Problem(what, entry.place, f"unit = {have!r}"))
        close = kind.unit.dimension == wanted.dimension
        hint = f"write to(…, {unit!r})" if close else "one of the two is wrong"
        raise LedgerError(Problem(f"the formula gives {have}, declared is {unit!r}", place, hint))

    def _computed(self, text: str, declared: Expr, place: Place) -> tuple[Computed, Kind]:
        """Return a formula with all that it reads resolved; every name is tried before giving up."""
        kinds: dict[str, Kind] = {}
        for each in names(declared):
            with suppress(_BrokenNameError):
                at = replace(place, offset=(place.offset or 0) + each.start)
                kinds[each.id] = self.node(each.id, at).kind
        if any(each.id not in kinds for each in names(declared)):
            raise _BrokenNameError
        found = typed(declared, Scope(kinds, self.models.atoms, place))
        _check_length(found.expr, place)
        for printed in found.printed:
            self._add_printed_text(printed.name, printed.rule, printed.text, place)
        reads = tuple(dict.fromkeys(each.id for each in names(found.expr)))
        return Computed(text, declared, found.expr, reads), found.kind

    def _add_printed_text(self, name: str, rule: str, text: str, place: Place) -> None:
        """Add the text of a printed number, once, as a node `text` beside the node of the number `name`."""
        if text in self.nodes:
            return
        node = self.nodes[name]
        ladder = self.displayed(rule, node.kind, node.unit, place).ladder if rule else node.ladder
        how = PrintedText(name, node.kind.kind, ladder)
        self.nodes[text] = Node(text, how, _TEXT, node.varies, place, label=text)

    def vary(self, reads: Iterable[str]) -> bool:
        """Whether what reads these names differs from row to row."""
        return any(self.nodes[each].varies for each in reads)

    def _input(self, name: str, entry: Entry[Input]) -> Node:
        """Return an input that is no field of the rows: the value that is set, else its default."""
        kind = declared_kind(entry.value, entry.place, self.models.atoms, self.problems)
        if kind == BROKEN or (self._unknown_rows() and not self._is_set(name)):
            raise _BrokenNameError
        how, varies, place = self._set_or_default(name, entry, kind)
        bounds = (entry.value.min, entry.value.max)
        if isinstance(how, Given):
            check_bounds(name, how.value, bounds, place, self.problems)
        node = Node(name, how, kind, varies, place, source=entry.value.source, bounds=bounds)
        return declared_node(node, entry.value, entry.place, self.models, self.problems)

    def _lookup_key(self, name: str, entry: Entry[Lookup]) -> Node:
        """Return the key of a lookup with no `by` that is no field of the rows: as set, or its default."""
        how, varies, place = self._set_or_default(name, entry, _TEXT)
        label = spoken(entry.value.label, self.models.language, name)
        return Node(name, how, _TEXT, varies, place, label=label, source=entry.value.source)

    def _is_set(self, name: str) -> bool:
        """Whether the sheet, or an option of the command line, sets an input."""
        return name in self.sheet.set or name in self.settings.given

    def _set_or_default(
        self, name: str, entry: Entry[Input] | Entry[Lookup], kind: Kind
    ) -> tuple[How, bool, Place]:
        """Return the value that is set, else the default; whether it differs from row to row; its place."""
        if f"={name}" not in self.models.formulas or self._is_set(name):
            value, place = self._value(name, entry, kind)
            return Given(value), False, place
        place = replace(entry.place.inside("default"), offset=1)
        text = str(entry.value.default).removeprefix("=")
        computed, found = self._computed(text, self.models.formulas[f"={name}"], place)
        count = units.same(found.unit, units.COUNT)
        if found.kind != kind.kind or not (units.same(found.unit, kind.unit) or count):
            what = f"the default of {name!r} is {described(found)}, the input is {described(kind)}"
            raise LedgerError(Problem(what, place))
        return computed, self.vary(computed.reads), place

    def _value(self, name: str, entry: Entry[Input] | Entry[Lookup], kind: Kind) -> tuple[float | str, Place]:
        """Return the value of an input and where it is set; raise if it has none or one of another kind."""
        if name in self.settings.given:
            self.settings.used.add(name)
            place = self.settings.place(name)
            return from_text(self.settings.given[name][0], kind, place), place
        value: Scalar | list[Scalar] | None = entry.value.default
        place = entry.place.inside("default")
        if name in self.sheet.set:
            value, place = self.sheet.set[name], self.place.inside("set", name)
        if value is None:
            hint = f"set it: set = {{ {name} = … }}, or give it a default, or a column in the rows"
            raise LedgerError(
                Problem(f"input {name!r} has no value on sheet {self.name!r}", self.place, hint)
            )
        if isinstance(value, list):
            raise TypeError(f"the list of {name!r} is an axis, not a value")
        return checked(name, value, kind, place), place

    def _row_field(self, number: int, name: str, field: str) -> Node:
        """Return a field of the row of axis `number` as the node `name`."""
        axis, entry = self.axes[number], self.models.inputs.get(name)
        found = next(each for each in self.tables[axis.table].fields if each.name == field)
        here = axis in self._own_axes()
        how: How = RowField(number, field) if here else Fetched(axis.table, field, (self._key_name(number),))
        if entry is None:
            return replace(found, name=name, how=how, bounds=(None, None))
        kind = declared_kind(entry.value, entry.place, self.models.atoms, self.problems)
        fits = found.kind.kind == kind.kind and (found.kind.whole or not kind.whole)
        if BROKEN not in (found.kind, kind) and not (fits and units.same(found.kind.unit, kind.unit)):
            what = f"field {name!r} is {described(found.kind)}, the input of that name is {described(kind)}"
            raise LedgerError(Problem(what, found.place, "declare both alike"))
        return replace(found, name=name, how=how, bounds=(entry.value.min, entry.value.max))

    def _field(self, owner: str, part: str, place: Place) -> Node:
        """Return a field of a table among the rows, or of the row that a lookup leads to."""
        for number, axis in enumerate(self.axes):
            if axis.table == owner and owner not in self.models.lookups and part in self._fields_of(axis):
                return self._row_field(number, f"{owner}.{part}", part)
        found = self._lookup_field(owner, part, place)
        entry = self.models.lookups[owner]
        by = placed(entry.value.by, entry.place.inside("by")) or ((owner, entry.place.inside("by")),)
        keys = [self.node(key, at) for key, at in by]
        for key, (_, at) in zip(keys, by, strict=True):
            if key.kind.kind != "text":
                raise LedgerError(Problem(f"a key is a text, {key.name!r} is not", at))
        source = self.tables[entry.value.table].source
        width = len(source.key) if source else 1
        if width and len(by) != width:
            what = f"lookup {owner!r} has {len(by)} key(s), table {entry.value.table!r} has {width}"
            raise LedgerError(Problem(what, entry.place.inside("by")))
        return replace(
            found,
            name=f"{owner}.{part}",
            how=Fetched(entry.value.table, part, tuple(key for key, _ in by)),
            varies=any(key.varies for key in keys),
            label=found.label if found.label != part else f"{owner}.{part}",
        )

    def _lookup_field(self, owner: str, part: str, place: Place) -> Node:
        """Return a field of the table that the lookup `owner` leads to, as the table has it."""
        lookups = self.models.lookups
        if owner not in lookups:
            raise LedgerError(Problem(f"unknown lookup {owner!r}", place, near(owner, lookups)))
        wanted = lookups[owner].value.table
        if wanted not in self.tables:
            at, hint = lookups[owner].place.inside("table"), near(wanted, self.models.tables)
            raise LedgerError(Problem(f"unknown table {wanted!r}", at, hint))
        parts = {each.name: each for each in self.tables[wanted].fields}
        if part not in parts:
            raise LedgerError(Problem(f"table {wanted!r} has no field {part!r}", place, near(part, parts)))
        return parts[part]

    def _where(self) -> Expr | None:
        """Return the filter of the rows, None if there is none or nothing to filter."""
        text, place = self.sheet.where, self.place.inside("where")
        if not text:
            return None
        if not self.axes and not self._unknown_rows():
            self.problems.add(f"sheet {self.name!r} has no rows to filter", place)
            return None
        found = self.truth(text, place, "a row filter")
        return found.expr if found else None

    def truth(self, text: str, place: Place, what: str) -> Computed | None:
        """Return a formula that is a comparison, None if it is none: a problem, in which `what` names it."""
        try:
            computed, kind = self._computed(text, parse(text, place), place)
        except LedgerError as error:
            self.problems.extend(error)
            return None
        if kind.kind == "bool":
            return computed
        self.problems.add(f"{what} is a comparison, not a {kind.kind}", place)
        return None
