"""`calc`: the views that answer one question to a report, as text, CSV, JSON or Markdown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.book.render import EvaluatedReport, render_text
from ledger.declarations import model
from ledger.display.answer import Answer, json_text, number
from ledger.errors import LedgerError, Place, Problem, listed, near
from ledger.plan.plan import ID
from ledger.project.project import ProjectReport, worked_out
from ledger.project.question import AskedReport, Question, printing
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
    found = model.listed(calc.sweep if sweep else calc.csv if form == "csv" and calc.csv else calc.view)
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
    """Return the views that answer a question alone, worked out with inputs and with the rows of a file."""
    found = printing(asked, names)
    given = {} if rows is None else dict.fromkeys(found.declared.report.sheets, file_rows(rows))
    return worked_out(found, Question(texts, given))


def answer(worked: EvaluatedReport, form: str) -> Answer:
    """Return the views of a report as text ("txt"), CSV, JSON or Markdown ("md")."""
    match form:
        case "json":
            views = [_object(view) for view in worked.views]
            return Answer(json_text({"report": worked.plan.name, "views": views}), found=False)
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
    """Return a view as JSON has it: its name, each row by column; what is a number is up to the column."""
    if view.kind == "matrix":
        kinds = [False, *(each.numeric for each in view.headings[1:])]
    else:
        kinds = [False] * (len(view.full_names) - len(view.headings))  # the id
        kinds += [each.numeric for each in view.headings]
    rows = [
        {
            name: number(text) if is_number else text
            for name, text, is_number in zip(view.full_names, row, kinds, strict=True)
        }
        for row in view.full
    ]
    return {"view": view.name, "rows": rows}


def check_options(asked: AskedReport, known: Sequence[str], unknown: Sequence[str]) -> None:
    """Raise every option that the report does not have, or that its answer does not depend on."""
    names = [each.partition("=")[0] for each in unknown if each.startswith("--")]
    problems = [_unknown_option(name, asked, known) for name in names]
    if not problems and unknown:
        problems = [Problem(f"{unknown[0]!r} belongs to no option", Place("calc"))]
    if problems:
        raise LedgerError(*problems)


def _unknown_option(name: str, asked: AskedReport, known: Sequence[str]) -> Problem:
    """Return the problem of an option that cannot be given."""
    if name.removeprefix("--") not in asked.names:
        return Problem(f"no option {name!r}", Place("calc"), near(name, known))
    inputs = " or ".join(map(repr, asked.names[name.removeprefix("--")]))
    return Problem(f"the answer does not depend on {inputs}", Place(name), listed(known))
