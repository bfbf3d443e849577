"""The answer to one question: a report changed so that its views answer it, and these printed."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.book.render import EvaluatedReport, render_text
from ledger.declarations.model import Calc, Claim, Scalar, Sheet, Table, TableField, View, listed
from ledger.declarations.scenario import NUMBERED
from ledger.declarations.toml import Declared, load
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
    """What is asked: a text or several for each option, and a CSV of rows; `views` name what answers."""

    options: Mapping[str, Sequence[str]]
    views: tuple[str, ...]
    rows: Path | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What can be asked of a report: each option with the inputs that it may stand for."""

    names: Mapping[str, tuple[str, ...]]
    calc: Calc
    library: Models


def options_of(declared: Declared, problems: Problems) -> Options:
    """Return the options of a report: all its inputs by their own names, and the names it declares."""
    library = gather(declared, problems)
    own = [name for name in library.settable() if not _leads(library, name)]
    names: dict[str, tuple[str, ...]] = {spelled(name): (name,) for name in own}
    calc = declared.report.calc or Calc(next(iter(declared.report.views), ""))
    names |= {spelled(option): listed(inputs) for option, inputs in calc.options.items()}
    return Options(names, calc, library)


def _leads(library: Models, name: str) -> bool:
    return name in library.lookups and bool(library.lookups[name].value.by)


def spelled(name: str) -> str:
    """Return a name as an option spells it.

    >>> spelled("net_M")
    'net-m'
    """
    return name.replace("_", "-").lower()


def answered(declared: Declared, options: Options, question: Question) -> EvaluatedReport:
    """Return the report worked out with what the question sets; raise every mistake."""
    problems = Problems()
    report = declared.report
    sheets = {report.views[name].sheet for name in question.views}
    given, lists = _set(options, question.options)
    table = None if question.rows is None else _table(question.rows, options)
    changed = {
        name: _changed(sheet, _free(sheet, lists, options.library), table)
        for name, sheet in report.sheets.items()
        if name in sheets
    }
    views = {name: _open(report.views[name], changed) for name in question.views}
    claims = _printed_claims(report.claims, views)
    asked = replace(report, sheets=changed, views=views, claims=claims, charts={}, calc=None)
    if table is not None:
        asked = replace(asked, tables={**report.tables, _ROWS: table})
    models = (*declared.models[:-1], (declared.file, asked))
    found = evaluated_report(replace(declared, report=asked, models=models), given, problems)
    raise_located(problems, declared.root)
    given.check_used(problems)
    raise_located(problems, declared.root)
    return found


def _set(options: Options, asked: Mapping[str, Sequence[str]]) -> tuple[Settings, dict[str, list[Scalar]]]:
    """Return the inputs that options set, and those of them that have several values."""
    given, spelling = {}, {}
    for option, texts in asked.items():
        name = _meant(options, option, texts)
        given[name], spelling[name] = tuple(texts), f"--{option}"
    # The list itself is read from what is given; here it only makes the rows.
    return Settings(given, spelling), {name: list(texts) for name, texts in given.items() if len(texts) > 1}


def _meant(options: Options, option: str, texts: Sequence[str]) -> str:
    """Return the input that an option stands for: the first whose kind takes its texts."""
    names = options.names[option]
    for name in names:
        entry = options.library.inputs.get(name)
        if entry is None or entry.value.kind == "text" or all(map(_is_number, texts)):
            return name
    return names[0]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _free(sheet: Sheet, lists: Mapping[str, list[Scalar]], library: Models) -> dict[str, list[Scalar]]:
    """Return the lists that a sheet can take: its rows give the other names."""
    tables = [library.tables[name].value for name in listed(sheet.rows) if name in library.tables]
    return {name: items for name, items in lists.items() if not any(name in table.fields for table in tables)}


def _changed(sheet: Sheet, lists: Mapping[str, list[Scalar]], table: Table | None) -> Sheet:
    """Return a sheet with the rows that the question asks for; what its file gives is not set."""
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


def _table(path: Path, options: Options) -> Table:
    """Return a table over a CSV file: its columns that are inputs, by their own or by a declared name."""
    header = _header(path)
    by_name = {name.lower(): name for name in (*options.library.inputs, *options.library.lookups)}
    aliases = {option: names[0] for option, names in options.names.items()}
    fields: dict[str, TableField] = {}
    for column in header:
        name = by_name.get(column.lower()) or aliases.get(spelled(column))
        entry = options.library.inputs.get(name or "")
        if name is not None and name not in fields:
            kind, unit = (entry.value.kind, entry.value.unit) if entry else ("text", "")
            fields[name] = TableField(kind=kind, unit=unit, column=column)
    if not fields:
        hint = f"name columns after inputs: {', '.join(sorted(by_name.values()))}"
        raise LedgerError(Problem("no column of the file is an input", Place(path.name, 1), hint))
    return Table(fields, path=str(path.absolute()), key="id" if "id" in header else NUMBERED[0])


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [cell.strip() for cell in next(csv.reader(file), [])]
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(Problem(f"cannot be read: {error}", Place(str(path)))) from None


#: What an answer can be printed as.
TEXT, CSV, JSON, MARKDOWN = "txt", "csv", "json", "md"


@dataclass(frozen=True, slots=True)
class AskedReport:
    """A report that is asked something, and the options that it has."""

    declared: Declared
    options: Options


@dataclass(frozen=True, slots=True)
class CalcAnswer:
    """What is printed as data, what is talk beside it, and what it was worked out from."""

    data: str
    talk: str
    worked: EvaluatedReport


def asked(root: Path, report: str) -> AskedReport:
    """Return a report with its options; raise every mistake in its declarations."""
    problems = Problems()
    found = load(root, [report], problems)
    raise_located(problems, root)
    options = options_of(found[0], problems)
    raise_located(problems, root)
    return AskedReport(found[0], options)


def views_of(options: Options, form: str, *, sweep: bool) -> tuple[str, ...]:
    """Return the names of the views that answer in a form."""
    calc = options.calc
    if sweep:
        if not calc.sweep:
            raise LedgerError(Problem("the report declares no sweep", hint="[calc] sweep = 'VIEW'"))
        return listed(calc.sweep)
    return listed(calc.csv) if form == CSV and calc.csv else listed(calc.view)


def answer(what: AskedReport, question: Question, form: str) -> CalcAnswer:
    """Return the answer to a question as text, CSV, JSON or Markdown."""
    worked = answered(what.declared, what.options, question)
    by_name = {view.name: view for view in worked.views}
    views = [by_name[name] for name in question.views]
    if form == JSON:
        return CalcAnswer(
            json.dumps([_object(view) for view in views], ensure_ascii=False, indent=2), "", worked
        )
    if form == CSV:
        talk = "\n".join(_texts(worked, views[:-1], TEXT))
        return CalcAnswer(_texts(worked, [_without_ids(views[-1])], CSV)[0], talk, worked)
    return CalcAnswer("\n\n".join(_texts(worked, views, form)), "", worked)


def _texts(worked: EvaluatedReport, views: Sequence[TabulatedView], form: str) -> list[str]:
    return [render_text(worked.press, view, form).rstrip("\n") for view in views]


def _without_ids(view: TabulatedView) -> TabulatedView:
    """Return a view whose CSV holds what it prints, without the ids of rows that nobody named."""
    if not view.full_names or view.full_names[0] != ID or view.kind == "matrix":
        return view
    return replace(view, full_names=view.full_names[1:], full=tuple(row[1:] for row in view.full))


def _object(view: TabulatedView) -> dict[str, object]:
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
