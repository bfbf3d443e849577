"""How the text of a unit and of a display rule become part of a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import display, units
from ledger.errors import LedgerError, Problems
from ledger.kinds import Kind

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
    """Return the kind of an input or a field; a wrong unit is a problem and counts as none."""
    parsed = units.COUNT
    if unit and kind == "text":
        problems.add(f"a text has no unit, but {unit!r} is declared", place)
    elif unit:
        try:
            parsed = units.parse(unit, atoms)
        except LedgerError as error:
            problems.add(error.problems[0].what, place, error.problems[0].hint)
    return Kind("text" if kind == "text" else "number", parsed, whole=kind == "integer")


def displayed(
    text: str, kind: Kind, unit: str, place: Place, atoms: Mapping[str, Unit], problems: Problems
) -> Display:
    """Return how a value is printed: by `text`, else as its kind and unit suggest.

    A wrong rule is a problem, and the suggested one is taken.
    """
    suggested = display.default_rule(
        "integer" if kind.kind == "number" and kind.whole else kind.kind, kind.unit
    )
    try:
        rule = display.parse(text, atoms) if text else suggested
        if (rule.kind == "text") != (kind.kind != "number"):
            problems.add(f"display {text!r} does not fit a {kind.kind}", place, f"write '{suggested.kind}'")
            rule = suggested
        return Display(rule, display.ladder(rule, kind.unit, unit, atoms))
    except LedgerError as error:
        problems.add(error.problems[0].what, place, error.problems[0].hint)
        return Display(suggested, display.ladder(suggested, kind.unit, unit, atoms))
