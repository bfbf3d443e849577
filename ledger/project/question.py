"""A question to a report: inputs set from outside, rows given in place of a sheet's own; and its answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from ledger.declarations.files import ProjectFiles
from ledger.declarations.model import Calc, Scalar, Sheet, View, ViewColumn, listed
from ledger.declarations.toml import Declared, chosen, load, project
from ledger.errors import Place, Problems, near
from ledger.plan.names import Models, Settings, gather
from ledger.plan.resolve import resolve
from ledger.project.reports import check_as_declared, evaluated_report, raise_located
from ledger.project.rows import GivenRows, RowNames, check_headers, given_table, matched, row_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ledger.book.render import EvaluatedReport
    from ledger.declarations.csv import Csv
    from ledger.declarations.model import Chart, Table


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked of a report: one text or several for each option, rows for some of its sheets.

    `says` makes the place of a mistake in an option of its name.
    """

    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rows: Mapping[str, GivenRows] = field(default_factory=dict)
    says: str = "--{}"


@dataclass(frozen=True, slots=True)
class AskedReport:
    """A report to which a question is put: each of its options with the inputs that the option may set.

    These are all its inputs by their own names, and the names that it declares.  `declared` may have some of
    its sheets alone, `whole` is the report as its file has it.
    """

    declared: Declared
    whole: Declared
    names: Mapping[str, tuple[str, ...]]
    calc: Calc
    library: Models


def asked_report(root: Path, report: str) -> AskedReport:
    """Return a report with its options; raise every mistake in its declarations."""
    files, problems = ProjectFiles(root), Problems()
    where = project(files)
    found = load(files, where, chosen(files, where, [report], problems), problems)
    raise_located(problems, root)
    (declared,) = found
    library = gather(declared, problems)
    raise_located(problems, root)
    calc = declared.report.calc or Calc(list(declared.report.views)[:1])
    lookups = {name for name, lookup in library.lookups.items() if lookup.value.by}
    names: dict[str, tuple[str, ...]] = {
        spelled(name): (name,) for name in library.settable() if name not in lookups
    }
    names |= {spelled(option): listed(inputs) for option, inputs in calc.options.items()}
    return AskedReport(declared, declared, names, calc, library)


def spelled(name: str) -> str:
    """Return a name as an option spells it.

    >>> spelled("net_M")
    'net-m'
    """
    return name.replace("_", "-").lower()


def narrowed(
    asked: AskedReport,
    sheets: Iterable[str],
    views: Iterable[str],
    claims: Iterable[str],
    charts: Iterable[str],
) -> AskedReport:
    """Return a report with the named sheets, views, claims and charts alone."""
    report, kept, claimed = asked.declared.report, set(sheets), set(claims)
    changed = replace(
        report,
        sheets={name: sheet for name, sheet in report.sheets.items() if name in kept},
        views={name: report.views[name] for name in views},
        claims=[claim for claim in report.claims if claim.name in claimed],
        charts={name: report.charts[name] for name in charts},
        calc=None,  # it may name a view that is left out
    )
    declared = asked.declared
    models = (*declared.models[:-1], (declared.file, changed))
    return replace(asked, declared=replace(declared, report=changed, models=models))


def on_sheet(asked: AskedReport, sheet: str) -> AskedReport:
    """Return a report with one of its sheets alone, and what is declared of it."""
    report = asked.declared.report
    return narrowed(
        asked,
        (sheet,),
        [name for name, view in report.views.items() if view.sheet == sheet],
        [claim.name for claim in report.claims if claim.sheet == sheet],
        [name for name, chart in report.charts.items() if chart.sheet == sheet],
    )


def answered(asked: AskedReport, question: Question) -> EvaluatedReport:
    """Return the report worked out with what the question sets and gives; raise every mistake."""
    declared, problems = asked.declared, Problems()
    settings = _settings(asked, question)
    lists: dict[str, list[Scalar]] = {
        name: list(texts) for name, texts in settings.given.items() if len(texts) > 1
    }
    given: Mapping[str, Csv] = {}
    if lists or question.rows:
        declared, given = _changed(asked, question, lists)
    found = evaluated_report(declared, settings, problems, given)
    raise_located(problems, declared.root)
    settings.check_used(problems)
    if asked.declared is asked.whole and not question.options and not question.rows:
        check_as_declared(found, problems)
    raise_located(problems, declared.root)
    return found


def asking(asked: AskedReport, question: Question, texts: Mapping[str, Sequence[str]]) -> Question:
    """Return a question that sets more inputs, by their names or by those of options; raise unknown ones.

    What sets one of them already gives way.
    """
    problems = Problems()
    names = (*(name for inputs in asked.names.values() for name in inputs), *asked.calc.options)
    for name in texts:
        if spelled(name) not in asked.names:
            what = f"report {asked.declared.name!r} has no input {name!r}"
            problems.add(what, hint=near(name, names))
    problems.raise_any()
    set_now = {name for option in texts for name in asked.names[spelled(option)]}
    kept = {
        option: each
        for option, each in question.options.items()
        if not set_now.intersection(asked.names[spelled(option)])
    }
    return replace(question, options={**kept, **texts})


def giving(
    asked: AskedReport, question: Question, sheet: str, rows: GivenRows
) -> tuple[AskedReport, Question]:
    """Return a report with one sheet alone, and the question that gives it rows beside its other inputs."""
    nodes = resolve(asked.whole, Settings({}), Problems()).sheets[sheet].nodes
    options = {
        option: texts
        for option, texts in question.options.items()
        if nodes.keys() & {*asked.names[spelled(option)]}
    }
    return on_sheet(asked, sheet), replace(question, options=options, rows={sheet: rows})


def _settings(asked: AskedReport, question: Question) -> Settings:
    """Return the inputs that options set; raise those that two options set."""
    options: dict[str, str] = {}
    problems = Problems()
    for option, texts in question.options.items():
        name = _input(asked, option, texts)
        place = Place(question.says.format(option))
        if name in options:
            first = question.says.format(options[name])
            problems.add(f"{first} sets {name!r}, too", place, "leave one of them out")
        options[name] = option
    problems.raise_any()
    places = {name: question.says.format(option) for name, option in options.items()}
    return Settings({name: tuple(question.options[option]) for name, option in options.items()}, places)


def _input(asked: AskedReport, option: str, texts: Sequence[str]) -> str:
    """Return the input that an option sets: the first whose kind takes the option's texts."""
    names = asked.names[spelled(option)]
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


def _changed(
    asked: AskedReport, question: Question, lists: Mapping[str, list[Scalar]]
) -> tuple[Declared, dict[str, Csv]]:
    """Return the report with the rows that the question asks for, and the CSV of each table that is given."""
    problems = Problems()
    # As declared it tells which names each sheet has.
    planned = resolve(asked.whole, Settings({}), Problems()).sheets
    names = {name: row_names(planned[name], asked.library) for name in asked.declared.report.sheets}
    by_name = _matched(asked, question, names, problems)
    changes = _Changes(asked, names, by_name, lists, problems)
    for name, sheet in asked.declared.report.sheets.items():
        changes.add(name, sheet, question.rows.get(name))
    problems.raise_any()
    return changes.declared(), changes.given


@dataclass(slots=True, eq=False)
class _Changes:
    """The sheets, charts and tables of a report as a question changes them, sheet by sheet.

    `names` holds what rows give each sheet, `by_name` the header of each name in the rows that are given,
    `lists` the inputs that have several values; `varied` collects the sheets in which more varies by row.
    """

    asked: AskedReport
    names: Mapping[str, RowNames]
    by_name: Mapping[str, Mapping[str, str]]
    lists: Mapping[str, list[Scalar]]
    problems: Problems
    sheets: dict[str, Sheet] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    given: dict[str, Csv] = field(default_factory=dict)
    varied: set[str] = field(default_factory=set)

    def add(self, name: str, sheet: Sheet, rows: GivenRows | None) -> None:
        """Add a sheet with the inputs that it has several values of, and with its rows if some are given."""
        inputs = self.names[name].inputs
        several = {key: each for key, each in self.lists.items() if key in sheet.set or key in inputs}
        found = replace(sheet, set={**sheet.set, **several})
        vary = {key for key in several if not isinstance(sheet.set.get(key), list)}
        if rows is not None:
            table, by_name = self._table(sheet), self.by_name[name]
            self.tables[table] = given_table(
                rows, self.names[name], by_name, self.asked.library.atoms, self.problems
            )
            self.given[table] = rows.csv
            kept = {key: value for key, value in found.set.items() if key not in by_name}
            found = replace(found, rows=[table], set=kept)
            vary |= inputs.keys() & by_name.keys()
        self.sheets[name] = found
        if vary:
            self.varied.add(name)

    def _table(self, sheet: Sheet) -> str:
        """Return the name of the table that given rows are: that of the one table whose place they take."""
        library, replaced = self.asked.library, listed(sheet.rows)
        taken = {*self.asked.declared.report.sheets, *self.tables}
        if len(replaced) == 1 and not {*replaced} & {*library.looked_up(), *taken}:
            return replaced[0]
        names = (f"rows_{number}" if number else "rows" for number in count())
        return next(name for name in names if name not in {*library.tables, *taken})

    def declared(self) -> Declared:
        """Return the report with its changed sheets, and with its tables above those of models."""
        declared, report = self.asked.declared, self.asked.declared.report
        models = []
        for file, model in declared.models[:-1]:
            others = {name: each for name, each in model.tables.items() if name not in self.tables}
            models.append((file, replace(model, tables=others)))
        changed = replace(
            report,
            sheets={name: self._with_drawn(name, sheet) for name, sheet in self.sheets.items()},
            charts={name: self._chart(chart) for name, chart in report.charts.items()},
            views={name: self._view(view) for name, view in report.views.items()},
            tables={**report.tables, **self.tables},
        )
        return replace(declared, report=changed, models=(*models, (declared.file, changed)))

    def _chart(self, chart: Chart) -> Chart:
        """Return a chart without lines if its sheet varies: a line is one for all rows."""
        return replace(chart, lines=[]) if chart.sheet in self.varied else chart

    def _with_drawn(self, name: str, sheet: Sheet) -> Sheet:
        """Return a sheet that has the names of lines that are not drawn, as it had them for the lines."""
        charts = self.asked.declared.report.charts.values()
        lines = [line for chart in charts if chart.sheet == name for line in chart.lines]
        drawn = [each for line in lines for point in line.points for each in point]
        if name not in self.varied or not drawn:
            return sheet
        return replace(sheet, columns=[*(sheet.columns or self.asked.library.offered), *drawn])

    def _view(self, view: View) -> View:
        """Return a view that fits its sheet.

        The record of a sheet that got rows is a table, and where more varies by row, a label that holds names
        gives way to the column's own.
        """
        sheet = self.sheets[view.sheet]
        has_rows = bool(sheet.rows) or any(isinstance(value, list) for value in sheet.set.values())
        if view.kind == "record" and not view.row and has_rows:
            view = replace(view, kind="table", template=[])
        if view.sheet not in self.varied:
            return view
        return replace(view, columns=[_plainly_labelled(each) for each in view.columns])


def _plainly_labelled(column: str | ViewColumn) -> str | ViewColumn:
    """Return a column of a view without a label that holds names in braces."""
    if isinstance(column, str):
        return column
    labels = (column.label,) if isinstance(column.label, str) else tuple(column.label.values())
    return replace(column, label="") if any("{" in each for each in labels) else column


def _matched(
    asked: AskedReport, question: Question, names: Mapping[str, RowNames], problems: Problems
) -> dict[str, dict[str, str]]:
    """Return the header of each name that given rows give; a column that no sheet reads is a problem."""
    options = {option.replace("-", "_"): inputs[0] for option, inputs in asked.names.items()}
    options |= {option: inputs[0] for option, inputs in asked.names.items()}
    found = {name: matched(rows, names[name], options) for name, rows in question.rows.items()}
    for rows in dict.fromkeys(question.rows.values()):
        read = {name: names[name] for name, each in question.rows.items() if each is rows}
        used = {header for name in read for header in found[name].values()}
        check_headers(rows, read, used, problems)
    return found
