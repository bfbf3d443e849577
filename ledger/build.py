"""Reports from their declarations to the bytes of every output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import scenario
from ledger.declarations import load, located, packaged, project
from ledger.errors import LedgerError, Problems
from ledger.evaluate import evaluate
from ledger.render import Press, Templates, render
from ledger.resolve import resolve
from ledger.views import tabulate
from ledger.words import all_said
from ledger.workbook import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.declarations import Declared
    from ledger.findings import Finding


@dataclass(frozen=True, slots=True)
class Built:
    """A report's outputs by file name, and what a reader should know of its values."""

    name: str
    files: Mapping[str, bytes]
    findings: tuple[Finding, ...]


def build(root: Path, names: Sequence[str], given: Mapping[str, str]) -> tuple[Built, ...]:
    """Return every output of the named reports, of all if none is named.

    Nothing is written; every mistake of every report is raised at once, with line and column.
    """
    problems = Problems()
    found: list[Built] = []
    try:
        for declared in load(root, names):
            found += _built(declared, given, problems)
    except LedgerError as error:
        problems.extend(error)
    try:
        problems.raise_any()
    except LedgerError as error:
        raise located(error, root, project(root)) from None
    return tuple(found)


def _built(declared: Declared, given: Mapping[str, str], problems: Problems) -> list[Built]:
    """Return the outputs of one report; none if anything is wrong with it."""
    before = len(problems.found)
    plan = resolve(declared, given, problems)
    scenarios = {}
    for name, table in plan.tables.items():
        rows = scenario.read(table.source, table.typed, problems) if table.source else None
        if rows is not None:
            scenarios[name] = rows
    result = evaluate(plan, scenarios, problems)
    folder = declared.root / declared.project.templates
    templates = Templates((folder, packaged("templates")), declared.project.templates)
    press = Press(plan, all_said(plan.language), templates)
    texts = render(press, tabulate(plan, result, problems), problems)
    if len(problems.found) > before:
        return []
    files = {name: text.encode() for name, text in texts.items()}
    files[f"{plan.name}.xlsx"] = write(plan, result)
    return [Built(plan.name, files, result.findings)]
