"""A report's declarations resolved to a plan: what each name of each sheet is, in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Sheet, placed, spoken
from ledger.errors import Place, Problems, near
from ledger.language.expr import names
from ledger.plan.charts import drawn_names, planned_charts
from ledger.plan.claims import planned_claims, with_claims
from ledger.plan.names import Models, Settings, SheetNames, gather
from ledger.plan.plan import Axis, Fetched, Plan, PlannedSheet, PlannedTable, RowField, precedents
from ledger.plan.tables import planned_tables
from ledger.plan.views import planned_views, wanted_names
from ledger.xlsx.limits import MAX_TITLE
from ledger.xlsx.places import FIXED_SHEETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.declarations.scenario import Field
    from ledger.declarations.toml import Declared


def resolve(declared: Declared, settings: Settings, problems: Problems) -> Plan:
    """Return the plan of a report, with inputs set from outside by `settings`.

    What cannot be resolved is a problem and left out, so that the rest can be checked in the same run.
    """
    models = gather(declared, problems)
    report, language = declared.report, models.language
    settings.inputs.update(models.settable())
    axes = {name: _axes(name, sheet, declared, models, problems) for name, sheet in report.sheets.items()}
    lists = {axis.name for parts in axes.values() for axis in parts if axis.name != axis.table}
    settings.used.update(lists & settings.given.keys())
    homes = _sheets_of_tables(axes, models)
    _check_worksheet_names(declared, models, axes, homes, problems)
    tables = planned_tables(declared, models, axes, homes, settings, problems)
    sheets: dict[str, PlannedSheet] = {}
    for name, sheet in report.sheets.items():
        place = Place(declared.file, keys=("sheets", name))
        scope = SheetNames(name, sheet, place, axes[name], models, tables, settings, problems)
        sheets[name] = with_claims(declared, scope, scope.planned(_wanted(declared, name)))
    views = tuple(planned_views(declared, models, sheets, problems))
    return Plan(
        declared.name,
        spoken(report.title, language, declared.name),
        language,
        report.basis,
        tuple(spoken(limit, language) for limit in report.limits),
        models.atoms,
        {name: _with_bounds(table, sheets) for name, table in tables.items() if _used(name, sheets)},
        sheets,
        views,
        Place(declared.file),
        tuple(planned_claims(declared, sheets, problems)),
        tuple(planned_charts(declared, sheets, problems)),
    )


def check_set(declared: Declared, plan: Plan, problems: Problems) -> None:
    """Add a problem for each input that a sheet sets and that nothing on it reads or prints."""
    for title, sheet in declared.report.sheets.items():
        planned = plan.sheets[title]
        read = {name for name, _ in _wanted(declared, title)} | {*sheet.columns}
        read |= {name for node in planned.nodes.values() for name in precedents(node)}
        if planned.where is not None:
            read |= {each.id for each in names(planned.where)}
        for name in sheet.set:
            if name in planned.nodes and name not in read:
                place = replace(planned.place.inside("set", name), offset=None)
                problems.add(f"nothing on sheet {title!r} reads {name!r}", place, "delete it, or print it")


def _wanted(declared: Declared, sheet: str) -> tuple[tuple[str, Place], ...]:
    """Return the names of a sheet that views and charts read, its claims left out, each with its place."""
    claims = {claim.name for claim in declared.report.claims if claim.sheet == sheet}
    wanted = (*wanted_names(declared, sheet), *drawn_names(declared, sheet))
    return tuple((name, place) for name, place in wanted if name not in claims)


def _check_worksheet_names(
    declared: Declared,
    models: Models,
    axes: Mapping[str, tuple[Axis, ...]],
    homes: Mapping[str, str],
    problems: Problems,
) -> None:
    """Add problems for tables, lists and sheets of one name or a fixed one: all of them are worksheets."""
    taken = {name.casefold(): f"the sheet {name!r} of every workbook" for name in FIXED_SHEETS}
    named = [(name, f"table {name!r}", entry.place) for name, entry in models.tables.items()]
    named += [(name, f"sheet {name!r}", Place(declared.file, keys=("sheets", name))) for name in axes]
    named += [
        (axis.table, f"list {axis.table!r}", Place(declared.file, keys=("sheets", name, "set", axis.name)))
        for name, parts in axes.items()
        for axis in parts
        if axis.name != axis.table and axis.table not in homes
    ]
    for name, what, place in named:
        if name.casefold() in taken:
            problems.add(f"{what} has the name of {taken[name.casefold()]}", place, "rename it")
        if len(name) > MAX_TITLE:
            problems.add(f"{what} has {len(name)} characters, a worksheet's name has {MAX_TITLE}", place)
        taken[name.casefold()] = f"the {what}"
    if not declared.report.sheets:
        place = Place(declared.file, keys=("sheets",))
        problems.add("the report has no sheet", place, "declare [sheets.NAME]")


def _axes(
    name: str, sheet: Sheet, declared: Declared, models: Models, problems: Problems
) -> tuple[Axis, ...]:
    """Return the factors of a sheet's rows: the tables of `rows`, then the inputs `set` to lists."""
    found: list[Axis] = []
    for table, place in placed(sheet.rows, Place(declared.file, keys=("sheets", name, "rows"))):
        if table not in models.tables:
            problems.add(f"unknown table {table!r}", place, near(table, models.tables))
        elif any(axis.table == table for axis in found):
            problems.add(f"table {table!r} is an axis twice", place)
        else:
            found.append(Axis(table, table))
    for key, value in sheet.set.items():
        if isinstance(value, list) and _can_be_listed(key, models):
            found.append(Axis(key, f"{name}_{key}"))
    return tuple(found)


def _can_be_listed(name: str, models: Models) -> bool:
    """Whether a sheet can set `name` to a list of values: an input, or the one key of a lookup."""
    lookup = models.lookups.get(name)
    return name not in models.columns and (
        name in models.inputs or (lookup is not None and not lookup.value.by)
    )


def _sheets_of_tables(axes: Mapping[str, tuple[Axis, ...]], models: Models) -> dict[str, str]:
    """Return the ledger sheet of each table that is the only rows of one sheet and used nowhere else."""
    users: dict[str, list[str]] = {}
    for sheet, parts in axes.items():
        for axis in parts:
            users.setdefault(axis.table, []).append(sheet)
    return {
        table: sheets[0]
        for table, sheets in users.items()
        if len(sheets) == 1 and len(axes[sheets[0]]) == 1 and table not in models.looked_up()
    }


def _used(table: str, sheets: Mapping[str, PlannedSheet]) -> bool:
    """Whether a table gives rows to a sheet, or a field to one of its nodes."""
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
    """Return a field with the narrower of its own bounds and of `bounds`, None where neither has one."""
    low = [each for each in (field.minimum, bounds[0]) if each is not None]
    high = [each for each in (field.maximum, bounds[1]) if each is not None]
    return replace(field, minimum=max(low, default=None), maximum=min(high, default=None))
