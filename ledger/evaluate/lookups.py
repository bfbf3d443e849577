"""Keys that lead to no row of a table: which rows have one, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.declarations import scenario
from ledger.errors import Place, Problems, near
from ledger.language.expr import Name, names
from ledger.plan.plan import Computed, Fetched, Node, Plan, PlannedSheet, PrintedText, RowField, RowKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from ledger.declarations.scenario import Scenario
    from ledger.values import Values

    Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The rows of a table: their keys, the number of the row of each, and the values of each field."""

    keys: tuple[str, ...]
    numbers: Mapping[str, int]
    fields: Mapping[str, Values]
    scenario: Scenario | None


@dataclass(frozen=True, slots=True, eq=False)
class MissingKey:
    """The rows of a block in which the keys of a node lead nowhere, and the parts of each of those keys."""

    node: Node
    table: str
    keys: tuple[str, ...]
    rows: tuple[int, ...]
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows of a sheet: what is known of them, the row of each axis, and which the filter keeps."""

    known: Mapping[str, Values]
    picks: Sequence[Rows]
    kept: npt.NDArray[np.bool_] | None


@dataclass(slots=True, eq=False)
class MissingKeys:
    """The misses of one sheet, told when it is known which rows stay."""

    sheet: PlannedSheet
    plan: Plan
    tables: Mapping[str, TableRows]
    problems: Problems
    waiting: list[MissingKey] = field(default_factory=list)
    lost: set[tuple[str, str]] = field(default_factory=set)

    def tell(self, block: RowBlock) -> None:
        """Tell each key once, one alone before a pair: a pair with a part that is lost is not told."""
        decides = read_by_filter(self.sheet)
        for miss in sorted(self.waiting, key=lambda each: len(each.keys)):
            told: set[tuple[str, ...]] = set()
            for row, parts in zip(miss.rows, miss.parts, strict=True):
                stays = block.kept is None or miss.node.name in decides or block.kept[row]
                if stays and parts not in told and not self._is_lost(miss, parts):
                    told.add(parts)
                    self._tell(miss, row, parts, block)
            if len(miss.keys) == 1:
                self.lost.update((miss.keys[0], part) for (part,) in told)
        self.waiting.clear()

    def _is_lost(self, miss: MissingKey, parts: tuple[str, ...]) -> bool:
        return len(parts) > 1 and any(each in self.lost for each in zip(miss.keys, parts, strict=True))

    def _tell(self, miss: MissingKey, row: int, parts: tuple[str, ...], block: RowBlock) -> None:
        table = self.tables[miss.table]
        source = table.scenario.source.name if table.scenario else miss.table
        known = [tuple(key.split("|")) for key in table.keys]
        unknown = (i for i, part in enumerate(parts) if part not in {key[i] for key in known})
        place = self._place(miss.keys[next(unknown, -1)], row, block)
        hint = near(", ".join(parts), (", ".join(key) for key in known))
        self.problems.add(f"{source} has no row {', '.join(parts)!r}", place, hint)

    def _place(self, key: str, row: int, block: RowBlock) -> Place:
        """Return where a key's value stands: a cell of a CSV, an item of a list, else its declaration."""
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
                    return self._cell(table, name, self.tables[table].keys.index(text))
        return node.place

    def _cell(self, table: str, name: str, row: int) -> Place:
        planned, rows = self.plan.tables[table], self.tables[table].scenario
        if rows is None:
            keys = planned.place.keys
            return Place(planned.place.file, keys=(*keys, row), offset=0) if keys else planned.place
        header = next((each.column for each in planned.typed if each.name == name), rows.source.key[0])
        return scenario.place(rows, row, header)


def read_by_filter(sheet: PlannedSheet) -> frozenset[str]:
    """Return every name that the row filter reads, and what those read."""
    waiting = [each.id for each in names(sheet.where)] if sheet.where is not None else []
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        match sheet.nodes[name].how:
            case Computed(reads=reads):
                waiting += reads
            case Fetched(keys=keys):
                waiting += keys
            case PrintedText(name=shown):
                waiting.append(shown)
    return frozenset(found)
