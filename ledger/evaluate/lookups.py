"""Lookups whose keys lead to no row of a table: a problem for each such key, at the place of its value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.errors import KnownWords, Place, Problems
from ledger.language.expr import Name, names
from ledger.plan.plan import (
    Computed,
    Fetched,
    Node,
    Plan,
    PlannedSheet,
    RowField,
    RowKey,
    precedents,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from ledger.declarations.scenario import Scenario
    from ledger.values import Values


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The rows of a table: their keys and ids, the row number of each key, the values of each field."""

    keys: tuple[str, ...]
    ids: tuple[str, ...]
    numbers: Mapping[str, int]
    fields: Mapping[str, Values]
    scenario: Scenario | None


def row_id(key: str) -> str:
    """Return the id of a row on a ledger sheet: the parts of its table's key with slashes between.

    >>> row_id("car|2026")
    'car/2026'
    """
    return key.replace("|", "/")


@dataclass(frozen=True, slots=True, eq=False)
class MissingKey:
    """The rows of a block in which the key of a lookup leads to no row, and the parts of each such key."""

    node: Node
    table: str
    keys: tuple[str, ...]
    rows: tuple[int, ...]
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows of a sheet: the values of its nodes, the row of each axis, and which the filter keeps."""

    known: Mapping[str, Values]
    picks: Sequence[npt.NDArray[np.intp]]
    kept: npt.NDArray[np.bool_] | None


@dataclass(slots=True, eq=False)
class MissingKeys:
    """The missing keys of one sheet: `waiting` until the filter has kept its rows, then problems.

    `unknown` holds the keys of one part that are problems already, by their name and value.
    """

    sheet: PlannedSheet
    plan: Plan
    tables: Mapping[str, TableRows]
    problems: Problems
    waiting: list[MissingKey] = field(default_factory=list)
    unknown: set[tuple[str, str]] = field(default_factory=set)
    #: Of a table the parts that its keys have, and its keys for near misses.
    known: dict[str, tuple[list[frozenset[str]], KnownWords]] = field(default_factory=dict)

    def report(self, block: RowBlock) -> None:
        """Add a problem for each key, those of one part first: a pair with an unknown part adds none."""
        filtering = read_by_filter(self.sheet)
        for missing in sorted(self.waiting, key=lambda each: len(each.keys)):
            first_rows: dict[tuple[str, ...], int] = {}
            for row, parts in zip(missing.rows, missing.parts, strict=True):
                if block.kept is None or missing.node.name in filtering or block.kept[row]:
                    first_rows.setdefault(parts, row)
            for parts, row in first_rows.items():
                named = set(zip(missing.keys, parts, strict=True))
                if len(parts) == 1 or not named & self.unknown:
                    self._add(missing, row, parts, block)
                if len(parts) == 1:
                    self.unknown |= named
        self.waiting.clear()

    def _add(self, missing: MissingKey, row: int, parts: tuple[str, ...], block: RowBlock) -> None:
        """Add the problem of one key, at the place of the first part that no key of the table has."""
        table = self.tables[missing.table]
        source = table.scenario.source.name if table.scenario else missing.table
        if missing.table not in self.known:
            keys = [tuple(key.split("|")) for key in table.keys]
            columns = [frozenset(column) for column in zip(*keys, strict=True)]
            self.known[missing.table] = columns, KnownWords(", ".join(key) for key in keys)
        columns, known = self.known[missing.table]
        strange = (i for i, part in enumerate(parts) if not columns or part not in columns[i])
        place = self._place(missing.keys[next(strange, -1)], row, block)
        hint = known.hint(", ".join(parts))
        self.problems.add(f"{source} has no row {', '.join(parts)!r}", place, hint)

    def _place(self, key: str, row: int, block: RowBlock) -> Place:
        """Return the place of a key's value: a cell of a CSV, an item of a list, else its declaration."""
        node = self.sheet.nodes[key]
        match node.how:
            case Computed(expr=Name(id=name)):  # a key that is another one by default
                return self._place(name, row, block)
            case RowField(axis, name):
                return self._cell(self.sheet.axes[axis].table, name, int(block.picks[axis][row]))
            case RowKey(axis):
                return self._cell(self.sheet.axes[axis].table, "", int(block.picks[axis][row]))
            case Fetched(table, name, keys):
                data = (block.known[each].data for each in keys)
                text = "|".join(each[min(row, len(each) - 1)] for each in data)
                if text in self.tables[table].keys:
                    return self._cell(table, name, self.tables[table].numbers[text])
        return node.place

    def _cell(self, table: str, name: str, row: int) -> Place:
        """Return the place of a field in a table's row, of the row's key where the CSV has no such field."""
        planned, rows = self.plan.tables[table], self.tables[table].scenario
        if rows is None:
            keys = planned.place.keys
            return Place(planned.place.file, keys=(*keys, row), offset=0) if keys else planned.place
        header = next((each.column for each in planned.typed if each.name == name), rows.source.key[0])
        return scenario.place(rows, row, header)


def read_by_filter(sheet: PlannedSheet) -> frozenset[str]:
    """Return every name that the row filter reads, and the precedents of those."""
    found: set[str] = set()
    waiting = {each.id for each in names(sheet.where)} if sheet.where is not None else set()
    while waiting:
        found |= waiting
        waiting = {each for name in waiting for each in precedents(sheet.nodes[name])} - found
    return frozenset(found)
