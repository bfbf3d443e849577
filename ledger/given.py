"""The value of an input that no row and no formula gives: from outside, from the sheet, or its default."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.nodes import checked, from_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.kinds import Kind
    from ledger.model import Scalar
    from ledger.sheetscope import SheetScope


@dataclass(frozen=True, slots=True)
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
class Asked:
    """An input that needs a value: its name, its kind, its default and where that stands."""

    name: str
    kind: Kind
    default: float | str | None
    place: Place


def is_set(scope: SheetScope, settings: Settings, name: str) -> bool:
    """Whether the sheet or the outside sets an input."""
    return name in scope.sheet.set or name in settings.given


def given_value(scope: SheetScope, settings: Settings, asked: Asked) -> tuple[float | str, Place]:
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
