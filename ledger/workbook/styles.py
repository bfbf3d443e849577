"""What cells look like: inputs blue on cream, formulas black, lookups green, by role."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.styles.differential import DifferentialStyle

from ledger.display import rules
from ledger.plan.plan import Claimed, Computed, Fetched, Given, Node, RowField, RowId, RowKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openpyxl import Workbook


_FACE = "Calibri"
_BLUE, _GREEN, _GREY, _BLACK = "1F4E9E", "2E7D32", "6B6B6B", "000000"
_CREAM, _BAND, _PALE = "FFF8E1", "EAF0F6", "F3F3F3"
GENERAL = "General"
Content = Literal["number", "typed", "text", "long"]


@dataclass(frozen=True, slots=True)
class Look:
    """One role's font, fill and alignment."""

    color: str = _BLACK
    bold: bool = False
    italic: bool = False
    size: float = 11
    fill: str = ""
    align: str = ""
    wrap: bool = False
    line: bool = False
    indent: int = 0
    middle: bool = False


LOOKS: Mapping[str, Look] = {
    "title": Look(bold=True, size=15),
    "basis": Look(color=_GREY, italic=True),
    "head": Look(bold=True, fill=_BAND, line=True),
    "column head": Look(bold=True, fill=_BAND, line=True, align="center"),
    "document head": Look(color=_GREY, bold=True, fill=_PALE, line=True, align="center"),
    "label": Look(bold=True, wrap=True, align="center"),
    "unit": Look(color=_GREY, italic=True, align="center"),
    "formula": Look(color=_GREY, size=9, wrap=True, align="center"),
    "check head": Look(bold=True, fill=_BAND, line=True, wrap=True, align="center"),
    "verdict": Look(bold=True, size=12, middle=True),
    "line text": Look(middle=True),
    "line name": Look(bold=True, middle=True),
    "line value": Look(middle=True),
    "total": Look(bold=True, align="center"),
    "status": Look(bold=True, align="center", middle=True),
    "name": Look(bold=True),
    "symbol": Look(bold=True, wrap=True),
    "detail": Look(color=_GREY),
    "id": Look(bold=True),
    "input": Look(color=_BLUE, fill=_CREAM),
    "lookup": Look(color=_GREEN),
    "document": Look(color=_GREY, fill=_PALE),
    "computed": Look(),
    "claim": Look(align="center"),
    "printed": Look(align="right"),
    "printed text": Look(align="left", indent=1),
    "helper": Look(color=_GREY, size=9),
    "long": Look(wrap=True),
    "code": Look(size=9, wrap=True),
}


#: The colour and the fill of cells in which a condition holds.
RULE_LOOKS: Mapping[str, tuple[str, str]] = {
    "good": ("1B5E20", "DFF2E1"),
    "bad": ("9C1C1C", "FBDDDD"),
    "neutral": ("5F5F5F", "E8E8E8"),
}


def rule_style(look: str) -> DifferentialStyle:
    """Return the differential style, colour and fill, of a conditional format."""
    color, fill = RULE_LOOKS[look]
    # Only here a spreadsheet takes a solid fill from the background.
    return DifferentialStyle(font=Font(color=color), fill=PatternFill(bgColor=fill))


@dataclass(slots=True)
class Styles:
    """The style numbers of a workbook, one for each look and number format that is asked for."""

    workbook: Workbook
    numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def number(self, look: str, form: str = GENERAL, kind: Content = "number") -> int:
        """Return the number of a style for a kind of content.

        In a cell of "typed" text a `=` is a letter.  A formula that gives text must not be such a cell, or
        whoever edits it turns it into text; "long" text wraps.
        """
        key = (look, form, kind)
        if key not in self.numbers:
            self.numbers[key] = self._made(LOOKS[look], form, kind)
        return self.numbers[key]

    def _made(self, look: Look, form: str, kind: Content) -> int:
        # A style has a number once a cell has it; the cell goes with its sheet.
        sheet = self.workbook.create_sheet()
        cell = sheet.cell(1, 1)
        cell.font = Font(name=_FACE, size=look.size, bold=look.bold, italic=look.italic, color=look.color)
        if look.fill:
            cell.fill = PatternFill("solid", start_color=look.fill, end_color=look.fill)
        if look.line:
            cell.border = Border(bottom=Side(style="thin", color=_GREY))
        wraps, typed = look.wrap or kind == "long", kind != "number" and not look.align
        cell.alignment = Alignment(
            horizontal="left" if typed else look.align or None,
            vertical="center" if look.middle else "top" if wraps else None,
            wrap_text=wraps or None,
            indent=1 if typed else look.indent,
        )
        cell.number_format = form
        if kind == "typed":
            cell.quotePrefix = True
        number = int(cell.style_id)
        self.workbook.remove(sheet)
        return number


_ROLES = {
    Given: "input",
    RowField: "input",
    Fetched: "lookup",
    RowId: "id",
    RowKey: "id",
    Claimed: "claim",
}


def look(node: Node) -> str:
    """Return the look of a node's cells by their role: input, lookup, id, claim, or else computed."""
    return _ROLES.get(type(node.how), "computed")


def content(node: Node) -> Content:
    """Return the kind of content that a node's cells have: typed text, text of a formula, or a number."""
    if node.kind.kind != "text":
        return "number"
    return "typed" if look(node) in {"input", "id"} else "text"


def number_format(node: Node) -> str:
    """Return the number format that a node's full values are read in."""
    if node.kind.kind != "number" or node.rule is None:
        return GENERAL
    # An input shows the digits that were given, a computed number those that are printed in its own unit.
    own = isinstance(node.how, Computed) and node.rule.unit == node.unit
    return rules.number_format(replace(node.rule, unit="") if own else node.rule, node.kind.unit)
