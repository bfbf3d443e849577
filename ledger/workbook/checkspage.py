"""`Checks`: what differs from what was published, by name; what of the claims holds; which rows moved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ledger.returned.cellformula import column_letters
from ledger.returned.places import CHECKS
from ledger.words import said
from ledger.workbook.checklines import (
    CLAIM_HEADS,
    COUNT,
    DIFFER,
    ERRORS,
    FIRST,
    HEADS,
    LABEL,
    LARGEST,
    NAME,
    ORDER_HEADS,
    SHEET,
    STATUS,
    Lines,
)
from ledger.workbook.compared import compared, home_of, live_cells, row_orders
from ledger.workbook.layout import cell
from ledger.workbook.pages import One, Page, Rule, TableObject, column_width, height, row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ledger.evaluate import Result
    from ledger.plan import Plan, PlannedClaim
    from ledger.workbook.layout import Layout
    from ledger.workbook.sheetdata import Band
    from ledger.workbook.styles import Styles

_VERDICT, _TOTALS = 3, 5
_FREEZE_WITHIN = 16
_LABEL_WIDTH, _NUMBER_WIDTH, _ID_WIDTH, _NAME_WIDTH = 46.0, 14.0, 24.0, 34.0
_GOOD, _BAD = ("same", "holds"), ("differs", "errors", "moved", "added", "fails")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks say in one sentence: the text there now, its formula, and two that are no alarm."""

    text: str
    formula: str
    same: str
    moved: str

    def rules(self, area: str, address: str) -> tuple[Rule, ...]:
        """Return how cells look by the sentence that stands in one of them."""
        return (
            Rule(area, f'{address}="{self.same}"', "good"),
            Rule(area, f'{address}="{self.moved}"', "neutral"),
            Rule(area, f"LEN({address})>0", "bad"),
        )


@dataclass(frozen=True, slots=True)
class Checks:
    """The page, where its verdict stands, and the cell and the text of each claim's status."""

    page: Page
    cell: str
    verdict: Verdict
    claims: Mapping[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line: its cells, and where its name leads."""

    cells: Mapping[int, One]
    home: str


@dataclass(frozen=True, slots=True)
class _Section:
    """Lines under their heads, from row `first` on: all is well where the status is one of `words`.

    `total` and `alarm` say what the others are.
    """

    heads: Mapping[int, str]
    lines: tuple[_Line, ...]
    first: int
    total: str
    alarm: str
    words: tuple[str, ...]

    @property
    def last(self) -> int:
        """The row of the last line."""
        return self.first + len(self.lines) - 1

    @property
    def statuses(self) -> str:
        """The cells of the status of each line."""
        return f"{cell(STATUS, self.first)}:{cell(STATUS, self.last)}"

    def counted(self, say: Callable[[str], str]) -> One:
        """Return how many lines have another status, be it that of a formula that fails; without a style."""
        words = [say(word) for word in self.words]
        fine = "".join(f'-COUNTIF({self.statuses},"{word}")' for word in words)
        value = float(sum(line.cells[STATUS].value not in words for line in self.lines))
        return One(0, value, f"ROWS({self.statuses}){fine}")


def checks_page(plan: Plan, result: Result, layout: Layout, styles: Styles) -> Checks:
    """Return the page that compares the workbook with what was published, and what it says in short."""
    return _Writer(plan, result, layout, styles, partial(said, language=plan.language)).checks()


@dataclass(frozen=True, slots=True, eq=False)
class _Writer:
    plan: Plan
    result: Result
    layout: Layout
    styles: Styles
    say: Callable[[str], str]

    def checks(self) -> Checks:
        """Return the page and what it says in short."""
        sections = self.sections()
        totals = {_TOTALS + i: section.counted(self.say) for i, section in enumerate(reversed(sections))}
        verdict = self.verdict(sections, totals)
        widths = self.widths(sections)
        title = f"{self.plan.title} · {self.say('checks')}"
        bands = [
            row(1, {1: One(self.styles.number("title"), title)}, 22),
            row(
                _VERDICT,
                {1: One(self.styles.number("verdict", kind="text"), verdict.text, verdict.formula)},
                24,
            ),
            *self.totals(sections, totals),
            *(band for section in sections for band in self.lines(section, widths)),
        ]
        names = sections[-1]
        headers = tuple(self.say(word) for _, word in sorted(names.heads.items()))
        links = {
            (number, NAME): line.home.replace("$", "")
            for section in sections
            for number, line in enumerate(section.lines, section.first)
        }
        page = Page(
            CHECKS, tuple(bands), widths, links=links, rules=self.rules(sections, verdict),
            table=TableObject(f"{CHECKS}_rows", headers, names.first - 1, names.last),
            fold=names.first if names.first - 1 <= _FREEZE_WITHIN else 0,
            repeat=(names.first - 1, names.first - 1), width=STATUS,
        )  # fmt: skip
        return Checks(page, f"{CHECKS}!{cell(1, _VERDICT)}", verdict, self.claims(sections))

    def sections(self) -> list[_Section]:
        """Return the sections of the page: the order of rows, the claims, the names."""
        maker, found = Lines(self.say, self.styles), []
        orders, claims = row_orders(self.layout), self.plan.claims
        first = _TOTALS + 4 + bool(orders) + bool(claims)
        moved = {order.sheet: cell(DIFFER, first + i) for i, order in enumerate(orders)}
        if orders:
            lines = tuple(_Line(maker.order(first + i, each), each.home) for i, each in enumerate(orders))
            found.append(_Section(ORDER_HEADS, lines, first, "sheets moved", "some moved", ("same",)))
            first = found[-1].last + 3
        if claims:
            lines = tuple(self.claim(maker, first + i, each) for i, each in enumerate(claims))
            found.append(_Section(CLAIM_HEADS, lines, first, "claims that fail", "some fail", ("holds",)))
            first = found[-1].last + 3
        names = compared(self.plan, self.result, self.layout)
        lines = tuple(
            _Line(maker.name(first + i, each, moved.get(each.sheet, "")), each.home)
            for i, each in enumerate(names)
        )
        words = ("same", "not compared")
        return [*found, _Section(HEADS, lines, first, "lines that differ", "some differ", words)]

    def claim(self, maker: Lines, number: int, claim: PlannedClaim) -> _Line:
        """Return the line of a claim."""
        values = self.result.sheets[claim.sheet].values[claim.name]
        live = live_cells(claim.sheet, claim.name, self.layout)
        cells = maker.claim(number, claim, live, values)
        return _Line(cells, home_of(claim.sheet, claim.name, self.layout))

    def claims(self, sections: Sequence[_Section]) -> dict[tuple[str, str], tuple[str, str]]:
        """Return the cell and the text of the status of each claim, by sheet and name."""
        return {
            (claim.sheet, claim.name): (
                f"{CHECKS}!{cell(STATUS, section.first + i)}", str(section.lines[i].cells[STATUS].value)
            )
            for section in sections
            if section.heads is CLAIM_HEADS
            for i, claim in enumerate(self.plan.claims)
        }  # fmt: skip

    def verdict(self, sections: Sequence[_Section], totals: Mapping[int, One]) -> Verdict:
        """Return the sentence that says it all: what differs before what fails before what moved."""
        same = self.say("all same").format(count=f"{self.count(sections[-1]):,}")
        moved = self.say("some moved")
        text, formula = same, f'"{same}"'
        for section, (number, total) in zip(sections, reversed([*totals.items()]), strict=True):
            before, after = self.say(section.alarm), self.say("see checks")
            at, is_moved = cell(NAME, number), section.heads is ORDER_HEADS
            told = f'"{before}"' if is_moved else f'"{before}"&{at}&"{after}"'
            formula = f"IF({at}>0,{told},{formula})"
            if total.value:
                text = before if is_moved else f"{before}{total.value:g}{after}"
        return Verdict(text, formula, same, moved)

    def count(self, names: _Section) -> int:
        """Return how many values are compared."""
        return sum(int(float(str(line.cells[COUNT].value))) for line in names.lines)

    def totals(self, sections: Sequence[_Section], totals: Mapping[int, One]) -> Iterator[Band]:
        """Yield how many lines are an alarm, by section and in all."""
        label = self.styles.number("name")
        number = self.styles.number("total", "#,##0")
        for (at, total), section in zip(totals.items(), reversed(sections), strict=True):
            words = One(label, self.say(section.total))
            yield row(at, {SHEET: words, NAME: replace(total, style=number)})
        last = _TOTALS + len(sections)
        value = sum(float(str(total.value)) for total in totals.values())
        formula = "+".join(cell(NAME, at) for at in totals)
        yield row(last, {SHEET: One(label, self.say("red lines")), NAME: One(number, value, formula)})

    def lines(self, section: _Section, widths: Mapping[int, float]) -> Iterator[Band]:
        """Yield the heads and the lines of a section."""
        head = self.styles.number("check head")
        heads = {i: One(head, self.say(section.heads[i]) if i in section.heads else "") for i in HEADS}
        tall = height({str(each.value): widths[i] for i, each in heads.items()})
        yield row(section.first - 1, heads, tall + 3)
        for number, line in enumerate(section.lines, section.first):
            label = str(line.cells[LABEL].value) if LABEL in line.cells else ""
            yield row(number, line.cells, height({label: widths[LABEL]}))

    def widths(self, sections: Sequence[_Section]) -> dict[int, float]:
        """Return widths in which names, labels and every status can be read."""
        shown: dict[int, list[str]] = {i: [] for i in (SHEET, NAME, LABEL)}
        for line in (line for section in sections for line in section.lines):
            for i, texts in shown.items():
                texts.append(str(line.cells[i].value) if i in line.cells else "")
        shown[SHEET] += [self.say(word) for word in (*(each.total for each in sections), "red lines")]
        found = {SHEET: column_width(shown[SHEET], _NAME_WIDTH), NAME: column_width(shown[NAME], _NAME_WIDTH)}
        found[LABEL] = column_width(shown[LABEL], _LABEL_WIDTH)
        found |= dict.fromkeys((COUNT, ERRORS, DIFFER, LARGEST), _NUMBER_WIDTH)
        statuses = [self.say(word) for word in (*_GOOD, *_BAD, "not compared")]
        return found | {FIRST: _ID_WIDTH, STATUS: column_width(statuses)}

    def rules(self, sections: Sequence[_Section], verdict: Verdict) -> tuple[Rule, ...]:
        """Return how statuses, totals and the verdict look."""
        found = [*verdict.rules(f"A{_VERDICT}:{column_letters(STATUS)}{_VERDICT}", cell(1, _VERDICT))]
        for section in sections:
            at = cell(STATUS, str(section.first))
            for look, words in (("good", _GOOD), ("bad", _BAD), ("neutral", ("not compared",))):
                either = ",".join(f'{at}="{self.say(word)}"' for word in words)
                found.append(Rule(section.statuses.replace("$", ""), f"OR({either})", look))
        first, last = cell(NAME, str(_TOTALS)), cell(NAME, str(_TOTALS + len(sections)))
        area = f"{first}:{last}".replace("$", "")
        return (*found, Rule(area, f"{first}=0", "good"), Rule(area, f"{first}>0", "bad"))
