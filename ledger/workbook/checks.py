"""`Checks`: which names differ from the published values, which claims hold, which rows moved.

Spreadsheets do not agree on every function over a range.  LibreOffice counts errors as texts by
COUNTIF(L,"*"), IronCalc answers ABS, EXACT, ISERROR, ISNUMBER and NOT of the first cell alone and finds
nothing with MATCH in an array of one element: none of these is used here over a range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from ledger.display.words import said
from ledger.evaluate.claims import counted_rows
from ledger.plan.plan import ID, Plan, PlannedClaim, PrintedText
from ledger.workbook.layout import Layout, RegionLayout, cell, table_values
from ledger.workbook.pages import ConditionalFormat, Page, SheetTable, StyledCell, column_width, height, row
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.places import CHECKS
from ledger.xlsx.record import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ledger.evaluate.evaluate import Result
    from ledger.values import Values
    from ledger.workbook.styles import Content, Styles
    from ledger.xlsx.sheetdata import Band

    # What writes the cells of a line into a row.
    LineWriter = Callable[[int], dict[int, StyledCell]]


ValueKind = Literal["number", "truth", "text"]
#: The text of a cell that would name a row where there is none to name.
NONE = "—"
_ERROR_TEXTS = ("#DIV/0!", "#N/A", "#VALUE!", "#NUM!", "#REF!", "#NAME?")
_ERRORS_OF_ONE: Mapping[ValueKind, str] = {"number": "ISNUMBER", "truth": "ISLOGICAL"}


@dataclass(frozen=True, slots=True)
class Compared:
    """A name of a worksheet: the references to its live values and to the published ones.

    `marks` are cells that are 1 where the two differ, empty if formulas over the whole range do.  `ids` is
    empty for a name that does not vary by row.  `errors` is how many errors were published.
    """

    region: RegionLayout
    name: str
    label: str
    kind: ValueKind
    live: str
    was: str
    marks: str
    ids: str
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
        return named if self.marks else f"IF(ISERROR(SUMPRODUCT(1*({self._unequal()}))),MAX(1,{named}),0)"

    def differing(self, moved: str, errors: str, word: str) -> str:
        """Return the formula that counts the rows that differ; it gives `word` if there are errors."""
        if not self.ids:
            return self.marks
        each = f'IF({errors}>0,"{word}",SUMPRODUCT(1*({self._unequal()})))'
        return f'IF({moved}>0,"",{f"SUM({self.marks})" if self.marks else each})'

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
        unequal = self.marks or f"INDEX(1*({self._unequal()}),0)"
        number = "1" if self.region.count == 1 else f"MATCH(1,{unequal},0)"
        found = f'IF({differing}>0,INDEX({self.ids},{number}),"{NONE}")'
        return f'IF(ISNUMBER({differing}),{found},"{NONE}")'

    def _unequal(self) -> str:
        """Return the condition, over the whole range, that a live value is not the published one."""
        live, was = self.live, self.was
        if self.kind == "text":
            return f"{live}<>{was}"
        return f"({live}-{was})*({live}-{was})>1E-24*{was}*{was}"


def compared(plan: Plan, result: Result, layout: Layout) -> Iterator[Compared]:
    """Yield every name that is compared: all but ids, texts that are printed only, and claims."""
    claims = {(claim.sheet, claim.name) for claim in plan.claims}
    for region in layout.regions:
        labels = _labels(region, plan)
        for name, values in _values(region, plan, result).items():
            if (region.sheet, name) not in claims:
                kinds: dict[str, ValueKind] = {"O": "text", "b": "truth"}
                marks = region.published(region.mark(name)) if name in region.marked else ""
                ids = "" if region.kind == BLOCK else region.cells(region.names[0])
                yield Compared(
                    region, name, labels.get(name, ""), kinds.get(values.data.dtype.kind, "number"),
                    region.cells(name), region.published(region.column(name)), marks, ids, _errors(values),
                )  # fmt: skip


def _errors(values: Values) -> int:
    return 0 if values.errors is None else int(np.count_nonzero(values.errors))


def _values(region: RegionLayout, plan: Plan, result: Result) -> dict[str, Values]:
    """Return the values of the names of a region that are compared."""
    if region.sheet in plan.sheets:
        nodes, known = plan.sheets[region.sheet].nodes, result.sheets[region.sheet].values
        names = [name for name in region.names if name != ID and not isinstance(nodes[name].how, PrintedText)]
        return {name: known[name] for name in names}
    fields = table_values(result.tables[region.sheet])
    return {name: fields[name] for name in region.names[1:]}


def _labels(region: RegionLayout, plan: Plan) -> dict[str, str]:
    """Return the label of each name of a region that has one of its own."""
    is_ledger = region.sheet in plan.sheets
    nodes = plan.sheets[region.sheet].nodes.values() if is_ledger else plan.tables[region.sheet].fields
    return {node.name: node.label for node in nodes if node.label != node.name}


SHEET, NAME, LABEL, COUNT, ERRORS, DIFFER, LARGEST, FIRST, STATUS = range(1, 10)


@dataclass(frozen=True, slots=True)
class _Topic:
    """A kind of lines: the words above its columns; all is well where the status is one of `words`.

    `total` is the word for the number of the other lines, `alarm` the beginning of the verdict on them.
    """

    heads: Mapping[int, str]
    total: str
    alarm: str
    words: tuple[str, ...]


_ORDER = _Topic(
    {
        SHEET: "sheet", NAME: "id", LABEL: "label", COUNT: "rows", DIFFER: "rows moved", FIRST: "first row",
        STATUS: "status",
    },
    "sheets moved", "some moved", ("same",),
)  # fmt: skip
_CLAIMS = _Topic(
    {
        SHEET: "sheet", NAME: "name", LABEL: "claim", COUNT: "rows where", ERRORS: "error cells",
        DIFFER: "rows where not", LARGEST: "rows not meant", STATUS: "status",
    },
    "claims that fail", "some fail", ("holds", "as known"),
)  # fmt: skip
_NAMES = _Topic(
    {
        SHEET: "sheet", NAME: "name", LABEL: "label", COUNT: "rows", ERRORS: "error cells",
        DIFFER: "rows that differ", LARGEST: "largest difference", FIRST: "first row", STATUS: "status",
    },
    "lines that differ", "some differ", ("same", "not compared"),
)  # fmt: skip
_WHOLE, _RELATIVE = "#,##0", "0.00%;-0.00%;0"
_VERDICT, _TOTALS = 3, 5
_FREEZE_WITHIN = 16
_LABEL_WIDTH, _NUMBER_WIDTH, _ID_WIDTH, _NAME_WIDTH = 46.0, 14.0, 24.0, 34.0
#: The statuses of each conditional style.
_STATUS_STYLES = {
    "good": ("same", "holds"),
    "bad": ("differs", "errors", "moved", "added", "fails"),
    "neutral": ("not compared", "as known"),
}


@dataclass(frozen=True, slots=True)
class _Section:
    """The lines of a topic from row `first` on: the cells of each, and the cell that its name links to."""

    topic: _Topic
    lines: tuple[tuple[Mapping[int, StyledCell], str], ...]
    first: int

    @property
    def last(self) -> int:
        """The row of the last line."""
        return self.first + len(self.lines) - 1

    @property
    def statuses(self) -> str:
        """The cells of the status of each line."""
        return f"{cell(STATUS, self.first)}:{cell(STATUS, self.last)}"

    def alarms(self, say: Callable[[str], str]) -> tuple[float, str]:
        """Return how many lines have another status, be it of a formula that fails, and the formula of it."""
        words = [say(word) for word in self.topic.words]
        fine = "".join(f'-COUNTIF({self.statuses},"{word}")' for word in words)
        count = sum(cells[STATUS].value not in words for cells, _ in self.lines)
        return float(count), f"ROWS({self.statuses}){fine}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of all checks in one sentence: its text now, its formula, and two that are no alarm."""

    text: str
    formula: str
    same: str
    moved: str

    def rules(self, area: str, address: str) -> tuple[ConditionalFormat, ...]:
        """Return the conditional formats of an area by the sentence in the cell `address`."""
        return (
            ConditionalFormat(area, f'{address}="{self.same}"', "good"),
            ConditionalFormat(area, f'{address}="{self.moved}"', "neutral"),
            ConditionalFormat(area, f"LEN({address})>0", "bad"),
        )


@dataclass(frozen=True, slots=True)
class Checks:
    """The page, the cell of its verdict, the verdict, and the cell and the text of each claim's status."""

    page: Page
    cell: str
    verdict: Verdict
    claims: Mapping[tuple[str, str], tuple[str, str]]


def checks_page(plan: Plan, result: Result, layout: Layout, styles: Styles) -> Checks:
    """Return the page that compares the workbook with its record, and the verdict on it."""
    return _ChecksWriter(plan, result, layout, styles, partial(said, language=plan.language)).checks()


@dataclass(frozen=True, slots=True, eq=False)
class _ChecksWriter:
    """Writes the page: totals and verdict, then a section of lines for each topic."""

    plan: Plan
    result: Result
    layout: Layout
    styles: Styles
    say: Callable[[str], str]

    def checks(self) -> Checks:
        """Return the page with its verdict."""
        sections = self.sections()
        totals = [section.alarms(self.say) for section in sections]
        verdict = self.verdict(sections, totals)
        widths = self.widths(sections)
        title = StyledCell(self.styles.number("title"), f"{self.plan.title} · {self.say('checks')}")
        words = StyledCell(self.styles.number("verdict", kind="text"), verdict.text, verdict.formula)
        bands = [row(1, {1: title}, 22), row(_VERDICT, {1: words}, 24), *self.totals(sections, totals)]
        bands += [band for section in sections for band in self.lines(section, widths)]
        lines = [each for section in sections for each in enumerate(section.lines, section.first)]
        page = Page(
            CHECKS, tuple(bands), widths,
            links={(number, NAME): home.replace("$", "") for number, (_, home) in lines},
            rules=self.rules(sections, verdict), width=STATUS,
        )  # fmt: skip
        # A report of ids alone has no name to compare.
        for section in sections:
            if section.topic is _NAMES:
                page = self.with_table(page, section)
        claims = {
            (claim.sheet, claim.name): (f"{CHECKS}!{cell(STATUS, number)}", str(cells[STATUS].value))
            for section in sections
            if section.topic is _CLAIMS
            for claim, (number, (cells, _)) in zip(
                self.plan.claims, enumerate(section.lines, section.first), strict=True
            )
        }
        return Checks(page, f"{CHECKS}!{cell(1, _VERDICT)}", verdict, claims)

    def with_table(self, page: Page, names: _Section) -> Page:
        """Return the page with the lines of the names as a table, its heads on each printed page."""
        header = names.first - 1
        headers = tuple(self.say(word) for _, word in sorted(names.topic.heads.items()))
        table = SheetTable(f"{CHECKS}_rows", headers, header, names.last)
        fold = names.first if header <= _FREEZE_WITHIN else 0
        return replace(page, table=table, fold=fold, repeat=(header, header))

    def sections(self) -> list[_Section]:
        """Return the sections of the page that have lines: the order of rows, the claims, the names."""
        orders = [region for region in self.layout.regions if region.kind != BLOCK]
        claims = [(claim, self.layout.region(claim.sheet, claim.name)) for claim in self.plan.claims]
        first = _TOTALS + 4 + bool(orders) + bool(claims)
        moved = {region.sheet: cell(DIFFER, first + i) for i, region in enumerate(orders)}
        topics: tuple[tuple[_Topic, list[tuple[LineWriter, str]]], ...] = (
            (_ORDER, [(partial(self.order, each), each.home(each.names[0])) for each in orders]),
            (_CLAIMS, [(partial(self.claim, claim, on), on.home(claim.name)) for claim, on in claims]),
            (_NAMES, [
                (partial(self.name, each, moved.get(each.region.sheet, "")), each.region.home(each.name))
                for each in compared(self.plan, self.result, self.layout)
            ]),
        )  # fmt: skip
        found: list[_Section] = []
        for topic, lines in topics:
            if lines:
                written = tuple((write(number), home) for number, (write, home) in enumerate(lines, first))
                found.append(_Section(topic, written, first))
                first = found[-1].last + 3
        return found

    def order(self, region: RegionLayout, number: int) -> dict[int, StyledCell]:
        """Return the line that compares the order of the rows of a worksheet, by their ids, with the record.

        It counts the ids that are elsewhere, or the rows that came or went.
        """
        name, moved = region.names[0], _own(DIFFER, number)
        ids, was = region.cells(name), region.published(1)
        is_whole, differ = f"ROWS({ids})={region.count}", f"1*({ids}<>{was})"
        count = f"IF({is_whole},SUMPRODUCT({differ}),ABS(ROWS({ids})-{region.count}))"
        found = f"MATCH(1,INDEX({differ},0),0)" if region.count > 1 else "1"
        first = f'IF({is_whole},INDEX({ids},{found}),"{NONE}")'
        same, elsewhere, other = (self.say(word) for word in ("same", "moved", "added"))
        status = f'IF({moved}=0,"{same}",IF({is_whole},"{elsewhere}","{other}"))'
        return {
            **self._names(region.sheet, name, self.say("order of rows")),
            COUNT: self._number(region.count),
            DIFFER: self._number(0, count),
            FIRST: self._text(NONE, f'IF({moved}>0,{first},"{NONE}")'),
            STATUS: self._status("same", status),
        }

    def claim(self, claim: PlannedClaim, region: RegionLayout, number: int) -> dict[int, StyledCell]:
        """Return the line that counts where a claim holds, fails and is not meant."""
        values = self.result.sheets[claim.sheet].values[claim.name]
        live, errors = region.cells(claim.name), _errors(values)
        known = values.data.tolist() if values.errors is None else values.data[values.errors == 0].tolist()
        holds, fails = known.count(1), known.count(0)
        bad, failing = _own(ERRORS, number), _own(DIFFER, number)
        word, failed = self._failing(claim, region, fails, failing)
        word = "errors" if errors else word
        counts = _counts_of_one(live.partition(":")[0]) if len(values) == 1 else _counts(live)
        return {
            **self._names(claim.sheet, claim.name, claim.sentence),
            COUNT: self._number(holds, counts[0]),
            ERRORS: self._number(errors, counts[1]),
            DIFFER: self._number(fails, counts[2]),
            LARGEST: self._number(len(known) - holds - fails, counts[3]),
            STATUS: self._status(word, f'IF({bad}>0,"{self.say("errors")}",{failed})'),
        }

    def _failing(
        self, claim: PlannedClaim, region: RegionLayout, fails: int, failing: str
    ) -> tuple[str, str]:
        """Return the status of a claim without errors, and its formula: `failing` is the cell that counts.

        Where it is known to fail, exactly those rows must.
        """
        live = region.cells(claim.name)
        known = [each.row for each in counted_rows(self.plan, self.result, claim).known]
        holds, wrong, as_known = (f'"{self.say(word)}"' for word in ("holds", "fails", "as known"))
        if not known:
            return "fails" if fails else "holds", f"IF({failing}=0,{holds},{wrong})"
        quoted = [row.replace('"', '""') for row in known]
        rows = [f'INDEX({live},MATCH("{row}",{region.cells(region.names[0])},0))' for row in quoted]
        cells = live if region.kind == BLOCK else ",".join(rows)
        same = f"IF(COUNT({cells})={len(known)},IF(SUM({cells})=0,{as_known},{wrong}),{wrong})"
        word = "as known" if fails == len(known) else "fails"
        return word, f"IF({failing}={len(known)},{same},{wrong})"

    def name(self, name: Compared, moved: str, number: int) -> dict[int, StyledCell]:
        """Return the line that compares a name with the record; `moved` is the cell counting moved rows."""
        bad, differing = _own(ERRORS, number), _own(DIFFER, number)
        same, errors, differs, other = (
            f'"{self.say(word)}"' for word in ("same", "errors", "differs", "not compared")
        )
        status = f"IF({differing}=0,{same},IF({bad}>{name.errors},{errors},{differs}))"
        if name.ids:
            status = f"IF({moved}>0,{other},IF(ISNUMBER({differing}),{status},{errors}))"
        cells = {
            **self._names(name.region.sheet, name.name, name.label),
            COUNT: self._number(name.region.count),
            ERRORS: self._number(name.errors, name.error_cells()),
            DIFFER: self._number(0, name.differing(moved, bad, self.say("errors"))),
            STATUS: self._status("same", status),
        }
        if largest := name.largest(bad, differing):
            cells[LARGEST] = StyledCell(self.styles.number("line value", _RELATIVE), 0.0, largest)
        if first := name.first(differing):
            cells[FIRST] = self._text(NONE, first)
        return cells

    def _names(self, sheet: str, name: str, label: str) -> dict[int, StyledCell]:
        """Return the first three cells of a line; an empty one has no style."""
        styles: dict[int, tuple[str, str, Content]] = {
            SHEET: ("line text", sheet, "typed"),
            NAME: ("line name", name, "typed"),
            LABEL: ("line text", label, "long"),
        }  # fmt: skip
        number = self.styles.number
        return {
            i: StyledCell(number(style, kind=kind), text) for i, (style, text, kind) in styles.items() if text
        }

    def _number(self, value: int, formula: str | None = None) -> StyledCell:
        return StyledCell(self.styles.number("line value", _WHOLE), float(value), formula)

    def _text(self, value: str, formula: str) -> StyledCell:
        return StyledCell(self.styles.number("line value", kind="text"), value, formula)

    def _status(self, word: str, formula: str) -> StyledCell:
        return StyledCell(self.styles.number("status", kind="text"), self.say(word), formula)

    def verdict(self, sections: Sequence[_Section], totals: Sequence[tuple[float, str]]) -> Verdict:
        """Return the verdict: what differs comes before what fails, and that before what moved."""
        lines = [cells for section in sections[-1:] for cells, _ in section.lines]
        count = sum(int(float(str(cells[COUNT].value))) for cells in lines)
        same, moved = self.say("all same").format(count=f"{count:,}"), self.say("some moved")
        text, formula = same, f'"{same}"'
        last = _TOTALS + len(sections) - 1
        for i, (section, (total, _)) in enumerate(zip(sections, totals, strict=True)):
            before, after, at = self.say(section.topic.alarm), self.say("see checks"), cell(NAME, last - i)
            is_order = section.topic is _ORDER
            alarm = f'"{before}"' if is_order else f'"{before}"&{at}&"{after}"'
            formula = f"IF({at}>0,{alarm},{formula})"
            if total:
                text = before if is_order else f"{before}{total:g}{after}"
        return Verdict(text, formula, same, moved)

    def totals(self, sections: Sequence[_Section], totals: Sequence[tuple[float, str]]) -> Iterator[Band]:
        """Yield how many lines are an alarm, by section from the last to the first, and in all."""
        label, number = self.styles.number("name"), self.styles.number("total", "#,##0")
        last = _TOTALS + len(sections)
        words = [*(section.topic.total for section in reversed(sections)), "red lines"]
        every = "+".join(cell(NAME, at) for at in range(_TOTALS, last)) or "0"
        counts = [*reversed(totals), (sum(value for value, _ in totals), every)]
        for at, (word, count) in enumerate(zip(words, counts, strict=True), _TOTALS):
            yield row(at, {SHEET: StyledCell(label, self.say(word)), NAME: StyledCell(number, *count)})

    def lines(self, section: _Section, widths: Mapping[int, float]) -> Iterator[Band]:
        """Yield the heads and the lines of a section."""
        head, words = self.styles.number("check head"), section.topic.heads
        heads = {i: StyledCell(head, self.say(words[i]) if i in words else "") for i in _NAMES.heads}
        tall = height({str(each.value): widths[i] for i, each in heads.items()})
        yield row(section.first - 1, heads, tall + 3)
        for number, (cells, _) in enumerate(section.lines, section.first):
            label = str(cells[LABEL].value) if LABEL in cells else ""
            yield row(number, cells, height({label: widths[LABEL]}))

    def widths(self, sections: Sequence[_Section]) -> dict[int, float]:
        """Return widths in which names, labels and every status can be read."""
        lines = [cells for section in sections for cells, _ in section.lines]
        texts = {
            i: [str(cells[i].value) if i in cells else "" for cells in lines] for i in (SHEET, NAME, LABEL)
        }
        texts[SHEET] += [self.say(word) for word in (*(each.topic.total for each in sections), "red lines")]
        most = {SHEET: _NAME_WIDTH, NAME: _NAME_WIDTH, LABEL: _LABEL_WIDTH}
        found = {i: column_width(texts[i], widest) for i, widest in most.items()}
        statuses = [self.say(word) for words in _STATUS_STYLES.values() for word in words]
        found |= dict.fromkeys((COUNT, ERRORS, DIFFER, LARGEST), _NUMBER_WIDTH)
        return found | {FIRST: _ID_WIDTH, STATUS: column_width(statuses)}

    def rules(self, sections: Sequence[_Section], verdict: Verdict) -> tuple[ConditionalFormat, ...]:
        """Return the conditional formats of statuses, totals and the verdict."""
        found = [*verdict.rules(f"A{_VERDICT}:{column_letters(STATUS)}{_VERDICT}", cell(1, _VERDICT))]
        for section in sections:
            at = cell(STATUS, str(section.first))
            for style, words in _STATUS_STYLES.items():
                either = ",".join(f'{at}="{self.say(word)}"' for word in words)
                found.append(ConditionalFormat(section.statuses.replace("$", ""), f"OR({either})", style))
        first, last = cell(NAME, str(_TOTALS)), cell(NAME, str(_TOTALS + len(sections)))
        area = f"{first}:{last}".replace("$", "")
        totals = (("=0", "good"), (">0", "bad"))
        return (*found, *(ConditionalFormat(area, first + condition, style) for condition, style in totals))


def _counts(live: str) -> tuple[str, str, str, str]:
    """Return the formulas that count where a claim holds, has an error, fails, is not meant."""
    errors = f"ROWS({live})-COUNT({live})-COUNTBLANK({live})"
    return f"COUNTIF({live},1)", errors, f"COUNTIF({live},0)", f"COUNTBLANK({live})"


def _counts_of_one(live: str) -> tuple[str, str, str, str]:
    """Return the same of one cell: Gnumeric saves its range as a cell, which IronCalc does not count."""
    holds, fails = (f"IF(ISNUMBER({live}),IF({live}={value},1,0),0)" for value in (1, 0))
    not_meant = f"IF(ISERROR({live}),0,IF(LEN({live})=0,1,0))"
    errors = f"IF(ISNUMBER({live}),0,IF(ISERROR({live}),1,IF(LEN({live})=0,0,1)))"
    return holds, errors, fails, not_meant


def _own(column: int, number: int) -> str:
    """Return a cell of the own row, which goes with the line where the lines are sorted."""
    return cell(column, str(number))
