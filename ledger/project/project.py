"""The front door for Python: a project, its reports, their sheets and views.

The command line goes through it, too.  Nothing is imported before it is needed, and no class here is a
dataclass: a fresh check must not wait for either.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from ledger.declarations.project import find_root
from ledger.project import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from ledger.book.render import EvaluatedReport
    from ledger.evaluate.findings import ValueFinding
    from ledger.project.explain import Explanation
    from ledger.project.question import AskedReport, Question
    from ledger.project.results import BuildResult, CheckResult

    #: What an input is set to; several values make rows.
    InputValue = str | float | Iterable[str | float]


class Project:
    """The project that a folder lies in; every mistake in it is a LedgerError with all its problems.

    >>> project = Project("ledger/brought/book")
    >>> project.reports
    ('loans',)

    Raises a LedgerError if there is no `ledger.toml` in the folder or above it.
    """

    def __init__(self, folder: str | Path = ".") -> None:
        self.root = find_root(Path(folder).absolute())

    def __repr__(self) -> str:
        return f"Project({str(self.root)!r})"

    @property
    def reports(self) -> tuple[str, ...]:
        """The names of the reports, sorted.

        >>> Project("ledger/brought/book").reports
        ('loans',)
        """
        from ledger.declarations.files import ProjectFiles  # noqa: PLC0415  # a fresh check has its own way
        from ledger.declarations.toml import project, report_names  # noqa: PLC0415  # they import pydantic

        files = ProjectFiles(self.root)
        return report_names(files, project(files))

    def report(self, name: str) -> ProjectReport:
        """Return a report with the inputs as its files have them; it is worked out when it is first asked.

        >>> Project("ledger/brought/book").report("loans").sheets
        ('costs',)

        Raises a LedgerError if there is no such report, or with every mistake in its declarations.
        """
        from ledger.project.question import Question, asked_report  # noqa: PLC0415  # they import numpy

        return ProjectReport(asked_report(self.root, name), Question(says="evaluate({}=…)"))

    def explain(self, cell: str) -> Explanation:
        """Return how the cell REPORT/SHEET/ROW/COLUMN comes about; a sheet of one row has no ROW.

        >>> Project("ledger/brought/book").explain("loans/costs/car/payment").printed
        '386.66 EUR'

        Raises a LedgerError that names the part of the address that is unknown and its near miss.
        """
        from ledger.project.explain import explained, report_of  # noqa: PLC0415  # they import numpy

        return explained(self.report(report_of(cell, self.reports)).evaluated, cell)

    def is_fresh(self) -> bool:
        """Whether every file is as the last whole build left it, found out without doing its work.

        >>> Project("ledger/brought/book").is_fresh()
        False
        """
        return stamp.is_fresh(self.root)

    def check(self, *, full: bool = False) -> CheckResult:
        """Return which outputs and chapters are stale, which printed cells changed, and why.

        Nothing is written.  What the last whole build left is trusted unless `full`.

        >>> found = Project("ledger/brought/book").check()
        >>> found.is_fresh, found.stale[0].file, found.stale[0].why
        (False, 'chapters/loans.md', 'stale')
        """
        from ledger.project.results import CheckResult  # noqa: PLC0415  # the class alone

        before = stamp.read(self.root)
        if before is not None and full:
            before = before.forget()
        if before is not None and before.is_whole:
            return CheckResult(stamp.said(before, before.reports))
        from ledger.project import build, check  # noqa: PLC0415  # they import pydantic and openpyxl

        return check.check(build.build_project(self.root, build.Request(), before))

    def build(
        self,
        *reports: str,
        inputs: Mapping[str, str | float] | None = None,
        out: str | Path | None = None,
        overwrite: Iterable[str] = (),
        prune: bool = False,
    ) -> BuildResult:
        """Write what differs of the named reports, of all if none is named, and return what became of it.

        `inputs` are set on every sheet that has them; `out` is a folder in place of the project's own, and
        then no chapter is written; `overwrite` names blocks that were edited by hand; `prune` removes what an
        earlier build wrote and nothing writes any more.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result = Project("ledger/brought/book").build("loans", inputs={"rate": 0.07}, out=folder)
        >>> [path.name for path in result.written]
        ['costs.csv', 'costs.html', 'costs.md', 'costs.txt', 'loans.xlsx']

        Raises a LedgerError with every mistake, and then nothing is written.
        """
        wanted = frozenset(overwrite)
        if not inputs and out is None and not wanted and not prune:
            before = stamp.read(self.root)
            if before is not None and before.is_whole and before.reports.keys() >= {*reports}:
                return stamp.unchanged(self.root, before, reports or tuple(before.reports))
        from ledger.project import build  # noqa: PLC0415  # it imports pydantic and openpyxl

        texts = {name: text_of(value) for name, value in (inputs or {}).items()}
        folder = None if out is None else Path(out)
        return build.write(self.root, build.Request(reports, texts, folder, wanted, prune))


class ProjectReport:
    """A report of a project with some inputs and rows; one that is asked with others is another object.

    It reads its files when it is first asked for a value, and keeps what it found.
    """

    def __init__(self, asked: AskedReport, question: Question) -> None:
        self.asked = asked
        self.question = question

    def __repr__(self) -> str:
        return f"ProjectReport({self.name!r})"

    @property
    def name(self) -> str:
        """The report's name.

        >>> Project("ledger/brought/book").report("loans").name
        'loans'
        """
        return self.asked.declared.name

    @property
    def sheets(self) -> tuple[str, ...]:
        """The names of its sheets.

        >>> Project("ledger/brought/book").report("loans").sheets
        ('costs',)
        """
        return tuple(self.asked.declared.report.sheets)

    @property
    def views(self) -> tuple[str, ...]:
        """The names of its views.

        >>> Project("ledger/brought/book").report("loans").views
        ('costs',)
        """
        return tuple(self.asked.declared.report.views)

    @cached_property
    def evaluated(self) -> EvaluatedReport:
        """The report worked out: its plan, its result and its views.

        >>> Project("ledger/brought/book").report("loans").evaluated.result.sheets["costs"].ids
        ('car', 'house', 'bike')

        Raises a LedgerError with every mistake in inputs and rows.
        """
        from ledger.project.question import answered  # noqa: PLC0415  # it imports numpy

        return answered(self.asked, self.question)

    @property
    def findings(self) -> tuple[ValueFinding, ...]:
        """What a reader should know of its values: errors, knife-edges, claims that fail.

        >>> Project("ledger/brought/book").report("loans").evaluate(rate=0).findings[0].what
        '#DIV/0!'
        """
        return self.evaluated.result.findings

    def evaluate(self, **inputs: InputValue) -> ProjectReport:
        """Return the report with inputs set on every sheet that has them; several values of one make rows.

        The inputs go by their names or by the options of `calc`; numbers are in the declared units.

        >>> report = Project("ledger/brought/book").report("loans")
        >>> dear = report.evaluate(rate=0.12)
        >>> [each.explain("costs/car/payment").printed for each in (report, dear)]
        ['386.66 EUR', '444.89 EUR']

        Raises a LedgerError with every mistake, such as an input that there is not or that nothing reads.
        """
        from ledger.project.question import asking  # noqa: PLC0415  # it imports numpy

        texts = {name: texts_of(value) for name, value in inputs.items()}
        return worked_out(self.asked, asking(self.asked, self.question, texts))

    def sheet(self, name: str) -> ProjectSheet:
        """Return one of its sheets.

        >>> Project("ledger/brought/book").report("loans").sheet("costs").ids
        ('car', 'house', 'bike')

        Raises a LedgerError if there is no such sheet.
        """
        _check_known(f"report {self.name!r} has no sheet", name, self.sheets)
        return ProjectSheet(self, name)

    def view(self, name: str) -> ProjectView:
        """Return one of its views.

        >>> Project("ledger/brought/book").report("loans").view("costs").text().splitlines()[2]
        'a car              60       386.66 EUR      3199.36 EUR  dear'

        Raises a LedgerError if there is no such view.
        """
        _check_known(f"report {self.name!r} has no view", name, self.views)
        return ProjectView(self, name)

    def explain(self, cell: str) -> Explanation:
        """Return how the cell SHEET/ROW/COLUMN comes about: its formula, its inputs and their places.

        >>> Project("ledger/brought/book").report("loans").explain("costs/car/interest").formula
        'payment * months - principal'

        Raises a LedgerError that names the part of the address that is unknown and its near miss.
        """
        from ledger.project.explain import explained  # noqa: PLC0415  # it imports numpy

        return explained(self.evaluated, f"{self.name}/{cell}")

    def workbook(self) -> bytes:
        """Return its workbook, with live formulas, as the bytes of an .xlsx file.

        >>> Project("ledger/brought/book").report("loans").workbook()[:2]
        b'PK'
        """
        from ledger.book.render import render  # noqa: PLC0415  # it imports jinja2
        from ledger.errors import Problems  # noqa: PLC0415  # a fresh check has no use for it
        from ledger.project.build import origins  # noqa: PLC0415  # it imports openpyxl
        from ledger.workbook.write import workbook_bytes  # noqa: PLC0415  # the same

        worked = self.evaluated
        if self.question.options or self.question.rows:
            return workbook_bytes(worked.plan, worked.result, {})  # no record of the declarations
        render(worked.press, worked.views, Problems())  # which notes the templates that it needs
        return workbook_bytes(worked.plan, worked.result, origins(worked))


class ProjectSheet:
    """A sheet of a report: values of every name for every row."""

    def __init__(self, report: ProjectReport, name: str) -> None:
        self.report = report
        self.name = name

    def __repr__(self) -> str:
        return f"ProjectSheet({self.report.name!r}, {self.name!r})"

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its rows, one empty id of a sheet of one row.

        >>> Project("ledger/brought/book").report("loans").sheet("costs").ids
        ('car', 'house', 'bike')
        """
        return self.report.evaluated.result.sheets[self.name].ids

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that its own rows give: the columns that `rows` must have.

        >>> Project("ledger/brought/book").report("loans").sheet("costs").inputs
        ('label', 'principal', 'months')
        """
        from ledger.project.rows import row_names  # noqa: PLC0415  # it imports numpy

        planned, models = self.report.evaluated.plan.sheets[self.name], self.report.asked.library
        return tuple(row_names(planned, models).rows)

    def frame(self) -> pd.DataFrame:
        """Return its values: a row for each id, a column for each name, numbers in the declared units.

        `attrs["units"]` holds the unit of each name that has one.  An error value is missing, its name stands
        in `attrs["errors"]` by column and id; a claim is missing in a row for which it is not meant.

        >>> frame = Project("ledger/brought/book").report("loans").sheet("costs").frame()
        >>> frame["verdict"].to_dict()
        {'car': 'dear', 'house': 'dear', 'bike': 'cheap'}
        >>> frame.attrs["units"]["payment"], frame.attrs["errors"]
        ('EUR', {})
        """
        from ledger.project.frames import sheet_frame  # noqa: PLC0415  # it imports pandas

        return sheet_frame(self.report.evaluated, self.name)

    def rows(self, frame: pd.DataFrame) -> ProjectSheet:
        """Return the sheet with the rows of `frame` in place of its own; its report has no other sheet.

        The columns are the names in `inputs` and other inputs of the sheet, in their declared units; a column
        whose unit in `attrs["units"]` is another is refused, and so is one that nothing reads.  A row goes by
        the column `id`, else by its label in the index, else by its number.

        >>> sheet = Project("ledger/brought/book").report("loans").sheet("costs")
        >>> frame = sheet.frame()[list(sheet.inputs)]
        >>> frame["principal"] *= 2
        >>> sheet.rows(frame).frame()["payment"].round(2).tolist()
        [773.31, 3597.3, 413.12]

        Raises a LedgerError with every mistake in the rows.
        """
        from ledger.project.frames import frame_rows  # noqa: PLC0415  # it imports pandas
        from ledger.project.question import giving  # noqa: PLC0415  # it imports numpy

        asked, question = giving(self.report.asked, self.report.question, self.name, frame_rows(frame))
        return worked_out(asked, question).sheet(self.name)


class ProjectView:
    """A view of a report: a table, a record or a matrix, as it is printed."""

    def __init__(self, report: ProjectReport, name: str) -> None:
        self.report = report
        self.name = name

    def __repr__(self) -> str:
        return f"ProjectView({self.report.name!r}, {self.name!r})"

    def text(self, medium: str = "txt") -> str:
        """Return the view as Markdown ("md"), HTML ("html"), CSV with every digit ("csv") or text ("txt").

        It is what stands in a chapter; a file of its own tells the report's basis and limits, too.

        >>> view = Project("ledger/brought/book").report("loans").view("costs")
        >>> print(view.text("md"), end="")
        | loan at 6.00% | months | monthly payment | interest in all | verdict |
        | ------------- | ------ | --------------- | --------------- | ------- |
        | a car         | 60     | 386.66 EUR      | 3199.36 EUR     | dear    |
        | a house       | 360    | 1798.65 EUR     | 347514.57 EUR   | dear    |
        | a bicycle     | 12     | 206.56 EUR      | 78.71 EUR       | cheap   |

        Raises a LedgerError for another medium, and for a mistake in a template.
        """
        from ledger.book.media import MEDIA  # noqa: PLC0415  # a fresh check has no use for it
        from ledger.book.render import render_text  # noqa: PLC0415  # it imports jinja2

        _check_known("no medium is called", medium, tuple(MEDIA))
        worked = self.report.evaluated
        (view,) = (each for each in worked.views if each.name == self.name)
        return render_text(worked.press, view, medium)


def worked_out(asked: AskedReport, question: Question) -> ProjectReport:
    """Return a report that is worked out already: a mistake in a question is raised where it is put."""
    found = ProjectReport(asked, question)
    _ = found.evaluated
    return found


def _check_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        from ledger.errors import LedgerError, Problem, near  # noqa: PLC0415  # a fresh check has no use for it

        raise LedgerError(Problem(f"{what} {name!r}", hint=near(name, known)))


def texts_of(value: InputValue) -> tuple[str, ...]:
    """Return what an input is set to as the texts of an option.

    >>> texts_of([256, 0.5]), texts_of("fast")
    (('256', '0.5'), ('fast',))
    """
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return (text_of(value),)
    return tuple(map(text_of, value))


def text_of(value: str | float) -> str:
    """Return a value as the text of an option: a number with every digit."""
    if isinstance(value, str):
        return value
    from ledger.values import number_text  # noqa: PLC0415  # it imports numpy

    return str(value) if isinstance(value, int) else number_text(float(value))
