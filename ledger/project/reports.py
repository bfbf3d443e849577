"""Reports worked out from their declarations and inputs, as far as anything can be printed of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.book.render import EvaluatedReport, Press, Templates
from ledger.declarations import scenario
from ledger.declarations.files import ProjectFiles
from ledger.declarations.project import packaged
from ledger.declarations.toml import Declared, chosen, load, located, project
from ledger.display.words import all_words
from ledger.errors import LedgerError, Problems
from ledger.evaluate.claims import check_known
from ledger.evaluate.evaluate import check_meant, evaluate
from ledger.evaluate.notes import COLUMNS, notes_on
from ledger.evaluate.views import tabulate
from ledger.plan.names import Settings
from ledger.plan.resolve import check_set, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ledger.declarations.csv import Csv
    from ledger.declarations.model import ProjectFile
    from ledger.declarations.scenario import Source
    from ledger.plan.plan import Plan, PlannedTable


def raise_located(problems: Problems, root: Path) -> None:
    """Raise every problem with the line and column of its place; return if there is none."""
    try:
        problems.raise_any()
    except LedgerError as error:
        raise located(error, root, project(ProjectFiles(root))) from None


def evaluated_reports(
    root: Path, names: Sequence[str], inputs: Mapping[str, str]
) -> tuple[EvaluatedReport, ...]:
    """Return the named reports worked out, all if none is named; every mistake is raised at once."""
    files, problems = ProjectFiles(root), Problems()
    where = project(files)
    found = evaluate_reports(files, where, chosen(files, where, names, problems), inputs, problems)
    raise_located(problems, root)
    return found


def evaluate_reports(
    files: ProjectFiles,
    where: ProjectFile,
    names: Sequence[str],
    inputs: Mapping[str, str],
    problems: Problems,
) -> tuple[EvaluatedReport, ...]:
    """Return every report as far as it could be worked out, after adding what is wrong to `problems`."""
    reports = load(files, where, names, problems)
    complete = not problems.found
    settings = Settings({name: (text,) for name, text in inputs.items()})
    found = tuple(evaluated_report(declared, settings, problems) for declared in reports)
    for each in () if inputs else found:
        check_as_declared(each, problems)
    if complete:
        settings.check_used(problems)
    return found


def check_as_declared(worked: EvaluatedReport, problems: Problems) -> None:
    """Add what is wrong with a report whose inputs are as declared: an input that nothing reads, a claim.

    With inputs set from outside, a claim may be meant for no row, and another input takes one's place.
    """
    if not problems.found:
        check_set(worked.declared, worked.plan, problems)
    check_meant(worked.plan, worked.result, problems)
    check_known(worked.plan, worked.result, problems)


def evaluated_report(
    declared: Declared, settings: Settings, problems: Problems, given: Mapping[str, Csv] | None = None
) -> EvaluatedReport:
    """Return one report as far as it could be worked out, after adding what is wrong to `problems`.

    `given` holds the rows of tables that have no file.
    """
    plan = _with_sources(resolve(declared, settings, problems), given or {})
    scenarios, notes, content = {}, {}, declared.files.content
    for name, table in plan.tables.items():
        if table.source and (rows := _rows(table, table.source, given or {}, content, problems)):
            scenarios[name] = rows
    result = evaluate(plan, scenarios, problems)
    for name, table in plan.tables.items():
        if (
            table.notes
            and name in result.tables
            and (rows := scenario.read(table.notes, COLUMNS, problems, content))
        ):
            notes[name] = notes_on(table, result.tables[name], rows, problems)
    result = replace(result, notes=notes)
    folder = declared.root / declared.project.templates
    templates = Templates((folder, packaged("templates")), declared.project.templates, declared.files)
    press = Press(plan, all_words(plan.language), templates)
    return EvaluatedReport(declared, plan, result, tabulate(plan, result, problems), press)


def _with_sources(plan: Plan, given: Mapping[str, Csv]) -> Plan:
    """Return a plan whose tables have the names of what is given in place of their files."""
    tables = {
        name: replace(table, source=replace(table.source, name=given[name].name))
        if name in given and table.source
        else table
        for name, table in plan.tables.items()
    }
    return replace(plan, tables=tables)


def _rows(
    table: PlannedTable,
    source: Source,
    given: Mapping[str, Csv],
    content: Callable[[Path], bytes],
    problems: Problems,
) -> scenario.Scenario | None:
    """Return the rows of a table, those that are given before those of its file."""
    if table.name in given:
        return scenario.rows_of(source, given[table.name], table.typed, problems)
    return scenario.read(source, table.typed, problems, content)
