"""Reports from their declarations to the bytes of every output."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import scenario
from ledger.declarations import load, located, project
from ledger.errors import LedgerError, Problems
from ledger.evaluate import Result, evaluate
from ledger.given import Settings
from ledger.packaged import packaged
from ledger.render import Press, Templates, render
from ledger.resolve import resolve
from ledger.views import View, tabulate
from ledger.words import all_said
from ledger.workbook import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.declarations import Declared
    from ledger.findings import Finding
    from ledger.plan import Plan


_DIGITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Worked:
    """A report with everything known of it that its outputs are made from."""

    declared: Declared
    plan: Plan
    result: Result
    views: tuple[View, ...]
    press: Press


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A report's outputs by file name, what a reader should know of its values, and where they come from."""

    name: str
    files: Mapping[str, bytes]
    findings: tuple[Finding, ...]
    worked: Worked


def work(root: Path, names: Sequence[str], given: Mapping[str, str]) -> tuple[Worked, ...]:
    """Return the named reports worked out, all if none is named; every mistake is raised at once."""
    problems = Problems()
    found = _work(root, names, Settings(given), problems)
    _raise_located(problems, root)
    return found


def build(root: Path, names: Sequence[str], given: Mapping[str, str]) -> tuple[Built, ...]:
    """Return every output of the named reports, of all if none is named.

    Nothing is written; every mistake of every report is raised at once, with line and column.
    """
    problems = Problems()
    found = []
    for worked in _work(root, names, Settings(given), problems):
        before = len(problems.found)
        texts = render(worked.press, worked.views, problems)
        if len(problems.found) == before:
            files = {name: text.encode() for name, text in texts.items()}
            workbook = f"{worked.plan.name}.xlsx"
            files[workbook] = b"" if problems.found else write(worked.plan, worked.result, origins(worked))
            found.append(Built(worked.plan.name, files, worked.result.findings, worked))
    _raise_located(problems, root)
    return tuple(found)


def origins(worked: Worked) -> dict[str, str]:
    """Return a hash of what each declaration says and of each template that was used, for the record."""
    templates = worked.press.templates
    said = {file: repr(model) for file, model in worked.declared.models}
    said |= {f"{templates.name}/{name}": text.replace("\r\n", "\n") for name, text in templates.used.items()}
    return {name: hashlib.sha256(said[name].encode()).hexdigest()[:_DIGITS] for name in sorted(said)}


def _press(declared: Declared, plan: Plan) -> Press:
    """Return what the views of a report are rendered with."""
    folder = declared.root / declared.project.templates
    templates = Templates((folder, packaged("templates")), declared.project.templates)
    return Press(plan, all_said(plan.language), templates)


def _raise_located(problems: Problems, root: Path) -> None:
    try:
        problems.raise_any()
    except LedgerError as error:
        raise located(error, root, project(root)) from None


def _work(root: Path, names: Sequence[str], settings: Settings, problems: Problems) -> tuple[Worked, ...]:
    """Return every report as far as it could be worked out, after telling what is wrong."""
    reports = load(root, names, problems)
    complete = not problems.found
    found = tuple(_worked(declared, settings, problems) for declared in reports)
    if complete:
        settings.check_used(problems)
    return found


def _worked(declared: Declared, settings: Settings, problems: Problems) -> Worked:
    plan = resolve(declared, settings, problems)
    scenarios = {}
    for name, table in plan.tables.items():
        rows = scenario.read(table.source, table.typed, problems) if table.source else None
        if rows is not None:
            scenarios[name] = rows
    result = evaluate(plan, scenarios, problems)
    return Worked(declared, plan, result, tabulate(plan, result, problems), _press(declared, plan))
