"""`About`, the first sheet: the verdict of the checks, claims, limits, the other sheets, the colours."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ledger.display.words import said
from ledger.workbook.layout import sheet_reference
from ledger.workbook.pages import ConditionalFormat, Page, StyledCell, column_width, height, row
from ledger.xlsx.places import ABOUT, CHARTS, CHECKS, DEFINITIONS, PRINTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ledger.plan.plan import Plan
    from ledger.workbook.checks import Checks
    from ledger.workbook.styles import Content, Styles
    from ledger.xlsx.sheetdata import Band

_NAME, _TEXT, _STATUS = 1, 2, 3
_WIDTHS = {_TEXT: 104.0, _STATUS: 16.0}
_NAMES, _LONGEST_NAME = 26.0, 44.0
_VERDICT = 4
#: A cell of each colour shows it.
_COLOURS: tuple[tuple[str, str, Content], ...] = (
    ("input", "input", "typed"),
    ("lookup", "lookup", "text"),
    ("computed", "computed", "text"),
    ("printed", "printed text", "text"),
    ("id", "id", "typed"),
    ("document", "document", "typed"),
)
_STEPS = ("step 1", "step 2", "step 3", "step 4")


def about_page(plan: Plan, checks: Checks, styles: Styles) -> Page:
    """Return the page that a reader sees first."""
    writer = _AboutWriter(plan, checks, styles, partial(said, language=plan.language))
    writer.write()
    names = max(column_width([claim.name for claim in plan.claims], _LONGEST_NAME), _NAMES)
    return Page(
        ABOUT, tuple(writer.bands), {_NAME: names, **_WIDTHS}, links=writer.links,
        rules=tuple(writer.rules), repeat=(1, 1), width=_STATUS, pages=1,
    )  # fmt: skip


@dataclass(slots=True, eq=False)
class _AboutWriter:
    """Writes the page from top to bottom: its rows, the links of its names, the formats of its statuses."""

    plan: Plan
    checks: Checks
    styles: Styles
    say: Callable[[str], str]
    bands: list[Band] = field(default_factory=list)
    links: dict[tuple[int, int], str] = field(default_factory=dict)
    rules: list[ConditionalFormat] = field(default_factory=list)

    def write(self) -> None:
        """Write title, basis and verdict, then every part of the page, one below the other."""
        title = StyledCell(self.styles.number("title"), self.plan.title)
        self.bands.append(row(1, {_NAME: title}, 24))
        self.bands.append(row(2, {_NAME: StyledCell(self.styles.number("basis"), self.say("about"))}))
        verdict = StyledCell(
            self.styles.number("verdict", kind="text"), self.checks.verdict.text, self.checks.cell
        )
        self.bands.append(row(_VERDICT, {_NAME: verdict}, 30))
        self.rules.extend(self.checks.verdict.rules(f"A{_VERDICT}:C{_VERDICT}", f"$A${_VERDICT}"))
        self.head("claims")
        self.line(self.say("basis"), said(self.plan.basis, self.plan.language))
        for claim in self.plan.claims:
            status = self.checks.claims[claim.sheet, claim.name]
            self.line(claim.name, claim.sentence, status, status[0])
        if self.plan.limits:
            self.head("limits")
            for number, text in enumerate(self.plan.limits, 1):
                self.line(f"{number}", text)
        self.head("sheets")
        for title_, text in self.sheets():
            self.line(title_, text, home=f"{sheet_reference(title_)}!A1")
        self.head("colours")
        for word, style, kind in _COLOURS:
            sample = StyledCell(self.styles.number(style, kind=kind), self.say(f"{word} cell"))
            self.line(sample, self.say(f"{word} note"))
        self.head("working")
        for number, step in enumerate(_STEPS, 1):
            self.line(f"{number}", self.say(step))

    def head(self, word: str) -> None:
        """Write the heading of a part below a blank row."""
        head = self.styles.number("head")
        cells = {
            _NAME: StyledCell(head, self.say(word).rstrip(":：")),
            _TEXT: StyledCell(head, ""),
            _STATUS: StyledCell(head, ""),
        }
        self.bands.append(row(self.bands[-1].last_row + 2, cells, 20))

    def line(
        self, name: str | StyledCell, text: str, status: tuple[str, str] | None = None, home: str = ""
    ) -> None:
        """Write a name and a text about it; `status` is a cell of Checks and its text, `home` a link."""
        number = self.bands[-1].last_row + 1
        if isinstance(name, str):
            name = StyledCell(self.styles.number("line name", kind="typed"), name)
        cells = {_NAME: name, _TEXT: StyledCell(self.styles.number("line text", kind="long"), text)}
        if status is not None:
            cells[_STATUS] = StyledCell(self.styles.number("status", kind="text"), status[1], status[0])
            self.rules.append(ConditionalFormat(f"C{number}", f'$C{number}="{self.say("holds")}"', "good"))
            known = f'$C{number}="{self.say("as known")}"'
            self.rules.append(ConditionalFormat(f"C{number}", known, "neutral"))
            self.rules.append(ConditionalFormat(f"C{number}", f"LEN($C{number})>0", "bad"))
        if home:
            self.links[number, _NAME] = home.replace("$", "")
        self.bands.append(row(number, cells, height({text: _WIDTHS[_TEXT]}) + 3))

    def sheets(self) -> Iterator[tuple[str, str]]:
        """Yield the title of each visible sheet, with a text of what it holds."""
        yield CHECKS, self.say("checks note")
        for sheet in self.plan.sheets.values():
            yield sheet.name, sheet.title
        yield PRINTED, self.say("printed sheet")
        if self.plan.charts:
            yield CHARTS, " · ".join(chart.title for chart in self.plan.charts)
        for table in self.plan.tables.values():
            if not table.sheet:
                parts = (table.label, table.source.name if table.source else "")
                yield table.name, " · ".join(part for part in parts if part)
        yield DEFINITIONS, self.say("definitions note")
