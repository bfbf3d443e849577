"""The value of an input that no row and no formula gives: from outside, from the sheet, or its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.values import EXACT

if TYPE_CHECKING:
    from ledger.kinds import Kind
    from ledger.library import Entry, Library
    from ledger.model import Input
    from ledger.sheetscope import SheetScope


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


@dataclass(frozen=True, slots=True)
class Asked:
    """An input that needs a value: its name, its kind, its default and where that stands."""

    name: str
    kind: Kind
    default: object
    place: Place


def is_set(scope: SheetScope, settings: Settings, name: str) -> bool:
    """Whether the sheet or the outside sets an input."""
    return name in scope.sheet.set or name in settings.given


def given_value(scope: SheetScope, settings: Settings, asked: Asked) -> tuple[float | str, Place]:
    """Return the value of an input and where it was given; raise if it has none or one of another kind."""
    name, kind = asked.name, asked.kind
    if name in settings.given:
        settings.taken.add(name)
        return _from_text(name, settings.given[name], kind), Place(f"--set {name}")
    value, place = asked.default, asked.place
    if name in scope.sheet.set:
        value, place = scope.sheet.set[name], scope.place("set", name)
    if value is None:
        hint = f"set it: set = {{ {name} = … }}, or give it a default, or a column in the rows"
        raise LedgerError(
            Problem(f"input {name!r} has no value on sheet {scope.name!r}", scope.place(), hint)
        )
    if isinstance(value, str) != (kind.kind == "text"):
        raise LedgerError(Problem(f"{name!r} is a {kind.kind}, not {value!r}", place))
    if isinstance(value, str):
        return value, place
    number = float(str(value))
    if kind.whole and (not number.is_integer() or abs(number) > EXACT):
        raise LedgerError(Problem(f"{name!r} is a whole number up to 2**53, not {value!r}", place))
    return number, place


def _from_text(name: str, text: str, kind: Kind) -> float | str:
    if kind.kind == "text":
        return text
    try:
        value = float(text)
    except ValueError:
        raise LedgerError(Problem(f"--set {name}: {text!r} is not a number")) from None
    if abs(value) > EXACT if kind.whole else not abs(value) < float("inf"):
        raise LedgerError(Problem(f"--set {name}: {text!r} is out of range"))
    if kind.whole and not value.is_integer():
        raise LedgerError(Problem(f"--set {name}: {text!r} is not a whole number"))
    return value


def check_bounds(
    name: str, value: float | str, entry: Entry[Input], place: Place, problems: Problems
) -> None:
    """Tell a number under its minimum or over its maximum."""
    low, high = entry.value.min, entry.value.max
    if isinstance(value, str):
        return
    if low is not None and value < low:
        problems.add(f"{name} = {value:g} is under its minimum {low:g}", place)
    if high is not None and value > high:
        problems.add(f"{name} = {value:g} is over its maximum {high:g}", place)
