"""`calc`: one question put to a report, which is changed so that its views answer it, and these printed."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.book.render import EvaluatedReport, render_text
from ledger.declarations.model import Calc, Claim, Scalar, Sheet, Table, TableField, View, listed
from ledger.declarations.scenario import NUMBERED
from ledger.declarations.toml import Declared, load
from ledger.display.answer import Answer
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.plan.names import Models, Settings, gather
from ledger.plan.plan import ID
from ledger.project.reports import evaluated_report, raise_located

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ledger.evaluate.views import TabulatedView


_ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a report: one text or several for each option, a CSV of rows, the views that answer."""

    options: Mapping[str, Sequence[str]]
    views: tuple[str, ...]
    rows: Path | None = None


@dataclass(frozen=True, slots=True)
class AskedReport:
    """A report to which a question is put: each of its options with the inputs that the option may set.

    These are all its inputs by their own names, and the names that it declares.
    """

    declared: Declared
    names: Mapping[str, tuple[str, ...]]
    calc: Calc
    library: Models


def asked_report(root: Path, report: str) -> AskedReport:
    """Return a report with its options; raise every mistake in its declarations."""
    problems = Problems()
    found = load(root, [report], problems)
    raise_located(problems, root)
    (declared,) = found
    library = gather(declared, problems)
    raise_located(problems, root)
    calc = declared.report.calc or Calc(next(iter(declared.report.views), ""))
    lookups = {name for name, lookup in library.lookups.items() if lookup.value.by}
    names: dict[str, tuple[str, ...]] = {
        spelled(name): (name,) for name in library.settable() if name not in lookups
    }
    names |= {spelled(option): listed(inputs) for option, inputs in calc.options.items()}
    return AskedReport(declared, names, calc, library)


def spelled(name: str) -> str:
    """Return a name as an option spells it.

    >>> spelled("net_M")
    'net-m'
    """
    return name.replace("_", "-").lower()


def answered(asked: AskedReport, question: Question) -> EvaluatedReport:
    """Return the report worked out with what the question sets; raise every mistake."""
    problems = Problems()
    declared, report = asked.declared, asked.declared.report
    settings, lists = _set(asked, question.options)
    table = None if question.rows is None else _table(question.rows, asked)
    sheets = {
        name: _changed(report.sheets[name], lists, table, asked.library)
        for name in dict.fromkeys(report.views[view].sheet for view in question.views)
    }
    views = {name: _open(report.views[name], sheets) for name in question.views}
    changed = replace(
        report,
        sheets={name: sheets[name] for name in report.sheets if name in sheets},
        views=views,
        claims=_printed_claims(report.claims, views),
        charts={},
        calc=None,
        tables=report.tables if table is None else {**report.tables, _ROWS: table},
    )
    models = (*declared.models[:-1], (declared.file, changed))
    found = evaluated_report(replace(declared, report=changed, models=models), settings, problems)
    raise_located(problems, declared.root)
    settings.check_used(problems)
    raise_located(problems, declared.root)
    return found


def _set(
    asked: AskedReport, options: Mapping[str, Sequence[str]]
) -> tuple[Settings, dict[str, list[Scalar]]]:
    """Return the inputs that options set, and those of them that have several values."""
    inputs = {_input(asked, option, texts): option for option, texts in options.items()}
    texts_of = {name: tuple(options[option]) for name, option in inputs.items()}
    settings = Settings(texts_of, {name: f"--{option}" for name, option in inputs.items()})
    # The list itself is read from the settings; here it only makes the rows.
    return settings, {name: list(texts) for name, texts in texts_of.items() if len(texts) > 1}


def _input(asked: AskedReport, option: str, texts: Sequence[str]) -> str:
    """Return the input that an option sets: the first whose kind takes the option's texts."""
    names = asked.names[option]
    for name in names:
        entry = asked.library.inputs.get(name)
        if entry is None or entry.value.kind == "text" or all(map(_is_number, texts)):
            return name
    return names[0]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _changed(sheet: Sheet, lists: Mapping[str, list[Scalar]], table: Table | None, library: Models) -> Sheet:
    """Return a sheet with the rows that the question asks for; what the rows' tables give is not set."""
    tables = [library.tables[name].value for name in listed(sheet.rows) if name in library.tables]
    lists = {name: items for name, items in lists.items() if not any(name in each.fields for each in tables)}
    if table is None:
        return replace(sheet, set={**sheet.set, **lists})
    kept = {name: value for name, value in sheet.set.items() if name not in table.fields}
    return replace(sheet, rows=[_ROWS], set={**kept, **lists})


def _printed_claims(claims: list[Claim], views: Mapping[str, View]) -> list[Claim]:
    """Return the claims that views print: the others are about rows that are not asked for."""
    printed = {
        (view.sheet, each if isinstance(each, str) else each.column)
        for view in views.values()
        for each in (*view.columns, view.down, view.across, view.cell)
    }
    return [claim for claim in claims if (claim.sheet, claim.name) in printed]


def _open(view: View, sheets: Mapping[str, Sheet]) -> View:
    """Return a view that fits its sheet: the record of a sheet that got rows is a table."""
    sheet = sheets[view.sheet]
    has_rows = bool(sheet.rows) or any(isinstance(value, list) for value in sheet.set.values())
    if view.kind != "record" or view.row or not has_rows:
        return view
    return replace(view, kind="table", template=[])


def _table(path: Path, asked: AskedReport) -> Table:
    """Return a table over a CSV file: its columns that are inputs, by their own or by a declared name."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = [cell.strip() for cell in next(csv.reader(file), [])]
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(Problem(f"cannot be read: {error}", Place(str(path)))) from None
    by_name = {name.lower(): name for name in (*asked.library.inputs, *asked.library.lookups)}
    aliases = {option: names[0] for option, names in asked.names.items()}
    fields: dict[str, TableField] = {}
    for column in header:
        name = by_name.get(column.lower()) or aliases.get(spelled(column))
        entry = asked.library.inputs.get(name or "")
        if name is not None and name not in fields:
            kind, unit = (entry.value.kind, entry.value.unit) if entry else ("text", "")
            fields[name] = TableField(kind=kind, unit=unit, column=column)
    if not fields:
        hint = f"name columns after inputs: {', '.join(sorted(by_name.values()))}"
        raise LedgerError(Problem("no column of the file is an input", Place(path.name, 1), hint))
    return Table(fields, path=str(path.absolute()), key="id" if "id" in header else NUMBERED[0])


def views_of(asked: AskedReport, form: str, *, sweep: bool) -> tuple[str, ...]:
    """Return the names of the views that answer in a form."""
    calc = asked.calc
    if sweep and not calc.sweep:
        raise LedgerError(Problem("the report declares no sweep", hint="[calc] sweep = 'VIEW'"))
    return listed(calc.sweep if sweep else calc.csv if form == "csv" and calc.csv else calc.view)


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
