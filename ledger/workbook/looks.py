"""What the cells of a name look like: the role they play, what they hold, their number format."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger import display
from ledger.plan import Claimed, Computed, Fetched, Given, Node, RowField, RowId, RowKey
from ledger.workbook.styles import GENERAL

if TYPE_CHECKING:
    from ledger.workbook.styles import Kind


def look(node: Node) -> str:
    """Return the role a cell plays: input, lookup, computed, id."""
    match node.how:
        case Given() | RowField():
            return "input"
        case Fetched():
            return "lookup"
        case RowId() | RowKey():
            return "id"
        case Claimed():
            return "claim"
    return "computed"


def content(node: Node) -> Kind:
    """Return the kind of content that a node's cells have: typed text, text of a formula, or a number."""
    if node.kind.kind != "text":
        return "number"
    return "typed" if isinstance(node.how, Given | RowField | RowId | RowKey) else "text"


def number_format(node: Node) -> str:
    """Return the number format that a node's full values are read in."""
    if node.kind.kind != "number" or node.rule is None:
        return GENERAL
    # An input shows the digits that were given, a computed number those that are printed in its own unit.
    own = isinstance(node.how, Computed) and node.rule.unit == node.unit
    return display.number_format(replace(node.rule, unit="") if own else node.rule, node.kind.unit)
