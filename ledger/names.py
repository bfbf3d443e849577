"""The names of one sheet, each followed to how its value comes about."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem, near
from ledger.expr import names
from ledger.given import Asked, given_value, is_set
from ledger.kinds import BROKEN, Kind, Scope, described, typed
from ledger.model import listed
from ledger.nodes import check_bounds
from ledger.parse import parse
from ledger.plan import Computed, Fetched, Given, How, Node, PlannedSheet, Shown
from ledger.units import COUNT, same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.errors import Place
    from ledger.expr import Expr
    from ledger.given import Settings
    from ledger.library import Entry
    from ledger.model import Column, Input, Lookup
    from ledger.sheetscope import SheetScope


class _Broken(Exception):  # noqa: N818  # not told: its problem already is
    """A name that cannot be resolved; whatever reads it is not told again."""


@dataclass(frozen=True, slots=True)
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
        how = Shown(name, shown.kind.kind, ladder)
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
        asked = Asked(name, kind, entry.value.default, entry.text_at("default"))
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
        asked = Asked(name, text, value.default, entry.text_at("default"))
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
