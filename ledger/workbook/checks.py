"""`Checks`: what differs from what was published, by name; what of the claims holds; which rows moved.

Spreadsheets do not agree on every function over a range.  LibreOffice counts errors as texts by
COUNTIF(L,"*"), IronCalc answers ABS, EXACT, ISERROR, ISNUMBER and NOT of the first cell alone and finds
nothing with MATCH in an array of one element: none of these stands here over a range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from ledger.display.words import said
from ledger.plan.plan import ID, Plan, PlannedClaim, PrintedText
from ledger.workbook.layout import Layout, RegionLayout, cell, sheet_reference, span, table_values
from ledger.workbook.pages import ConditionalFormat, One, Page, SheetTable, column_width, height, row
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.places import CHECKS, PUBLISHED, VALUE, Places
from ledger.xlsx.record import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ledger.evaluate.evaluate import Result
    from ledger.values import Values
    from ledger.workbook.styles import Content, Styles
    from ledger.xlsx.sheetdata import Band


ValueKind = Literal["number", "truth", "text"]
#: What stands where there is no row to name.
NONE = "—"
_ERROR_TEXTS = ("#DIV/0!", "#N/A", "#VALUE!", "#NUM!", "#REF!", "#NAME?")
_ERRORS_OF_ONE: Mapping[ValueKind, str] = {"number": "ISNUMBER", "truth": "ISLOGICAL"}


@dataclass(frozen=True, slots=True)
class Compared:
    """A name of a worksheet: where it stands, its live values, what was published of them.

    `marks` are cells that are 1 where the two differ, empty if formulas over the whole range do.  `ids` is
    empty for a name that does not vary by row.  `errors` is how many errors were published.
    """

    sheet: str
    name: str
    label: str
    home: str
    kind: ValueKind
    live: str
    was: str
    marks: str
    ids: str
    count: int
    errors: int

    def error_cells(self) -> str:
        """Return the formula that counts the cells that hold no value of the name's kind."""
        live = self.live
        if not self.ids:
            is_value = _ERRORS_OF_ONE.get(self.kind)
            return f"IF({is_value}({live}),0,1)" if is_value else f"IF(ISERROR({live}),1,0)"
        if self.kind == "number":
            return f"ROWS({live})-COUNT({live})"
        if self.kind == "truth":
            return f"ROWS({live})-COUNTIF({live},TRUE)-COUNTIF({live},FALSE)"
        named = "+".join(f'COUNTIF({live},"{error}")' for error in _ERROR_TEXTS)
        # LibreOffice has errors of other names.
        return named if self.marks else f"IF(ISERROR({self._count()}),MAX(1,{named}),0)"

    def differing(self, moved: str, errors: str, told: str) -> str:
        """Return the formula that counts the rows that differ; `told` stands there if there are errors."""
        if not self.ids:
            return self.marks
        count = f"SUM({self.marks})" if self.marks else f'IF({errors}>0,"{told}",{self._count()})'
        return f'IF({moved}>0,"",{count})'

    def largest(self, errors: str, differing: str) -> str:
        """Return the formula of the largest relative difference, empty where errors forbid one."""
        live, was = self.live, self.was
        if self.kind != "number" or self.errors or (self.marks and self.ids):
            return ""
        if not self.ids:
            far = f"(({live}-{was})^2/({was}*{was}+IF({was}=0,1,0)))^0.5"
            return f'IF({errors}>0,"",IF({differing}>0,{far},0))'
        far = f"SUMPRODUCT(MAX(({live}-{was})^2/({was}*{was}+({was}=0))))^0.5"
        return f'IF(ISNUMBER({differing}),IF({differing}>0,{far},0),"")'

    def first(self, differing: str) -> str:
        """Return the formula of the id of the first row that differs."""
        if not self.ids:
            return ""
        found = f'IF({differing}>0,INDEX({self.ids},{self._first()}),"{NONE}")'
        return f'IF(ISNUMBER({differing}),{found},"{NONE}")'

    def _first(self) -> str:
        if self.count == 1:
            return "1"
        return f"MATCH(1,{self.marks or f'INDEX(1*({self._unequal()}),0)'},0)"

    def _count(self) -> str:
        return f"SUMPRODUCT(1*({self._unequal()}))"

    def _unequal(self) -> str:
        live, was = self.live, self.was
        if self.kind == "text":
            return f"{live}<>{was}"
        return f"({live}-{was})*({live}-{was})>1E-24*{was}*{was}"


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The ids of a worksheet's rows, live and as published."""

    sheet: str
    name: str
    home: str
    ids: str
    was: str
    count: int

    def moved(self) -> str:
        """Return the formula that counts the ids that stand elsewhere, or the rows that came or went."""
        more = f"ABS(ROWS({self.ids})-{self.count})"
        return f"IF({self._is_whole()},SUMPRODUCT(1*({self.ids}<>{self.was})),{more})"

    def first(self, moved: str) -> str:
        """Return the formula of the first id that stands elsewhere."""
        found = f"MATCH(1,INDEX(1*({self.ids}<>{self.was}),0),0)" if self.count > 1 else "1"
        first = f'IF({self._is_whole()},INDEX({self.ids},{found}),"{NONE}")'
        return f'IF({moved}>0,{first},"{NONE}")'

    def status(self, moved: str, same: str, elsewhere: str, other: str) -> str:
        """Return the formula that chooses what is said: all the same, rows elsewhere, other rows."""
        return f'IF({moved}=0,"{same}",IF({self._is_whole()},"{elsewhere}","{other}"))'

    def _is_whole(self) -> str:
        """Return the condition that there are as many rows as were published."""
        return f"ROWS({self.ids})={self.count}"


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a worksheet: the columns of its names, and its first row; the first name is the id."""

    region: RegionLayout
    columns: Mapping[str, int]
    first: int

    def home(self, name: str) -> str:
        """Return the header of a name."""
        return f"{sheet_reference(self.region.sheet)}!{cell(self.columns[name], self.first - 1)}"

    def live(self, name: str) -> str:
        """Return the live values of a name."""
        return span(self.region.sheet, self.columns[name], self.first, self.first + self.region.count - 1)

    def was(self, column: int) -> str:
        """Return a column of what was published."""
        return span(PUBLISHED, column, self.region.first, self.region.last)

    def order(self) -> RowOrder:
        """Return the order of the rows."""
        name = self.region.names[0]
        was = self.was(self.region.column(name))
        return RowOrder(self.region.sheet, name, self.home(name), self.live(name), was, self.region.count)

    def compared(self, name: str, label: str, values: Values) -> Compared:
        """Return a name as it is compared."""
        region = self.region
        marks = self.was(region.mark(name)) if name in region.marked else ""
        return Compared(
            region.sheet, name, label, self.home(name), _kind(values), self.live(name),
            self.was(region.column(name)), marks, self.live(region.names[0]), region.count, _errors(values),
        )  # fmt: skip


def row_orders(layout: Layout) -> tuple[RowOrder, ...]:
    """Return the order of the rows of every worksheet that has some."""
    places = layout.places()
    return tuple(_rows(region, places).order() for region in layout.regions if region.kind != BLOCK)


def compared(plan: Plan, result: Result, layout: Layout) -> tuple[Compared, ...]:
    """Return every name that is compared: all but ids, texts that are printed only, and claims."""
    places, claims = layout.places(), {(claim.sheet, claim.name) for claim in plan.claims}
    found = []
    for region in layout.regions:
        labels, rows = _labels(region, plan), _rows(region, places)
        for name, values in _values(region, plan, result).items():
            label = labels.get(name, "")
            if (region.sheet, name) in claims:
                continue
            if region.kind == BLOCK:
                found.append(_of_block(region, name, label, values, layout))
            else:
                found.append(rows.compared(name, label, values))
    return tuple(found)


def live_cells(sheet: str, name: str, layout: Layout) -> str:
    """Return the range of a name on a ledger sheet, of one cell if it does not vary."""
    on = layout.sheets[sheet]
    if name in on.block:
        return span(sheet, VALUE, on.block[name], on.block[name])
    return span(sheet, on.columns[name], on.first, on.last)


def home_of(sheet: str, name: str, layout: Layout) -> str:
    """Return the cell that a name of a ledger sheet is found by: its value in the block, or its header."""
    on = layout.sheets[sheet]
    place = (VALUE, on.block[name]) if name in on.block else (on.columns[name], on.header)
    return f"{sheet_reference(sheet)}!{cell(*place)}"


def _rows(region: RegionLayout, places: Mapping[str, Places]) -> _Rows:
    on = places[region.sheet]
    return _Rows(region, {name: column for column, name in on.columns.items()}, on.first)


def _of_block(region: RegionLayout, name: str, label: str, values: Values, layout: Layout) -> Compared:
    home = home_of(region.sheet, name, layout)
    was, marks = (
        f"{PUBLISHED}!{cell(column, region.first)}" for column in (region.column(name), region.mark(name))
    )
    errors = _errors(values)
    return Compared(region.sheet, name, label, home, _kind(values), home, was, marks, "", 1, errors)


def _kind(values: Values) -> ValueKind:
    if values.data.dtype == object:
        return "text"
    return "truth" if values.data.dtype == np.bool_ else "number"


def _errors(values: Values) -> int:
    return 0 if values.errors is None else int(np.count_nonzero(values.errors))


def _values(region: RegionLayout, plan: Plan, result: Result) -> dict[str, Values]:
    """Return the values of the names of a region that are compared."""
    if region.sheet in plan.sheets:
        nodes, known = plan.sheets[region.sheet].nodes, result.sheets[region.sheet].values
        names = [name for name in region.names if name != ID and not isinstance(nodes[name].how, PrintedText)]
        return {name: known[name] for name in names}
    told = table_values(result.tables[region.sheet])
    return {name: told[name] for name in region.names[1:]}


def _labels(region: RegionLayout, plan: Plan) -> dict[str, str]:
    """Return what the names of a region mean, of those that say it."""
    if region.sheet in plan.sheets:
        nodes = tuple(plan.sheets[region.sheet].nodes.values())
    else:
        nodes = plan.tables[region.sheet].fields
    return {node.name: node.label for node in nodes if node.label != node.name}


SHEET, NAME, LABEL, COUNT, ERRORS, DIFFER, LARGEST, FIRST, STATUS = range(1, 10)
#: The words above the columns; of a claim and of the order of rows some are others.
HEADS: Mapping[int, str] = {
    SHEET: "sheet", NAME: "name", LABEL: "label", COUNT: "rows", ERRORS: "error cells",
    DIFFER: "rows that differ", LARGEST: "largest difference", FIRST: "first row", STATUS: "status",
}  # fmt: skip
ORDER_HEADS: Mapping[int, str] = {
    SHEET: "sheet", NAME: "id", LABEL: "label", COUNT: "rows", DIFFER: "rows moved", FIRST: "first row",
    STATUS: "status",
}  # fmt: skip
CLAIM_HEADS: Mapping[int, str] = {
    SHEET: "sheet", NAME: "name", LABEL: "claim", COUNT: "rows where", ERRORS: "error cells",
    DIFFER: "rows where not", LARGEST: "rows not meant", STATUS: "status",
}  # fmt: skip
_WHOLE, _RELATIVE = "#,##0", "0.00%;-0.00%;0"


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """What lines are written with: the words of the language, the styles."""

    say: Callable[[str], str]
    styles: Styles

    def order(self, number: int, order: RowOrder) -> dict[int, One]:
        """Return the line that tells whether the rows of a worksheet stand where they stood."""
        moved = _own(DIFFER, number)
        status = order.status(moved, *(self.say(word) for word in ("same", "moved", "added")))
        return {
            **self._told(order.sheet, order.name, self.say("order of rows")),
            COUNT: self._number(order.count),
            DIFFER: self._number(0, order.moved()),
            FIRST: self._text(NONE, order.first(moved)),
            STATUS: One(self.styles.number("status", kind="text"), self.say("same"), status),
        }

    def claim(self, number: int, claim: PlannedClaim, live: str, values: Values) -> dict[int, One]:
        """Return the line that counts where a claim holds, fails and is not meant."""
        errors = 0 if values.errors is None else sum(values.errors.astype(bool).tolist())
        known = values.data.tolist() if values.errors is None else values.data[values.errors == 0].tolist()
        holds, fails = known.count(1), known.count(0)
        bad, failing = _own(ERRORS, number), _own(DIFFER, number)
        failed = self._choice(f"{failing}=0", "holds", f'"{self.say("fails")}"')
        word = "errors" if errors else "fails" if fails else "holds"
        counts = _counts_of_one(live.partition(":")[0]) if len(values) == 1 else _counts(live)
        return {
            **self._told(claim.sheet, claim.name, claim.sentence),
            COUNT: self._number(holds, counts[0]),
            ERRORS: self._number(errors, counts[1]),
            DIFFER: self._number(fails, counts[2]),
            LARGEST: self._number(len(known) - holds - fails, counts[3]),
            STATUS: One(
                self.styles.number("status", kind="text"),
                self.say(word),
                f'IF({bad}>0,"{self.say("errors")}",{failed})',
            ),
        }

    def name(self, number: int, name: Compared, moved: str) -> dict[int, One]:
        """Return the line that tells whether a name is as published; `moved` counts the rows that moved."""
        bad, differing = _own(ERRORS, number), _own(DIFFER, number)
        cells = {
            **self._told(name.sheet, name.name, name.label),
            COUNT: self._number(name.count),
            ERRORS: self._number(name.errors, name.error_cells()),
            DIFFER: self._number(0, name.differing(moved, bad, self.say("errors"))),
            STATUS: One(
                self.styles.number("status", kind="text"),
                self.say("same"),
                self._status(name, moved, bad, differing),
            ),
        }
        if largest := name.largest(bad, differing):
            cells[LARGEST] = One(self.styles.number("line value", _RELATIVE), 0.0, largest)
        if first := name.first(differing):
            cells[FIRST] = self._text(NONE, first)
        return cells

    def _status(self, name: Compared, moved: str, bad: str, differing: str) -> str:
        errors, differs = (f'"{self.say(word)}"' for word in ("errors", "differs"))
        status = self._choice(f"{differing}=0", "same", f"IF({bad}>{name.errors},{errors},{differs})")
        if not name.ids:
            return status
        return f'IF({moved}>0,"{self.say("not compared")}",IF(ISNUMBER({differing}),{status},{errors}))'

    def _choice(self, condition: str, word: str, otherwise: str) -> str:
        return f'IF({condition},"{self.say(word)}",{otherwise})'

    def _told(self, sheet: str, name: str, label: str) -> dict[int, One]:
        looks: dict[int, tuple[str, str, Content]] = {
            SHEET: ("line text", sheet, "typed"),
            NAME: ("line name", name, "typed"),
            LABEL: ("line text", label, "long"),
        }  # fmt: skip
        return {
            i: One(self.styles.number(look, kind=kind), text)
            for i, (look, text, kind) in looks.items()
            if text
        }

    def _number(self, value: int, formula: str | None = None) -> One:
        return One(self.styles.number("line value", _WHOLE), float(value), formula)

    def _text(self, value: str, formula: str) -> One:
        return One(self.styles.number("line value", kind="text"), value, formula)


def _counts(live: str) -> tuple[str, str, str, str]:
    """Return the formulas that count where a claim holds, has an error, fails, is not meant."""
    errors = f"ROWS({live})-COUNT({live})-COUNTBLANK({live})"
    return f"COUNTIF({live},1)", errors, f"COUNTIF({live},0)", f"COUNTBLANK({live})"


def _counts_of_one(live: str) -> tuple[str, str, str, str]:
    """Return the same of one cell: Gnumeric saves its range as a cell, which IronCalc does not count."""
    holds, fails = (f"IF(ISNUMBER({live}),IF({live}={value},1,0),0)" for value in (1, 0))
    meant_not = f"IF(ISERROR({live}),0,IF(LEN({live})=0,1,0))"
    errors = f"IF(ISNUMBER({live}),0,IF(ISERROR({live}),1,IF(LEN({live})=0,0,1)))"
    return holds, errors, fails, meant_not


def _own(column: int, number: int) -> str:
    """Return a cell of the own row, which goes with the line where the lines are sorted."""
    return cell(column, str(number))


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

    def rules(self, area: str, address: str) -> tuple[ConditionalFormat, ...]:
        """Return how cells look by the sentence that stands in one of them."""
        return (
            ConditionalFormat(area, f'{address}="{self.same}"', "good"),
            ConditionalFormat(area, f'{address}="{self.moved}"', "neutral"),
            ConditionalFormat(area, f"LEN({address})>0", "bad"),
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
    return _ChecksWriter(plan, result, layout, styles, partial(said, language=plan.language)).checks()


@dataclass(frozen=True, slots=True, eq=False)
class _ChecksWriter:
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
            table=SheetTable(f"{CHECKS}_rows", headers, names.first - 1, names.last),
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

    def rules(self, sections: Sequence[_Section], verdict: Verdict) -> tuple[ConditionalFormat, ...]:
        """Return how statuses, totals and the verdict look."""
        found = [*verdict.rules(f"A{_VERDICT}:{column_letters(STATUS)}{_VERDICT}", cell(1, _VERDICT))]
        for section in sections:
            at = cell(STATUS, str(section.first))
            for look, words in (("good", _GOOD), ("bad", _BAD), ("neutral", ("not compared",))):
                either = ",".join(f'{at}="{self.say(word)}"' for word in words)
                found.append(ConditionalFormat(section.statuses.replace("$", ""), f"OR({either})", look))
        first, last = cell(NAME, str(_TOTALS)), cell(NAME, str(_TOTALS + len(sections)))
        area = f"{first}:{last}".replace("$", "")
        return (
            *found,
            ConditionalFormat(area, f"{first}=0", "good"),
            ConditionalFormat(area, f"{first}>0", "bad"),
        )
