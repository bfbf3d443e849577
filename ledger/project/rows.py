"""Rows that are given from outside in place of a sheet's own, their columns matched to what it reads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ledger.declarations.csv import Csv, decode, header_names
from ledger.declarations.files import content
from ledger.declarations.model import Table, TableField, listed
from ledger.declarations.scenario import NUMBERED
from ledger.errors import LedgerError, Place, Problem, Problems, joined, near
from ledger.language import units
from ledger.plan.plan import ID, Computed, Fetched, Given, Node, PlannedSheet, PrintedText, RowField, RowKey

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ledger.language.units import Unit
    from ledger.plan.names import Models

_MOST_NAMES = 8


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """Rows that are given from outside in place of a sheet's own, under the headers of `csv`.

    `key` names the headers that identify a row, none where nobody named the rows.  `units` holds the
    unit that a column says it is in, `unfit` the problem of a column that holds no numbers, or no texts, by
    its header and "number" or "text".
    """

    csv: Csv
    headers: tuple[str, ...]
    key: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    unfit: Mapping[tuple[str, str], Problem] = field(default_factory=dict)


def file_rows(path: Path) -> GivenRows:
    """Return the rows of a CSV file, which are named by its column `id` if it has one."""
    problems = Problems()
    csv = decode(path.name, content(path), "utf-8", problems)
    problems.raise_any()
    found = header_names(csv) if csv else ()
    return GivenRows(csv or Csv(path.name, ""), found, (ID,) if ID in found else ())


@dataclass(frozen=True, slots=True, eq=False)
class RowNames:
    """What rows give a sheet: the names that its own rows give, and its inputs that rows can give, too.

    `others` are the names that it works out; `key` has the headers that identify a row of the one table that
    its rows are, none if they are those of several.
    """

    rows: Mapping[str, TableField]
    inputs: Mapping[str, TableField]
    others: frozenset[str]
    key: tuple[str, ...]


def row_names(sheet: PlannedSheet, models: Models) -> RowNames:
    """Return what rows give a sheet; of a table that lookups lead to they give the key alone."""
    rows: dict[str, TableField] = {}
    lists = [axis.name for axis in sheet.axes if axis.name != axis.table]
    inputs = {name: _settable(name, models) for name in lists}
    tables = [axis.table for axis in sheet.axes if axis.name == axis.table]
    for name, node in sheet.nodes.items():
        if (found := _from_rows(sheet, node, tables, models)) is not None:
            rows[name.removeprefix(f"{tables[0]}.") if len(tables) == 1 else name] = found
        elif isinstance(node.how, Given | Computed) and name in {*models.settable()} - models.columns.keys():
            inputs[name] = _settable(name, models)
    shown = {name for name, node in sheet.nodes.items() if not isinstance(node.how, PrintedText)}
    key = listed(models.tables[tables[0]].value.key) if len(tables) == 1 else ()
    return RowNames(rows, inputs, frozenset(shown - {ID, *rows, *inputs}), key)


def _from_rows(sheet: PlannedSheet, node: Node, tables: list[str], models: Models) -> TableField | None:
    """Return the field of a sheet's own rows that a name is, None if it is none."""
    match node.how:
        case RowField(axis, part) if sheet.axes[axis].table in tables:
            return models.tables[sheet.axes[axis].table].value.fields[part]
        case RowKey(axis) if sheet.axes[axis].table in tables:
            # The key of one table is the id of the row, unless it leads a lookup.
            return TableField(kind="text") if node.name in models.lookups or len(tables) > 1 else None
        case Fetched(table, part) if table in tables and not _is_looked_up(node.name, models):
            # Rows that are on another worksheet, too, fetch their own fields from there.
            return models.tables[table].value.fields[part]
    return None


def _is_looked_up(name: str, models: Models) -> bool:
    """Whether a name is a field of the row that a lookup leads to."""
    owner, dot, _ = name.partition(".")
    return bool(dot) and owner in models.lookups


def _settable(name: str, models: Models) -> TableField:
    """Return the column of rows that gives an input, or the key of a lookup."""
    if name not in models.inputs:
        return TableField(kind="text")
    value = models.inputs[name].value
    return TableField(
        value.kind, unit=value.unit, min=value.min, max=value.max, display=value.display,
        label=value.label, source=value.source,
    )  # fmt: skip


def matched(rows: GivenRows, names: RowNames, options: Mapping[str, str]) -> dict[str, str]:
    """Return the header that gives each name: the name, the header of its field, or the name of an option.

    `options` holds the input of each option, by its name in small letters.
    """
    known = {**names.inputs, **names.rows}
    by_header = {value.column: name for name, value in names.rows.items() if value.column}
    by_option = {name.casefold(): name for name in known} | {
        option: name for option, name in options.items() if name in known
    }
    found: dict[str, str] = {}
    for header in rows.headers:
        name = header if header in known else by_header.get(header) or by_option.get(header.casefold())
        if name is not None:
            found.setdefault(name, header)
    return found


def check_headers(rows: GivenRows, read: Mapping[str, RowNames], used: set[str], problems: Problems) -> None:
    """Add problems for the columns of given rows that no sheet reads: all are in `used`."""
    known = {name: None for names in read.values() for name in (*names.rows, *names.inputs)}
    others = {name for names in read.values() for name in names.others}
    keys = {part for names in read.values() for part in names.key}
    place = Place(rows.csv.name)
    unread = [each for each in rows.headers if each and each not in used | keys | {ID, *rows.key}]
    if worked_out := [each for each in unread if each in others]:
        what = f"the sheet itself works out {joined(worked_out, _MOST_NAMES)}"
        problems.add(what, place, f"leave that out: rows give {joined([*known], _MOST_NAMES)}")
    for header in unread:
        if header not in others:
            problems.add(f"column {header!r} is no input of the sheet", place, near(header, known))


def given_table(
    rows: GivenRows,
    names: RowNames,
    by_name: Mapping[str, str],
    atoms: Mapping[str, Unit],
    problems: Problems,
) -> Table:
    """Return the table that given rows are, with the header `by_name` of each name that they give.

    A column that is missing, or that holds something else than its field, is a problem.
    """
    known, place = {**names.inputs, **names.rows}, Place(rows.csv.name)
    others = [each for each in rows.headers if each not in {*by_name.values(), *rows.key}]
    for name in names.rows:
        if "." in name:
            what = f"the sheet reads {name!r}, which is in two of its tables: one table cannot give its rows"
            problems.add(what, place, "edit the CSV of that table")
        elif name not in by_name:
            problems.add(f"no column {name!r}", place, near(name, others or by_name))
    if not by_name and not names.rows:
        problems.add(
            "no column is an input", place, f"name columns after inputs: {joined([*known], _MOST_NAMES)}"
        )
    for name, header in by_name.items():
        kind = "text" if known[name].kind == "text" else "number"
        if (header, kind) in rows.unfit:
            problems.found.append(rows.unfit[header, kind])
        elif header in rows.units and not _is_unit(rows.units[header], known[name].unit, atoms):
            declared = repr(known[name].unit) if known[name].unit else "a count"
            what = f"column {header!r} is in {rows.units[header]!r}, declared is {declared}"
            problems.add(what, place, "convert it, and say so in its units")
    fields = {name: replace(known[name], column=header) for name, header in by_name.items()}
    return Table(fields, path=rows.csv.name, key=list(_key(rows, names, by_name)))


def _is_unit(text: str, declared: str, atoms: Mapping[str, Unit]) -> bool:
    """Whether a unit that a column says it is in is the declared one."""
    try:
        return units.same(units.parse(text, atoms), units.parse(declared, atoms))
    except LedgerError:
        return False


def _key(rows: GivenRows, names: RowNames, by_name: Mapping[str, str]) -> tuple[str, ...]:
    """Return the headers that identify a row: those given, else those of the table whose place they take."""
    fields = {value.column or name: name for name, value in names.rows.items()}
    parts = (part if part in rows.headers else by_name.get(fields.get(part, "")) for part in names.key)
    found = tuple(each for each in parts if each is not None)
    return rows.key or (found if len(found) == len(names.key) else ()) or NUMBERED
