"""What is compared with its published values: each name with the formulas that count where it differs.

Spreadsheets do not agree on every function over a range.  LibreOffice counts errors as texts by
COUNTIF(L,"*"), IronCalc answers ABS, EXACT, ISERROR, ISNUMBER and NOT of the first cell alone and finds
nothing with MATCH in an array of one element: none of these stands here over a range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ledger.plan import ID, Shown
from ledger.returned.places import PUBLISHED, VALUE
from ledger.returned.record import BLOCK
from ledger.workbook.layout import Layout, UnitLayout, cell, sheet_reference, span, table_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.evaluate import Result
    from ledger.plan import Plan
    from ledger.returned.places import Places
    from ledger.values import Values

Kind = Literal["number", "truth", "text"]
#: What stands where there is no row to name.
NONE = "—"
_ERROR_TEXTS = ("#DIV/0!", "#N/A", "#VALUE!", "#NUM!", "#REF!", "#NAME?")
_ERRORS_OF_ONE: Mapping[Kind, str] = {"number": "ISNUMBER", "truth": "ISLOGICAL"}


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
    kind: Kind
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

    unit: UnitLayout
    columns: Mapping[str, int]
    first: int

    def home(self, name: str) -> str:
        """Return the header of a name."""
        return f"{sheet_reference(self.unit.sheet)}!{cell(self.columns[name], self.first - 1)}"

    def live(self, name: str) -> str:
        """Return the live values of a name."""
        return span(self.unit.sheet, self.columns[name], self.first, self.first + self.unit.count - 1)

    def was(self, column: int) -> str:
        """Return a column of what was published."""
        return span(PUBLISHED, column, self.unit.first, self.unit.last)

    def order(self) -> RowOrder:
        """Return the order of the rows."""
        name = self.unit.names[0]
        was = self.was(self.unit.column(name))
        return RowOrder(self.unit.sheet, name, self.home(name), self.live(name), was, self.unit.count)

    def compared(self, name: str, label: str, values: Values) -> Compared:
        """Return a name as it is compared."""
        unit = self.unit
        marks = self.was(unit.mark(name)) if name in unit.marked else ""
        return Compared(
            unit.sheet, name, label, self.home(name), _kind(values), self.live(name),
            self.was(unit.column(name)), marks, self.live(unit.names[0]), unit.count, _errors(values),
        )  # fmt: skip


def row_orders(layout: Layout) -> tuple[RowOrder, ...]:
    """Return the order of the rows of every worksheet that has some."""
    places = layout.places()
    return tuple(_rows(unit, places).order() for unit in layout.units if unit.kind != BLOCK)


def compared(plan: Plan, result: Result, layout: Layout) -> tuple[Compared, ...]:
    """Return every name that is compared: all but ids, texts that are printed only, and claims."""
    places, claims = layout.places(), {(claim.sheet, claim.name) for claim in plan.claims}
    found = []
    for unit in layout.units:
        labels, rows = _labels(unit, plan), _rows(unit, places)
        for name, values in _values(unit, plan, result).items():
            label = labels.get(name, "")
            if (unit.sheet, name) in claims:
                continue
            if unit.kind == BLOCK:
                found.append(_of_block(unit, name, label, values, layout))
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


def _rows(unit: UnitLayout, places: Mapping[str, Places]) -> _Rows:
    on = places[unit.sheet]
    return _Rows(unit, {name: column for column, name in on.columns.items()}, on.first)


def _of_block(unit: UnitLayout, name: str, label: str, values: Values, layout: Layout) -> Compared:
    home = home_of(unit.sheet, name, layout)
    was, marks = (
        f"{PUBLISHED}!{cell(column, unit.first)}" for column in (unit.column(name), unit.mark(name))
    )
    errors = _errors(values)
    return Compared(unit.sheet, name, label, home, _kind(values), home, was, marks, "", 1, errors)


def _kind(values: Values) -> Kind:
    if values.data.dtype == object:
        return "text"
    return "truth" if values.data.dtype == np.bool_ else "number"


def _errors(values: Values) -> int:
    return 0 if values.errors is None else int(np.count_nonzero(values.errors))


def _values(unit: UnitLayout, plan: Plan, result: Result) -> dict[str, Values]:
    """Return the values of the names of a unit that are compared."""
    if unit.sheet in plan.sheets:
        nodes, known = plan.sheets[unit.sheet].nodes, result.sheets[unit.sheet].values
        names = [name for name in unit.names if name != ID and not isinstance(nodes[name].how, Shown)]
        return {name: known[name] for name in names}
    told = table_values(result.tables[unit.sheet])
    return {name: told[name] for name in unit.names[1:]}


def _labels(unit: UnitLayout, plan: Plan) -> dict[str, str]:
    """Return what the names of a unit mean, of those that say it."""
    if unit.sheet in plan.sheets:
        nodes = tuple(plan.sheets[unit.sheet].nodes.values())
    else:
        nodes = plan.tables[unit.sheet].fields
    return {node.name: node.label for node in nodes if node.label != node.name}
