"""A report's declarations resolved to a plan: what each name of each sheet is, in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Sheet, listed, spoken
from ledger.errors import Place, Problems, near
from ledger.plan.charts import drawn_names, planned_charts
from ledger.plan.claims import planned_claims, unclaimed, with_claims
from ledger.plan.names import Models, Settings, SheetNames, SheetScope, gather
from ledger.plan.plan import Axis, Fetched, Plan, PlannedSheet, PlannedTable, RowField
from ledger.plan.tables import planned_tables
from ledger.plan.views import planned_views, wanted_names
from ledger.xlsx.places import FIXED_SHEETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.declarations.scenario import Field
    from ledger.declarations.toml import Declared

_LONGEST = 31


def resolve(declared: Declared, settings: Settings, problems: Problems) -> Plan:
    """Return the plan of a report, with inputs set from outside as `settings` say.

    What cannot be resolved is a problem and left out, so that the rest can be checked in the same run.
    """
    library = gather(declared, problems)
    report, language = declared.report, declared.project.language
    settings.known.update(library.settable())
    axes = {name: _axes(name, sheet, declared, library, problems) for name, sheet in report.sheets.items()}
    listed_inputs = {axis.name for parts in axes.values() for axis in parts if axis.name != axis.table}
    settings.taken.update(listed_inputs & settings.given.keys())
    stands = _where_tables_stand(axes, library)
    _check_space(declared, library, axes, stands, problems)
    tables = planned_tables(declared, library, axes, stands, settings, problems)
    sheets: dict[str, PlannedSheet] = {}
    for name, sheet in report.sheets.items():
        scope = SheetScope(name, sheet, axes[name], declared, library, tables, problems)
        title = spoken(sheet.title, language, name)
        names = SheetNames(scope, settings)
        sheets[name] = with_claims(declared, names, names.planned(_wanted(declared, name), title))
    views = planned_views(declared, library, sheets, problems)
    return Plan(
        declared.name,
        spoken(report.title, language, declared.name),
        language,
        report.basis,
        tuple(spoken(limit, language) for limit in report.limits),
        library.atoms,
        {name: _with_bounds(table, sheets) for name, table in tables.items() if _used(name, sheets)},
        sheets,
        views,
        Place(declared.file),
        planned_claims(declared, sheets, problems),
        planned_charts(declared, sheets, problems),
    )


def _wanted(declared: Declared, sheet: str) -> tuple[tuple[str, Place], ...]:
    """Return the names of a sheet that views and charts want, each with where it is wanted."""
    return unclaimed(declared, sheet, (*wanted_names(declared, sheet), *drawn_names(declared, sheet)))


def _check_space(
    declared: Declared,
    library: Models,
    axes: Mapping[str, tuple[Axis, ...]],
    stands: Mapping[str, str],
    problems: Problems,
) -> None:
    """Tables, lists, ledger sheets and the fixed sheets are all worksheets, so their names must differ."""
    taken = {name.casefold(): f"the sheet {name!r} of every workbook" for name in FIXED_SHEETS}
    named = [(name, f"table {name!r}", entry.place) for name, entry in library.tables.items()]
    here = Place(declared.file, keys=("sheets",))
    named += [(name, f"sheet {name!r}", replace(here, keys=(*here.keys, name))) for name in axes]
    named += [
        (axis.table, f"list {axis.table!r}", replace(here, keys=(*here.keys, name, "set", axis.name)))
        for name, parts in axes.items()
        for axis in parts
        if axis.name != axis.table and axis.table not in stands
    ]
    for name, what, place in named:
        if name.casefold() in taken:
            problems.add(f"{what} has the name of {taken[name.casefold()]}", place, "rename it")
        if len(name) > _LONGEST:
            problems.add(f"{what} has {len(name)} characters, a worksheet's name has {_LONGEST}", place)
        taken[name.casefold()] = f"the {what}"
    if not declared.report.sheets:
        problems.add("the report has no sheet", here, "declare [sheets.NAME]")


def _axes(
    name: str, sheet: Sheet, declared: Declared, library: Models, problems: Problems
) -> tuple[Axis, ...]:
    found: list[Axis] = []
    for i, table in enumerate(listed(sheet.rows)):
        keys = ("sheets", name, "rows") if isinstance(sheet.rows, str) else ("sheets", name, "rows", i)
        place = replace(Place(declared.file, keys=keys), offset=0)
        if table not in library.tables:
            problems.add(f"unknown table {table!r}", place, near(table, library.tables))
        elif any(axis.table == table for axis in found):
            problems.add(f"table {table!r} is an axis twice", place)
        else:
            found.append(Axis(table, table))
    for key, value in sheet.set.items():
        if isinstance(value, list) and _can_be_listed(key, library):
            found.append(Axis(key, f"{name}_{key}"))
    return tuple(found)


def _can_be_listed(name: str, library: Models) -> bool:
    """Whether the rows of a sheet can take a list of values for `name`."""
    lookup = library.lookups.get(name)
    return name not in library.columns and (
        name in library.inputs or (lookup is not None and not lookup.value.by)
    )


def _where_tables_stand(axes: Mapping[str, tuple[Axis, ...]], library: Models) -> dict[str, str]:
    """Return the ledger sheet of each table that is the only rows of one sheet and used nowhere else."""
    users: dict[str, list[str]] = {}
    for sheet, parts in axes.items():
        for axis in parts:
            users.setdefault(axis.table, []).append(sheet)
    fetched = {entry.value.table for entry in library.lookups.values()}
    return {
        table: sheets[0]
        for table, sheets in users.items()
        if len(sheets) == 1 and len(axes[sheets[0]]) == 1 and table not in fetched
    }


def _used(table: str, sheets: Mapping[str, PlannedSheet]) -> bool:
    return any(
        any(axis.table == table for axis in sheet.axes)
        or any(isinstance(node.how, Fetched) and node.how.table == table for node in sheet.nodes.values())
        for sheet in sheets.values()
    )


def _with_bounds(table: PlannedTable, sheets: Mapping[str, PlannedSheet]) -> PlannedTable:
    """Return the table with each field held to the bounds of the inputs that it feeds."""
    typed = {field.name: field for field in table.typed}
    for sheet in sheets.values():
        for node in sheet.nodes.values():
            match node.how:
                case RowField(axis, field) if sheet.axes[axis].table == table.name and field in typed:
                    typed[field] = _bounded(typed[field], node.bounds)
                case Fetched(name, field) if name == table.name and field in typed:
                    typed[field] = _bounded(typed[field], node.bounds)
    return replace(table, typed=tuple(typed.values()))


def _bounded(field: Field, bounds: tuple[float | None, float | None]) -> Field:
    low = [each for each in (field.minimum, bounds[0]) if each is not None]
    high = [each for each in (field.maximum, bounds[1]) if each is not None]
    return replace(field, minimum=max(low, default=None), maximum=min(high, default=None))
