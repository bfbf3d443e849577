"""The answer to one question: the views of a report that print it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations import load
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.model import listed
from ledger.plan import ID
from ledger.question import Options, Question, answered, options_of
from ledger.render import render_text
from ledger.work import raise_located

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.declarations import Declared
    from ledger.views import View
    from ledger.work import Worked

#: What an answer can be printed as.
TEXT, CSV, JSON, MARKDOWN = "txt", "csv", "json", "md"


@dataclass(frozen=True, slots=True)
class Asked:
    """A report that is asked something, and the options that it has."""

    declared: Declared
    options: Options


@dataclass(frozen=True, slots=True)
class Answer:
    """What is printed as data, what is talk beside it, and what it was worked out from."""

    data: str
    talk: str
    worked: Worked


def asked(root: Path, report: str) -> Asked:
    """Return a report with its options; raise every mistake in its declarations."""
    problems = Problems()
    found = load(root, [report], problems)
    raise_located(problems, root)
    options = options_of(found[0], problems)
    raise_located(problems, root)
    return Asked(found[0], options)


def views_of(options: Options, form: str, *, sweep: bool) -> tuple[str, ...]:
    """Return the names of the views that answer in a form."""
    calc = options.calc
    if sweep:
        if not calc.sweep:
            raise LedgerError(Problem("the report declares no sweep", hint="[calc] sweep = 'VIEW'"))
        return listed(calc.sweep)
    return listed(calc.csv) if form == CSV and calc.csv else listed(calc.view)


def answer(what: Asked, question: Question, form: str) -> Answer:
    """Return the answer to a question as text, CSV, JSON or Markdown."""
    worked = answered(what.declared, what.options, question)
    by_name = {view.name: view for view in worked.views}
    views = [by_name[name] for name in question.views]
    if form == JSON:
        return Answer(json.dumps([_object(view) for view in views], ensure_ascii=False, indent=2), "", worked)
    if form == CSV:
        talk = "\n".join(_texts(worked, views[:-1], TEXT))
        return Answer(_texts(worked, [_without_ids(views[-1])], CSV)[0], talk, worked)
    return Answer("\n\n".join(_texts(worked, views, form)), "", worked)


def _texts(worked: Worked, views: Sequence[View], form: str) -> list[str]:
    return [render_text(worked.press, view, form).rstrip("\n") for view in views]


def _without_ids(view: View) -> View:
    """Return a view whose CSV holds what it prints, without the ids of rows that nobody named."""
    if not view.full_names or view.full_names[0] != ID or view.kind == "matrix":
        return view
    return replace(view, full_names=view.full_names[1:], full=tuple(row[1:] for row in view.full))


def _object(view: View) -> dict[str, object]:
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


def check_options(options: Options, unknown: Sequence[str], fixed: Mapping[str, object]) -> None:
    """Raise every option that the report does not have, with its near miss."""
    names = [each.partition("=")[0] for each in unknown if each.startswith("--")]
    known = [f"--{name}" for name in (*options.names, *fixed)]
    problems = [Problem(f"no option {name!r}", Place("calc"), near(name, known)) for name in names]
    if not problems and unknown:
        problems = [Problem(f"{unknown[0]!r} belongs to no option", Place("calc"))]
    if problems:
        raise LedgerError(*problems)
