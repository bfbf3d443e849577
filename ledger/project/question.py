"""A question to a report: inputs set from outside, rows given in place of a sheet's own; and its answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from ledger.declarations.files import ProjectFiles
from ledger.declarations.model import Calc, Input, Model, Scalar, Sheet, View, ViewColumn, listed
from ledger.declarations.toml import Declared, chosen, load, project
from ledger.errors import Place, Problems, near
from ledger.language.expr import names as read_names
from ledger.plan.names import Models, Settings, gather
from ledger.plan.plan import Computed, Given, PlannedSheet, PlannedView, precedents
from ledger.plan.resolve import resolve
from ledger.project.reports import check_as_declared, evaluated_report, raise_located
from ledger.project.rows import GivenRows, RowNames, check_headers, given_table, matched, row_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ledger.book.render import EvaluatedReport
    from ledger.declarations.csv import Csv
    from ledger.declarations.model import Chart, Table, TableField

T = TypeVar("T", bound=Model)


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
    fields = {name for sheet in declared.report.sheets.values() for name in _replaceable(library, sheet)}
    names: dict[str, tuple[str, ...]] = {
        spelled(name): (name,)
        for name in dict.fromkeys((*library.settable(), *sorted(fields)))
        if name not in lookups
    }
    names |= {spelled(option): listed(inputs) for option, inputs in calc.options.items()}
    return AskedReport(declared, declared, names, calc, library)


def _replaceable(library: Models, sheet: Sheet) -> dict[str, str]:
    """Return the fields of a sheet's rows that one value can take the place of, each with its table.

    Not those that identify a row, of tables that lookups lead to, and of two tables at once.
    """
    found: dict[str, list[str]] = {}
    for table in listed(sheet.rows):
        if table in library.tables and table not in library.looked_up():
            value = library.tables[table].value
            for name in value.fields.keys() - {*listed(value.key)}:
                found.setdefault(name, []).append(table)
    return {name: tables[0] for name, tables in found.items() if len(tables) == 1}


def options_of(asked: AskedReport, views: Sequence[str], *, all_columns: bool) -> dict[str, tuple[str, ...]]:
    """Return the options that what some views print depends on, each with the inputs that it may set.

    With `all_columns`, what any column of their sheets depends on.
    """
    report = asked.declared.report
    plan = resolve(printing(asked, views).declared, Settings({}), Problems())
    read: set[str] = set()
    for name, sheet in plan.sheets.items():
        printed = [each for view in plan.views if view.sheet == name for each in _printed(view)]
        filtered = read_names(sheet.where) if sheet.where else ()
        behind = _behind(sheet, sheet.nodes if all_columns else (*printed, *filtered))
        fields = _replaceable(asked.library, report.sheets[name])
        read |= {each for each in behind if _can_be_set(sheet, each, asked.library, fields)}
    found = {option: tuple(each for each in inputs if each in read) for option, inputs in asked.names.items()}
    return {option: inputs for option, inputs in found.items() if inputs}


def _printed(view: PlannedView) -> Iterator[str]:
    """Yield the names that a view prints, in its headings, too."""
    for column in view.columns:
        yield column.node
        yield from (name for _, name in column.heading if name)


def _behind(sheet: PlannedSheet, names: Iterable[str]) -> set[str]:
    """Return names of a sheet and all that they are computed from."""
    found: set[str] = set()
    left = [name for name in names if name in sheet.nodes]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [each for each in precedents(sheet.nodes[name]) if each in sheet.nodes]
    return found


def _can_be_set(sheet: PlannedSheet, name: str, library: Models, fields: Mapping[str, str]) -> bool:
    """Whether an option can set a name of a sheet: an input, the key of a lookup, a field of its rows."""
    lists = {axis.name for axis in sheet.axes if axis.name != axis.table}
    how = sheet.nodes[name].how
    is_input = (
        isinstance(how, Given | Computed) and name in library.settable() and name not in library.columns
    )
    return name in lists or name in fields or is_input


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


def printing(asked: AskedReport, names: Sequence[str]) -> AskedReport:
    """Return a report with the named views alone, their sheets, and the claims that they print.

    Another claim is about other rows, and a chart is not looked at.
    """
    report = asked.declared.report
    views = [report.views[name] for name in names]
    printed = {
        (view.sheet, each if isinstance(each, str) else each.column)
        for view in views
        for each in (*view.columns, view.down, view.across, view.cell)
    }
    claims = [each.name for each in report.claims if (each.sheet, each.name) in printed]
    return narrowed(asked, dict.fromkeys(view.sheet for view in views), names, claims, ())


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
    settings = _settings(asked, question)
    asked = _without_fields(asked, settings.given)
    declared, problems = asked.declared, Problems()
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


def _without_fields(asked: AskedReport, names: Iterable[str]) -> AskedReport:
    """Return a report in which the fields of rows that a question sets, and no sheet has as inputs, are."""
    fields: dict[str, str] = {}
    for sheet in asked.declared.report.sheets.values():
        replaceable = _replaceable(asked.library, sheet)
        fields |= {name: replaceable[name] for name in names if name in replaceable}
    if fields:  # where one sheet has an input of that name, that is what is set
        for planned in resolve(asked.declared, Settings({}), Problems()).sheets.values():
            of_rows = _replaceable(asked.library, asked.declared.report.sheets[planned.name])
            for name in fields.keys() & planned.nodes.keys() - of_rows.keys():
                if _can_be_set(planned, name, asked.library, of_rows):
                    del fields[name]
    if not fields:
        return asked
    inputs = {
        name: _input_like(asked.library.tables[table].value.fields[name]) for name, table in fields.items()
    }
    new = {name: each for name, each in inputs.items() if name not in asked.library.settable()}
    declared, whole = (
        _with_inputs(_without(each, fields), fields, inputs, new) for each in (asked.declared, asked.whole)
    )
    return replace(asked, declared=declared, whole=whole, library=gather(declared, Problems()))


def _input_like(column: TableField) -> Input:
    """Return the input that takes the place of a field."""
    return Input(
        column.kind, unit=column.unit, min=column.min, max=column.max, display=column.display,
        label=column.label, source=column.source,
    )  # fmt: skip


def _without(declared: Declared, fields: Mapping[str, str]) -> Declared:
    """Return a report without some fields of tables, whose columns are documents then."""

    def changed(model: T) -> T:
        tables = dict(model.tables)
        for name, table in fields.items():
            if table in tables and name in tables[table].fields:
                kept = {key: each for key, each in tables[table].fields.items() if key != name}
                documents = [*tables[table].documents, tables[table].fields[name].column or name]
                tables[table] = replace(tables[table], fields=kept, documents=documents)
        return replace(model, tables=tables)

    models = tuple((file, changed(model)) for file, model in declared.models)
    return replace(declared, report=changed(declared.report), models=models)


def _with_inputs(
    declared: Declared, fields: Mapping[str, str], inputs: Mapping[str, Input], new: Mapping[str, Input]
) -> Declared:
    """Return a report with inputs in place of fields of its rows; `new` are those not declared yet."""
    report, sheets = declared.report, {}
    for key, sheet in declared.report.sheets.items():
        names = [name for name, table in fields.items() if table in listed(sheet.rows)]
        sheets[key] = replace(sheet, set={**sheet.set, **{name: _some_value(inputs[name]) for name in names}})
    changed = replace(report, sheets=sheets, inputs={**report.inputs, **new})
    return replace(declared, report=changed, models=(*declared.models[:-1], (declared.file, changed)))


def _some_value(value: Input) -> Scalar:
    """Return a value that an input may have, for what is set takes its place."""
    if value.kind == "text":
        return ""
    return next((each for each in (value.min, value.max) if each is not None), 1)


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
    for key in lists.keys() - {each for sheet in changes.sheets.values() for each in sheet.set}:
        what = f"{key!r} cannot have several values: no sheet has it as an input"
        problems.add(what, Place(question.says.format(key)))
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
        columns = [_plainly_labelled(each) for each in view.columns]
        if view.kind == "table":  # its rows can be told apart
            printed = {each if isinstance(each, str) else each.column for each in columns}
            several = [name for name in self.lists if isinstance(sheet.set.get(name), list)]
            columns = [*(name for name in several if name not in printed), *columns]
        return replace(view, columns=columns)


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
