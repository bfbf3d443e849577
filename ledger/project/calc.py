"""`calc`: the views that answer one question to a report, as text, CSV, JSON or Markdown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.book.render import EvaluatedReport, render_text
from ledger.declarations.model import listed
from ledger.display.answer import Answer
from ledger.errors import LedgerError, Place, Problem, near
from ledger.plan.plan import ID
from ledger.project.project import ProjectReport, worked_out
from ledger.project.question import AskedReport, Question, narrowed
from ledger.project.rows import file_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.evaluate.views import TabulatedView


def views_of(asked: AskedReport, form: str, *, sweep: bool) -> tuple[str, ...]:
    """Return the names of the views that answer in a form."""
    calc = asked.calc
    if sweep and not calc.sweep:
        raise LedgerError(Problem("the report declares no sweep", hint="[calc] sweep = 'VIEW'"))
    found = listed(calc.sweep if sweep else calc.csv if form == "csv" and calc.csv else calc.view)
    if not found:
        what = f"report {asked.declared.name!r} has no view, which would answer"
        raise LedgerError(Problem(what, Place(asked.declared.file), "declare [views.NAME]"))
    return found


def sheet_of(asked: AskedReport, view: str) -> str:
    """Return the name of the sheet that a view prints."""
    return asked.declared.report.views[view].sheet


def answering(
    asked: AskedReport, names: Sequence[str], texts: Mapping[str, Sequence[str]], rows: Path | None
) -> ProjectReport:
    """Return the views that answer a question alone, worked out with inputs and with the rows of a file.

    A claim that they do not print is about other rows, and a chart is not looked at.
    """
    views = {name: asked.declared.report.views[name] for name in names}
    printed = {
        (view.sheet, each if isinstance(each, str) else each.column)
        for view in views.values()
        for each in (*view.columns, view.down, view.across, view.cell)
    }
    claims = [each.name for each in asked.declared.report.claims if (each.sheet, each.name) in printed]
    sheets = dict.fromkeys(view.sheet for view in views.values())
    given = {} if rows is None else dict.fromkeys(sheets, file_rows(rows))
    return worked_out(narrowed(asked, sheets, views, claims, ()), Question(texts, given))


def answer(worked: EvaluatedReport, form: str) -> Answer:
    """Return the views of a report as text ("txt"), CSV, JSON or Markdown ("md")."""
    match form:
        case "json":
            rows = [_object(view) for view in worked.views]
            return Answer(json.dumps(rows, ensure_ascii=False, indent=2), found=False)
        case "csv":
            *others, last = worked.views
            talk = "\n".join(_text(worked, view, "txt") for view in others)
            return Answer(_text(worked, _without_ids(last), "csv"), found=False, talk=talk)
    return Answer("\n\n".join(_text(worked, view, form) for view in worked.views), found=False)


def _text(worked: EvaluatedReport, view: TabulatedView, form: str) -> str:
    return render_text(worked.press, view, form).rstrip("\n")


def _without_ids(view: TabulatedView) -> TabulatedView:
    """Return a view whose CSV holds what it prints, without the ids of rows that nobody named."""
    if not view.full_names or view.full_names[0] != ID or view.kind == "matrix":
        return view
    return replace(view, full_names=view.full_names[1:], full=tuple(row[1:] for row in view.full))


def _object(view: TabulatedView) -> dict[str, object]:
    """Return a view as JSON has it: its name, and each row by column with numbers where texts are such."""
    rows = [dict(zip(view.full_names, map(_scalar, row), strict=True)) for row in view.full]
    return {"view": view.name, "rows": rows}


def _scalar(text: str) -> float | int | str:
    """Return a number where a text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def check_options(asked: AskedReport, unknown: Sequence[str], fixed: Mapping[str, object]) -> None:
    """Raise every option that the report does not have, with its near miss."""
    names = [each.partition("=")[0] for each in unknown if each.startswith("--")]
    known = [f"--{name}" for name in (*asked.names, *fixed)]
    problems = [Problem(f"no option {name!r}", Place("calc"), near(name, known)) for name in names]
    if not problems and unknown:
        problems = [Problem(f"{unknown[0]!r} belongs to no option", Place("calc"))]
    if problems:
        raise LedgerError(*problems)
