"""Cell styles by role: inputs blue on cream, formulas black, lookups green, claims centred."""

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
class CellStyle:
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


CELL_STYLES: Mapping[str, CellStyle] = {
    "title": CellStyle(bold=True, size=15),
    "basis": CellStyle(color=_GREY, italic=True),
    "head": CellStyle(bold=True, fill=_BAND, line=True),
    "column head": CellStyle(bold=True, fill=_BAND, line=True, align="center"),
    "document head": CellStyle(color=_GREY, bold=True, fill=_PALE, line=True, align="center"),
    "label": CellStyle(bold=True, wrap=True, align="center"),
    "unit": CellStyle(color=_GREY, italic=True, align="center"),
    "formula": CellStyle(color=_GREY, size=9, wrap=True, align="center"),
    "check head": CellStyle(bold=True, fill=_BAND, line=True, wrap=True, align="center"),
    "verdict": CellStyle(bold=True, size=12, middle=True),
    "line text": CellStyle(middle=True),
    "line name": CellStyle(bold=True, middle=True),
    "line value": CellStyle(middle=True),
    "total": CellStyle(bold=True, align="center"),
    "status": CellStyle(bold=True, align="center", middle=True),
    "name": CellStyle(bold=True),
    "symbol": CellStyle(bold=True, wrap=True),
    "detail": CellStyle(color=_GREY),
    "id": CellStyle(bold=True),
    "input": CellStyle(color=_BLUE, fill=_CREAM),
    "lookup": CellStyle(color=_GREEN),
    "document": CellStyle(color=_GREY, fill=_PALE),
    "computed": CellStyle(),
    "claim": CellStyle(align="center"),
    "printed": CellStyle(align="right"),
    "printed text": CellStyle(align="left", indent=1),
    "helper": CellStyle(color=_GREY, size=9),
    "long": CellStyle(wrap=True),
    "code": CellStyle(size=9, wrap=True),
}


#: The colour and the fill of cells in which a condition holds.
CONDITION_STYLES: Mapping[str, tuple[str, str]] = {
    "good": ("1B5E20", "DFF2E1"),
    "bad": ("9C1C1C", "FBDDDD"),
    "neutral": ("5F5F5F", "E8E8E8"),
}


def rule_style(name: str) -> DifferentialStyle:
    """Return the differential style, colour and fill, of a conditional format."""
    color, fill = CONDITION_STYLES[name]
    # Only here a spreadsheet takes a solid fill from the background.
    return DifferentialStyle(font=Font(color=color), fill=PatternFill(bgColor=fill))


@dataclass(slots=True)
class Styles:
    """The style numbers of a workbook, one for each cell style and number format that is asked for."""

    workbook: Workbook
    numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def number(self, name: str, form: str = GENERAL, kind: Content = "number") -> int:
        """Return the number of a style for a kind of content.

        In a cell of "typed" text a `=` is a letter.  A formula that gives text must not be such a cell, or
        whoever edits it turns it into text; "long" text wraps.
        """
        key = (name, form, kind)
        if key not in self.numbers:
            self.numbers[key] = self._made(CELL_STYLES[name], form, kind)
        return self.numbers[key]

    def _made(self, style: CellStyle, form: str, kind: Content) -> int:
        # A style has a number once a cell has it; the cell goes with its sheet.
        sheet = self.workbook.create_sheet()
        cell = sheet.cell(1, 1)
        cell.font = Font(name=_FACE, size=style.size, bold=style.bold, italic=style.italic, color=style.color)
        if style.fill:
            cell.fill = PatternFill("solid", start_color=style.fill, end_color=style.fill)
        if style.line:
            cell.border = Border(bottom=Side(style="thin", color=_GREY))
        wraps, typed = style.wrap or kind == "long", kind != "number" and not style.align
        cell.alignment = Alignment(
            horizontal="left" if typed else style.align or None,
            vertical="center" if style.middle else "top" if wraps else None,
            wrap_text=wraps or None,
            indent=1 if typed else style.indent,
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


def role(node: Node) -> str:
    """Return the role of a node's cells, which names their style: input, lookup, id, claim, computed."""
    return _ROLES.get(type(node.how), "computed")


def content(node: Node) -> Content:
    """Return the kind of content that a node's cells have: typed text, text of a formula, or a number."""
    if node.kind.kind != "text":
        return "number"
    return "typed" if role(node) in {"input", "id"} else "text"


def number_format(node: Node) -> str:
    """Return the number format that a node's full values are read in."""
    if node.kind.kind != "number" or node.rule is None:
        return GENERAL
    # An input shows the digits that were given, a computed number those that are printed in its own unit.
    own = isinstance(node.how, Computed) and node.rule.unit == node.unit
    return rules.number_format(replace(node.rule, unit="") if own else node.rule, node.kind.unit)
