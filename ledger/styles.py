"""What cells look like: inputs blue on cream, formulas black, lookups green."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openpyxl import Workbook

_FACE = "Calibri"
_BLUE, _GREEN, _GREY, _BLACK = "1F4E9E", "2E7D32", "6B6B6B", "000000"
_CREAM, _BAND = "FFF8E1", "EAF0F6"
GENERAL = "General"
Kind = Literal["number", "typed", "text", "long"]


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


LOOKS: Mapping[str, Look] = {
    "title": Look(bold=True, size=15),
    "basis": Look(color=_GREY, italic=True),
    "head": Look(bold=True, fill=_BAND, line=True),
    "column head": Look(bold=True, fill=_BAND, line=True, align="center"),
    "label": Look(bold=True, wrap=True, align="center"),
    "unit": Look(color=_GREY, italic=True, align="center"),
    "formula": Look(color=_GREY, size=9, wrap=True, align="center"),
    "name": Look(bold=True),
    "told": Look(color=_GREY),
    "id": Look(bold=True),
    "input": Look(color=_BLUE, fill=_CREAM),
    "lookup": Look(color=_GREEN),
    "computed": Look(),
    "claim": Look(align="center"),
    "printed": Look(align="right"),
    "printed text": Look(align="left", indent=1),
    "helper": Look(color=_GREY, size=9),
    "long": Look(wrap=True),
    "code": Look(size=9, wrap=True),
}


@dataclass(frozen=True, slots=True)
class Styles:
    """The style numbers of a workbook, one for each look and number format that is asked for."""

    workbook: Workbook
    numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def number(self, look: str, form: str = GENERAL, kind: Kind = "number") -> int:
        """Return the number of a style for a kind of content.

        In a cell of "typed" text a `=` is a letter.  A formula that gives text must not be such a cell, or
        whoever edits it turns it into text; "long" text wraps.
        """
        key = (look, form, kind)
        if key not in self.numbers:
            self.numbers[key] = self._made(LOOKS[look], form, kind)
        return self.numbers[key]

    def _made(self, look: Look, form: str, kind: Kind) -> int:
        # A style has a number once a cell has it; the cell goes with its sheet.
        sheet = self.workbook.create_sheet()
        cell = sheet.cell(1, 1)
        cell.font = Font(name=_FACE, size=look.size, bold=look.bold, italic=look.italic, color=look.color)
        if look.fill:
            cell.fill = PatternFill("solid", start_color=look.fill, end_color=look.fill)
        if look.line:
            cell.border = Border(bottom=Side(style="thin", color=_GREY))
        cell.alignment = Alignment(
            horizontal=look.align or None,
            vertical="top" if look.wrap else None,
            wrap_text=look.wrap or None,
            indent=look.indent,
        )
        cell.number_format = form
        if kind != "number" and not look.align:
            wrap = True if kind == "long" else None
            cell.alignment = Alignment(
                horizontal="left", vertical="top" if wrap else None, indent=1, wrap_text=wrap
            )
        if kind == "typed":
            cell.quotePrefix = True
        number = int(cell.style_id)
        self.workbook.remove(sheet)
        return number
