"""Reports from their declarations to the bytes of every output."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import Problems
from ledger.given import Settings
from ledger.render import render
from ledger.root import PROJECT_FILE
from ledger.work import raise_located, work_out
from ledger.workbook.write import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.findings import Finding
    from ledger.work import Worked


_DIGITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A report's outputs by file name, what a reader should know of its values, and where they come from."""

    name: str
    files: Mapping[str, bytes]
    findings: tuple[Finding, ...]
    worked: Worked


def build(root: Path, names: Sequence[str], given: Mapping[str, str]) -> tuple[Built, ...]:
    """Return every output of the named reports, of all if none is named.

    Nothing is written; every mistake of every report is raised at once, with line and column.
    """
    problems = Problems()
    found = []
    for worked in work_out(root, names, Settings({name: (text,) for name, text in given.items()}), problems):
        before = len(problems.found)
        texts = render(worked.press, worked.views, problems)
        if len(problems.found) == before:
            files = {name: text.encode() for name, text in texts.items()}
            workbook = f"{worked.plan.name}.xlsx"
            files[workbook] = b"" if problems.found else write(worked.plan, worked.result, origins(worked))
            found.append(Built(worked.plan.name, files, worked.result.findings, worked))
    raise_located(problems, root)
    return tuple(found)


def origins(worked: Worked) -> dict[str, str]:
    """Return a hash of what each declaration says and of each template that was used, for the record."""
    templates = worked.press.templates
    said = {file: repr(model) for file, model in worked.declared.models}
    said[PROJECT_FILE] = worked.plan.language
    said |= {f"{templates.name}/{name}": text.replace("\r\n", "\n") for name, text in templates.used.items()}
    return {name: hashlib.sha256(said[name].encode()).hexdigest()[:_DIGITS] for name in sorted(said)}
