"""How what a declaration says of a value becomes part of a node: its unit, its display rule, itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import display, units
from ledger.errors import LedgerError, Problem, Problems
from ledger.kinds import BROKEN, Kind
from ledger.values import EXACT, number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.display import Ladder, Rule
    from ledger.errors import Place
    from ledger.units import Unit


@dataclass(frozen=True, slots=True)
class Display:
    """A display rule and its ladder for one unit."""

    rule: Rule
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
) -> Display:
    """Return how a value is printed: by `text`, else as its kind and unit suggest.

    A wrong rule is a problem, and the suggested one is taken.
    """
    if kind == BROKEN:
        return Display(display.Rule("text"), display.Ladder(()))
    suggested = display.default_rule(
        "integer" if kind.kind == "number" and kind.whole else kind.kind, kind.unit
    )
    try:
        rule = display.parse(text, atoms) if text else suggested
        if (rule.kind == "text") != (kind.kind != "number"):
            problems.add(f"display {text!r} does not fit a {kind.kind}", place, f"write '{suggested}'")
            rule = suggested
        return Display(rule, display.ladder(rule, kind.unit, unit, atoms))
    except LedgerError as error:
        problems.add(error.problems[0].what, place, error.problems[0].hint)
        return Display(suggested, display.ladder(suggested, kind.unit, unit, atoms))


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
