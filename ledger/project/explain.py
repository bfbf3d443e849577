"""A cell explained: its formula in names, the numbers put in, its value, its inputs, what depends on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations.toml import located_place, project, report_names
from ledger.display.answer import json_text
from ledger.errors import Place, near
from ledger.evaluate.trace import (
    Leaf,
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
from ledger.project.reports import evaluated_reports
from ledger.workbook.formulas import formula
from ledger.workbook.layout import cell, lay_out, sheet_reference
from ledger.xlsx.sheetdata import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ledger.evaluate.evaluate import Result


@dataclass(frozen=True, slots=True)
class Read:
    """A name that a formula reads, with its value, its unit and how it comes about."""

    name: str
    value: str
    unit: str
    formula: str


@dataclass(frozen=True, slots=True)
class ExplainedInput:
    """An input that a cell comes from: its value, the place it stands at, the source given for it."""

    name: str
    value: str
    unit: str
    place: Place
    source: str


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


def explained(root: Path, path: str) -> Explanation:
    """Return what is known of the cell that `path` names, every place with its line."""
    report = path.partition("/")[0]
    where = project(root)
    known = report_names(root, where)
    if report not in known:
        raise unknown(path, f"unknown report {report!r}", near(report, known))
    worked = evaluated_reports(root, [report], {})
    plan, result, spot = find(path, {each.plan.name: (each.plan, each.result) for each in worked})
    found = explain(path, plan, result, spot)
    inputs = tuple(replace(each, place=located_place(each.place, root, where)) for each in found.inputs)
    workbook = f"{where.reports}/{report}/{report}.xlsx"
    return replace(found, inputs=inputs, address=f"{workbook} {found.address}")


def explain(path: str, plan: Plan, result: Result, spot: Spot) -> Explanation:
    """Return what is known of one cell."""
    node = plan.sheets[spot.sheet].nodes[spot.name]
    address, excel = _excel(plan, result, spot)
    return Explanation(
        path,
        node.label if node.label != node.name else "",
        formula_text(node),
        _numbers(plan, result, spot),
        value_text(result, spot),
        node.unit,
        printed_text(plan, result, spot),
        "; ".join(each for each in (node.source, node.note) if each),
        address,
        excel,
        tuple(_read(plan, result, Spot(spot.sheet, spot.row, name)) for name in reads(plan, spot)),
        tuple(_source(plan, result, spot, leaf) for leaf in leaves(plan, result, spot)),
        dependents(plan, spot),
        tuple(view.name for view in plan.views if _prints(view.sheet, view.columns, spot)),
    )


def _prints(sheet: str, columns: tuple[object, ...], spot: Spot) -> bool:
    return sheet == spot.sheet and any(getattr(column, "node", "") == spot.name for column in columns)


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
    text = how.text
    for name in sorted(names(how.declared), key=lambda each: each.start, reverse=True):
        end = name.start + len(name.id)
        # Inside an f-string a name stands at the beginning of the whole text.
        if text[name.start : end] == name.id:
            value = value_text(result, Spot(spot.sheet, spot.row, name.id))
            text = text[: name.start] + _quoted(plan, spot, name.id, value) + text[end:]
    return text


def _quoted(plan: Plan, spot: Spot, name: str, value: str) -> str:
    kind = plan.sheets[spot.sheet].nodes[name].kind.kind
    return repr(value) if kind == "text" else f"({value})" if value.startswith("-") else value


def _read(plan: Plan, result: Result, spot: Spot) -> Read:
    node = plan.sheets[spot.sheet].nodes[spot.name]
    return Read(spot.name, value_text(result, spot), node.unit, formula_text(node))


def _source(plan: Plan, result: Result, spot: Spot, leaf: Leaf) -> ExplainedInput:
    node = plan.sheets[spot.sheet].nodes[leaf.name]
    value = value_text(result, Spot(spot.sheet, spot.row, leaf.name))
    return ExplainedInput(leaf.name, value, node.unit, leaf.place, leaf.source)


def _excel(plan: Plan, result: Result, spot: Spot) -> tuple[str, str]:
    """Return the address of a cell in the workbook, and the formula that stands there."""
    layout = lay_out(plan, result)
    on = layout.sheets[spot.sheet]
    text = formula(layout, spot.sheet, plan.sheets[spot.sheet].nodes[spot.name])
    row = on.block.get(spot.name, on.first + spot.row)
    column = 2 if spot.name in on.block else on.columns[spot.name]
    address = f"{sheet_reference(spot.sheet)}!{cell(column, row).replace('$', '')}"
    return address, "" if text is None else f"={text.replace(ROW, str(row))}"


_LABEL = 10


def explanation_text(found: Explanation) -> str:
    """Return an explanation line by line, names aligned."""
    return "\n".join(_explanation_lines(found))


def _explanation_lines(found: Explanation) -> Iterator[str]:
    yield f"{found.path}  {found.label}".rstrip()
    lines = {
        "formula": found.formula,
        "numbers": found.numbers,
        "value": f"{found.value} {found.unit}".rstrip(),
        "printed": found.printed,
        "source": found.source,
        "cell": f"{found.address}  {found.excel}".rstrip(),
    }
    for label, text in lines.items():
        if text:
            yield f"  {label:{_LABEL}}{text}"
    if found.reads:
        yield "  reads"
        width = max(len(each.name) for each in found.reads)
        for read in found.reads:
            value = f"{read.value} {read.unit}".rstrip()
            yield f"    {read.name:{width}}  {value}" + (f"  = {read.formula}" if read.formula else "")
    if found.inputs:
        yield "  inputs"
        width = max(len(each.name) for each in found.inputs)
        for each in found.inputs:
            value = f"{each.value} {each.unit}".rstrip()
            yield f"    {each.name:{width}}  {value}  {each.place}" + (
                f"  ({each.source})" if each.source else ""
            )
    yield f"  {'moves':{_LABEL}}{', '.join(found.dependents) or 'nothing'}"
    if found.views:
        yield f"  {'views':{_LABEL}}{', '.join(found.views)}"


def explanation_json(found: Explanation) -> str:
    """Return the same as one JSON object."""
    content = asdict(found)
    content["inputs"] = [{**asdict(each), "place": str(each.place)} for each in found.inputs]
    return json_text(content)
