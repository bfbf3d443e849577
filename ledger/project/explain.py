"""`explain`: a cell with its formula in names and in numbers, its value, its inputs and its dependents."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations.toml import located_place
from ledger.display.answer import Answer, json_text
from ledger.errors import near
from ledger.evaluate.trace import (
    Spot,
    dependents,
    find,
    leaves,
    printed_text,
    reads,
    unknown,
    value_text,
)
from ledger.evaluate.views import formula_text
from ledger.language.expr import names
from ledger.plan.plan import Claimed, Computed, Plan
from ledger.workbook.formulas import formula
from ledger.workbook.layout import cell, lay_out, sheet_reference
from ledger.xlsx.sheetdata import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.book.render import EvaluatedReport
    from ledger.evaluate.evaluate import Result


@dataclass(frozen=True, slots=True)
class Read:
    """A name that a formula reads, with its value, its unit and how it comes about."""

    name: str
    value: str
    unit: str
    formula: str

    def __str__(self) -> str:
        """Return value, unit and formula as one text."""
        value = f"{self.value} {self.unit}".rstrip()
        return f"{value}  = {self.formula}" if self.formula else value


@dataclass(frozen=True, slots=True)
class ExplainedInput:
    """An input that a cell comes from: its value, its place in a file, the source given for it."""

    name: str
    value: str
    unit: str
    place: str
    source: str

    def __str__(self) -> str:
        """Return value, unit, place and source as one text."""
        value = f"{self.value} {self.unit}".rstrip()
        return f"{value}  {self.place}" + (f"  ({self.source})" if self.source else "")


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of a cell; `numbers` is its formula with values in place of names."""

    path: str
    label: str
    formula: str
    numbers: str
    value: str
    unit: str
    printed: str
    source: str
    address: str
    excel: str
    reads: tuple[Read, ...]
    inputs: tuple[ExplainedInput, ...]
    dependents: tuple[str, ...]
    views: tuple[str, ...]


def answer(found: Explanation, form: str) -> Answer:
    """Return what is known of a cell as text or JSON."""
    text = json_text(asdict(found)) if form == "json" else "\n".join(_lines(found))
    return Answer(text, found=False)


def report_of(path: str, known: Sequence[str]) -> str:
    """Return the name of the report in an address; raise a LedgerError if there is no such report."""
    report = path.partition("/")[0]
    if report not in known:
        raise unknown(path, f"unknown report {report!r}", near(report, known))
    return report


def explained(worked: EvaluatedReport, path: str) -> Explanation:
    """Return what is known of the cell REPORT/SHEET/ROW/COLUMN of a report, every place with its line."""
    report = worked.plan.name
    plan, result, spot = find(path, {report: (worked.plan, worked.result)})
    node = plan.sheets[spot.sheet].nodes[spot.name]
    address, excel = _excel(plan, result, spot)
    views = (view for view in plan.views if view.sheet == spot.sheet)
    return Explanation(
        path,
        node.label if node.label != node.name else "",
        formula_text(node),
        _numbers(plan, result, spot),
        value_text(result, spot),
        node.unit,
        printed_text(plan, result, spot),
        "; ".join(each for each in (node.source, node.note) if each),
        f"{worked.declared.project.reports}/{report}/{report}.xlsx {address}",
        excel,
        tuple(_reads(plan, result, spot)),
        tuple(_inputs(worked, spot)),
        dependents(plan, spot),
        tuple(view.name for view in views if any(each.node == spot.name for each in view.columns)),
    )


def _reads(plan: Plan, result: Result, spot: Spot) -> Iterator[Read]:
    """Yield each name that a cell reads."""
    for name in reads(plan, spot):
        node = plan.sheets[spot.sheet].nodes[name]
        yield Read(name, value_text(result, replace(spot, name=name)), node.unit, formula_text(node))


def _inputs(worked: EvaluatedReport, spot: Spot) -> Iterator[ExplainedInput]:
    """Yield each input that a cell comes from, its place by line and column."""
    declared, nodes = worked.declared, worked.plan.sheets[spot.sheet].nodes
    for leaf in leaves(worked.plan, worked.result, spot):
        value = value_text(worked.result, replace(spot, name=leaf.name))
        place = str(located_place(leaf.place, declared.root, declared.project))
        yield ExplainedInput(leaf.name, value, nodes[leaf.name].unit, place, leaf.source)


def _numbers(plan: Plan, result: Result, spot: Spot) -> str:
    """Return the author's formula with values in place of names; empty for what is not computed."""
    match plan.sheets[spot.sheet].nodes[spot.name].how:
        case Computed() as how:
            return _put_in(plan, result, spot, how)
        case Claimed(where=None, holds=holds):
            return _put_in(plan, result, spot, holds)
        case Claimed(where=Computed() as where, holds=holds):
            return f"{_put_in(plan, result, spot, holds)} where {_put_in(plan, result, spot, where)}"
    return ""


def _put_in(plan: Plan, result: Result, spot: Spot, how: Computed) -> str:
    """Return the text of a formula with values in place of names, negative ones in brackets."""
    text = how.text
    for name in sorted(names(how.declared), key=lambda each: each.start, reverse=True):
        end = name.start + len(name.id)
        # The position of a name inside an f-string is that of the whole text.
        if text[name.start : end] == name.id:
            value = value_text(result, replace(spot, name=name.id))
            if plan.sheets[spot.sheet].nodes[name.id].kind.kind == "text":
                value = repr(value)
            elif value.startswith("-"):
                value = f"({value})"
            text = text[: name.start] + value + text[end:]
    return text


def _excel(plan: Plan, result: Result, spot: Spot) -> tuple[str, str]:
    """Return the address of a cell in the workbook, and the formula of that cell, empty if it has none."""
    layout = lay_out(plan, result)
    on = layout.sheets[spot.sheet]
    text = formula(layout, spot.sheet, plan.sheets[spot.sheet].nodes[spot.name])
    row = on.block.get(spot.name, on.first + spot.row)
    column = 2 if spot.name in on.block else on.columns[spot.name]
    address = f"{sheet_reference(spot.sheet)}!{cell(column, row).replace('$', '')}"
    return address, "" if text is None else f"={text.replace(ROW, str(row))}"


_LABEL = 10


def _lines(found: Explanation) -> Iterator[str]:
    """Yield an explanation line by line, names aligned."""
    yield f"{found.path}  {found.label}".rstrip()
    lines = {
        "formula": found.formula,
        "numbers": found.numbers,
        "value": f"{found.value} {found.unit}".rstrip(),
        "printed": found.printed,
        "source": found.source,
        "cell": f"{found.address}  {found.excel}".rstrip(),
    }
    yield from (f"  {label:{_LABEL}}{text}" for label, text in lines.items() if text)
    for title, rows in (("reads", found.reads), ("inputs", found.inputs)):
        if rows:
            yield f"  {title}"
            width = max(len(each.name) for each in rows)
            yield from (f"    {each.name:{width}}  {each}" for each in rows)
    yield f"  {'moves':{_LABEL}}{', '.join(found.dependents) or 'nothing'}"
    if found.views:
        yield f"  {'views':{_LABEL}}{', '.join(found.views)}"
