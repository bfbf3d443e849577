"""A plan and its scenarios evaluated: the values of every node, and what a reader should know of them.

Rows are evaluated in blocks of some 16,000, which stay in the processor's cache: measured fifteen times
faster than whole columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ledger.declarations import scenario
from ledger.display import rules
from ledger.evaluate.findings import ValueFinding, findings_of
from ledger.evaluate.lookups import MissingKey, MissingKeys, RowBlock, TableRows
from ledger.evaluate.overrides import Overrides, overridden
from ledger.language.expr import Call, Expr, fold
from ledger.language.targets.numpy import WORDS, literal
from ledger.plan.plan import (
    Claimed,
    Computed,
    Fetched,
    Given,
    Node,
    Plan,
    PlannedSheet,
    PlannedTable,
    PrintedText,
    RowField,
    RowId,
    RowKey,
)
from ledger.values import NA, Values, number_text, texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.declarations.scenario import Scenario
    from ledger.errors import Problems
    from ledger.evaluate.notes import Notes

BLOCK_ROWS = 16_000


@dataclass(frozen=True, slots=True, eq=False)
class SheetResult:
    """A sheet's ids and the values of its nodes, one element per row or one for all rows."""

    ids: tuple[str, ...]
    values: Mapping[str, Values]


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a report amounts to."""

    tables: Mapping[str, TableRows]
    sheets: Mapping[str, SheetResult]
    findings: tuple[ValueFinding, ...]
    notes: Mapping[str, Notes] = field(default_factory=dict)


def evaluate(
    plan: Plan, scenarios: Mapping[str, Scenario], problems: Problems, pins: Overrides | None = None
) -> Result:
    """Return the values of every sheet whose tables could be read.

    A key that leads nowhere and a sheet that is left without rows are problems.
    """
    tables = {
        name: _rows(table, scenarios.get(name))
        for name, table in plan.tables.items()
        if table.source is None or name in scenarios
    }
    sheets: dict[str, SheetResult] = {}
    findings: list[ValueFinding] = []
    for name, sheet in plan.sheets.items():
        if not _needs(sheet) <= tables.keys():
            continue
        _check_strangers(sheet, scenarios, problems)
        found = _Worker(sheet, tables, MissingKeys(sheet, plan, tables, problems), pins or {}).evaluated()
        if found.ids:
            sheets[name] = found
            findings += findings_of(sheet, found.ids, found.values)
        elif sheet.where is not None:
            at = replace(sheet.place, keys=(*sheet.place.keys, "where"))
            problems.add(f"no row of sheet {name!r} passes its filter", at)
    return Result(tables, sheets, tuple(findings))


def _needs(sheet: PlannedSheet) -> set[str]:
    """Return the tables that a sheet's values come from."""
    fetched = {node.how.table for node in sheet.nodes.values() if isinstance(node.how, Fetched)}
    return fetched | {axis.table for axis in sheet.axes}


def _rows(table: PlannedTable, rows: Scenario | None) -> TableRows:
    if rows is not None:
        fields = {each.name: scenario.values(rows, each.name) for each in table.fields}
        return TableRows(rows.keys, _numbered(rows.keys), fields, rows)
    listed = table.listed
    field = table.fields[0]
    keys = tuple(each if isinstance(each, str) else number_text(each) for each in listed)
    values = texts(keys) if field.kind.kind == "text" else Values(np.array(listed, dtype=np.float64))
    return TableRows(keys, _numbered(keys), {field.name: values}, None)


def _numbered(keys: Sequence[str]) -> dict[str, int]:
    return {key: number for number, key in enumerate(keys)}


def _check_strangers(sheet: PlannedSheet, scenarios: Mapping[str, Scenario], problems: Problems) -> None:
    """Tell CSV columns that no field declares but that have an input's name: nothing would read them."""
    inputs = {name for name, node in sheet.nodes.items() if isinstance(node.how, Given)}
    for axis in sheet.axes:
        rows = scenarios.get(axis.table)
        if rows is None:
            continue
        for header in rows.documents:
            if header in inputs:
                place = scenario.header_place(rows, header)
                what = f"column {header!r} is an input, but no field of table {axis.table!r} reads it"
                problems.add(what, place, f"declare it: [tables.{axis.table}.fields] {header} = {{ … }}")


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    sheet: PlannedSheet
    tables: Mapping[str, TableRows]
    misses: MissingKeys
    pins: Overrides

    def evaluated(self) -> SheetResult:
        """Return the sheet's values, rows that its filter drops left out."""
        lengths = [len(self.tables[axis.table].keys) for axis in self.sheet.axes]
        count = prod(lengths) if lengths else 1
        constants = self._block({}, (), constant=True)
        self.misses.tell(RowBlock(constants, (), None))
        if not lengths:
            return SheetResult(("",), constants)
        blocks: list[dict[str, Values]] = []
        ids: list[str] = []
        for start in range(0, count, BLOCK_ROWS):
            picks = np.unravel_index(np.arange(start, min(start + BLOCK_ROWS, count)), lengths)
            block = self._block(constants, picks, constant=False)
            kept = self._kept(block)
            self.misses.tell(RowBlock(block, picks, kept))
            if kept is not None:
                block = {
                    name: each.take(kept) if len(each) == len(kept) else each for name, each in block.items()
                }
            varying = {name: each for name, each in block.items() if name not in constants}
            ids += varying["id"].data.tolist()
            blocks.append(varying)
        return SheetResult(tuple(ids), {**constants, **_joined(blocks)})

    def _kept(self, block: Mapping[str, Values]) -> npt.NDArray[np.bool_] | None:
        if self.sheet.where is None:
            return None
        length = len(block["id"])
        found = _value(self.sheet.where, block, length)
        return found.data if found.errors is None else found.data & (found.errors == 0)

    def _block(
        self, constants: Mapping[str, Values], picks: Sequence[npt.NDArray[np.intp]], *, constant: bool
    ) -> dict[str, Values]:
        """Return the nodes that do not vary by row, or those that do for the rows at `picks`."""
        found = dict(constants)
        length = 1 if constant else len(picks[0])
        for name, node in self.sheet.nodes.items():
            if node.varies is not constant:
                found[name] = self._node(node, found, picks, length)
                for pin in self.pins.get((self.sheet.name, name), ()):
                    instead = _value(pin.expr(), found, length)
                    found[name] = overridden(pin, found[name], instead, found.get("id"))
        return found

    def _node(
        self, node: Node, known: Mapping[str, Values], picks: Sequence[npt.NDArray[np.intp]], length: int
    ) -> Values:
        match node.how:
            case Given(value):
                return literal(value)
            case RowId():
                keys = [[key.replace("|", "/") for key in self._axis(i).keys] for i in range(len(picks))]
                parts = ([names[i] for i in pick] for names, pick in zip(keys, picks, strict=True))
                return texts(["/".join(each) for each in zip(*parts, strict=True)])
            case RowKey(axis):
                return texts([self._axis(axis).keys[i] for i in picks[axis]])
            case RowField(axis, field):
                return self._axis(axis).fields[field].take(picks[axis])
            case Fetched(keys=keys):
                return self._fetched(node, node.how, [known[key] for key in keys])
            case Computed(expr=expr) | Claimed(expr=expr):
                return _value(expr, known, length)
            case PrintedText(name=shown, ladder=ladder):
                return _shown(known[shown], ladder)
        raise TypeError(f"no way to evaluate {node.how!r}")

    def _axis(self, number: int) -> TableRows:
        return self.tables[self.sheet.axes[number].table]

    def _fetched(self, node: Node, how: Fetched, keys: Sequence[Values]) -> Values:
        """Return the field of the rows that the keys lead to; #N/A where one of them is blank."""
        table = self.tables[how.table]
        length = max(len(key) for key in keys)
        parts = list(zip(*(np.broadcast_to(key.data, (length,)) for key in keys), strict=True))
        rows = np.array([table.numbers.get("|".join(each), -1) for each in parts])
        blank = np.zeros(length, dtype=np.bool_)
        for key in keys:
            blank |= False if key.errors is None else key.errors > 0
        missing = np.flatnonzero((rows < 0) & ~blank).tolist()
        if missing:
            wanted = tuple(parts[i] for i in missing)
            self.misses.waiting.append(MissingKey(node, how.table, how.keys, tuple(missing), wanted))
        found = table.fields[how.field].take(np.where(rows < 0, 0, rows))
        if not blank.any():
            return found
        errors = np.zeros(length, dtype=np.uint8) if found.errors is None else found.errors
        return Values(found.data, np.where(blank, NA, errors).astype(np.uint8), found.edges)


def _value(expr: Expr, known: Mapping[str, Values], length: int) -> Values:
    """Return the value of `expr`, `length` elements."""

    def word(node: Call, args: tuple[Values, ...]) -> Values:
        return WORDS[node.op](*args)

    def name(node: object) -> Values:
        return replace(known[node.id], edges=None)  # type: ignore[attr-defined]  # fold gives names here

    with np.errstate(all="ignore"):
        found = fold(expr, lambda leaf: literal(leaf.value), name, word)
    return Values(
        np.broadcast_to(found.data, (length,)),
        None if found.errors is None else np.broadcast_to(found.errors, (length,)),
        None if found.edges is None else np.broadcast_to(found.edges, (length,)),
    )


def _shown(value: Values, ladder: rules.Ladder | None) -> Values:
    """Return printed text; where there is no value there is no text either, as in the workbook."""
    found = rules.printed(ladder or rules.Ladder(()), Values(value.data, value.errors))
    return Values(texts(found).data, value.errors)


def _joined(blocks: Sequence[Mapping[str, Values]]) -> dict[str, Values]:
    found: dict[str, Values] = {}
    for name in blocks[0] if blocks else ():
        parts = [block[name] for block in blocks]
        found[name] = Values(
            np.concatenate([part.data for part in parts]),
            _stacked([part.errors for part in parts], parts),
            _stacked([part.edges for part in parts], parts),
        )
    return found


def _stacked(masks: Sequence[npt.NDArray[Any] | None], parts: Sequence[Values]) -> npt.NDArray[Any] | None:
    """Return one mask over all blocks, None if no block has one."""
    kinds = [mask.dtype for mask in masks if mask is not None]
    if not kinds:
        return None
    return np.concatenate(
        [
            np.zeros(len(part), kinds[0]) if mask is None else mask
            for mask, part in zip(masks, parts, strict=True)
        ]
    )


def check_meant(plan: Plan, result: Result, problems: Problems) -> None:
    """Tell every claim that is meant for no row: it could not fail."""
    for claim in plan.claims:
        found = result.sheets.get(claim.sheet)
        if found is not None and not _is_meant(found.values[claim.name]):
            what = f"claim {claim.name!r} is meant for no row of sheet {claim.sheet!r}"
            problems.add(what, claim.place, "its 'where' holds in none of them")


def _is_meant(values: Values) -> bool:
    return values.errors is not None or any(isinstance(each, float) for each in values.data.tolist())
