"""The models of a report put together: one declaration for each name, parsed once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ledger.errors import LedgerError, Place, Problems
from ledger.model import Column, Input, Lookup, Table
from ledger.parse import parse
from ledger.units import Unit, declare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.declarations import Declared
    from ledger.expr import Expr

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
class Library:
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


def gather(declared: Declared, problems: Problems) -> Library:
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
    return Library(
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
