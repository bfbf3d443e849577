"""The command line: commands, their arguments, printing of answers, exit codes.

It must not know how anything is computed: a command asks a room below and prints what it gives.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

from ledger.cli import usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from ledger.display.answer import Answer
    from ledger.errors import LedgerError, Problem
    from ledger.project.calc import AskedReport

OK, FOUND, TROUBLE = 0, 1, 2
_INPUT = "input "


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 something found, 2 trouble."""
    for stream in (sys.stdout, sys.stderr):
        _as_utf8(stream)
    given, paths = _parted(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(given)
    options.paths = paths
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except BrokenPipeError:
        return OK
    except Exception as error:
        from ledger.errors import LedgerError  # noqa: PLC0415  # a fresh check has no use for it

        if not isinstance(error, LedgerError):
            raise
        return _tell(error)


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Return the arguments of `diff` and the paths after `--`, where argparse would put them together."""
    given = list(arguments)
    if given[:1] != ["diff"] or "--" not in given:
        return given, None
    at = given.index("--")
    return given[:at], given[at + 1 :]


def _tell(error: LedgerError) -> int:
    """Print every problem at its place."""
    from ledger.errors import counted  # noqa: PLC0415  # the same

    for problem in sorted(error.problems, key=_order):
        print(problem, file=sys.stderr)
    print(f"{counted(len(error.problems), 'error')}, nothing written", file=sys.stderr)
    return TROUBLE


def _as_utf8(stream: TextIO) -> None:
    """Print Chinese in any locale."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace")


def _order(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (place.file, place.line, place.column) if place else ("", 0, 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tile-ledger", description="Formulas declared once: live workbooks and the tables of a book."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (short, arguments) in usage.COMMANDS.items():
        command = _COMMANDS[name]
        sub = commands.add_parser(name, help=short, description=command.__doc__)
        sub.set_defaults(command=command)
        for names, options in arguments:
            sub.add_argument(*names, **options)
    return parser


def _build(options: argparse.Namespace) -> int:
    """Render all outputs and chapters, then write those that differ."""
    start = perf_counter()
    from ledger.declarations import project  # noqa: PLC0415  # they import pandas and openpyxl
    from ledger.project import build, publish  # noqa: PLC0415  # they import pandas and openpyxl

    folder = project.find_root(Path.cwd())
    overwrite = frozenset(options.overwrite)
    request = build.Request(options.reports, _settings(options.set), options.out, overwrite)
    with publish.locked(folder / project.PROJECT_FILE):
        watched = build.watched(folder) if request.is_whole() else None
        made = build.edition(folder, request)
        build.refuse_edits(made, overwrite)
        became = publish.publish(made.files, made.before)
        if watched:
            _leave_stamp(folder, build.stamp_text(made, watched))
    for path, what in sorted(became.items()):
        print(f"{what:9}  {_shown(path, folder)}")
    for line in build.notes(made):
        print(line, file=sys.stderr)
    print(f"{build.counts(became, made)} in {perf_counter() - start:.1f} s", file=sys.stderr)
    return OK


def _leave_stamp(folder: Path, text: str) -> None:
    """Leave a stamp by which the next check knows that nothing changed; without one it does the work."""
    from ledger.errors import LedgerError  # noqa: PLC0415  # the same
    from ledger.project import publish, stamp  # noqa: PLC0415  # the same

    try:
        publish.publish({stamp.stamp_path(folder): text.encode()})
    except LedgerError as error:
        print(f"{error}: the next check will do the whole work", file=sys.stderr)


def _say(answer: Answer) -> int:
    """Print an answer."""
    if answer.talk:
        print(answer.talk, file=sys.stderr)
    if answer.data:
        print(answer.data)
    return FOUND if answer.found else OK


def _settings(texts: Sequence[str]) -> dict[str, str]:
    from ledger.errors import LedgerError, Problem  # noqa: PLC0415  # a fresh check has no use for it

    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise LedgerError(Problem(f"--set {text}: not INPUT=VALUE", hint="such as --set rate=0.05"))
        if name in found:
            raise LedgerError(Problem(f"--set {name} is given twice"))
        found[name] = value
    return found


def _shown(path: Path, root: Path) -> str:
    absolute = path.absolute()
    return str(absolute.relative_to(root)) if absolute.is_relative_to(root) else str(path)


def _check(options: argparse.Namespace) -> int:
    """Tell which outputs and chapters are stale, which printed cells moved, and why; write nothing."""
    from ledger.declarations import project  # noqa: PLC0415  # light
    from ledger.project import stamp  # noqa: PLC0415  # light

    folder = project.find_root(Path.cwd())
    if not options.full and stamp.is_fresh(folder):
        print(stamp.FRESH_JSON if options.json else stamp.FRESH)
        return OK
    from ledger.project import build, check  # noqa: PLC0415  # they import pandas and openpyxl

    found = check.check(build.edition(folder, build.Request()))
    print(check.drift_json(found) if options.json else check.drift_text(found))
    return FOUND if found.stale else OK


def _explain(options: argparse.Namespace) -> int:
    """Print a cell's formula in names and in numbers, its value, its inputs and their places, its readers."""
    from ledger.declarations import project  # noqa: PLC0415  # they import pandas
    from ledger.project import explain  # noqa: PLC0415  # they import pandas

    folder = project.find_root(Path.cwd())
    found = explain.explained(folder, options.cell)
    print(explain.explanation_json(found) if options.json else explain.explanation_text(found))
    return OK


def _calc(options: argparse.Namespace) -> int:
    """Answer one question: the report's inputs are options, several values of one make rows."""
    from ledger.declarations import project  # noqa: PLC0415  # they import numpy
    from ledger.project import calc  # noqa: PLC0415  # they import numpy

    asked = calc.asked(project.find_root(Path.cwd()), options.report)
    parser = argparse.ArgumentParser(prog=f"tile-ledger calc {options.report}", allow_abbrev=False)
    for name, settings in usage.CALC.items():
        parser.add_argument(f"--{name}", **settings)
    for name, inputs in asked.options.names.items():
        if name not in usage.CALC:
            told = f"sets {' or '.join(inputs)}"
            parser.add_argument(f"--{name}", nargs="+", metavar="VALUE", dest=f"{_INPUT}{name}", help=told)
    given, unknown = parser.parse_known_args(options.rest)
    calc.check_options(asked.options, unknown, usage.CALC)
    texts = {
        key.removeprefix("input "): value for key, value in vars(given).items() if key.startswith("input ")
    }
    return _answer(asked, given, {name: value for name, value in texts.items() if value is not None})


def _answer(asked: AskedReport, given: argparse.Namespace, texts: dict[str, list[str]]) -> int:
    from ledger.project import calc, publish  # noqa: PLC0415  # they import numpy

    form = calc.JSON if given.json else calc.MARKDOWN if given.md else calc.CSV if given.csv else calc.TEXT
    views = calc.views_of(asked.options, form, sweep=given.sweep)
    found = calc.answer(asked, calc.Question(texts, views, given.rows), form)
    if given.rows:
        from ledger.project import frames  # noqa: PLC0415  # it imports pandas

        sheet = found.worked.plan.views[-1].sheet
        print(frames.csv_text(frames.sheet_frame(found.worked, sheet)), end="")
        return OK
    if found.talk:
        print(found.talk, file=sys.stderr)
    print(found.data)
    if given.xlsx:
        from ledger.workbook import write as workbook  # noqa: PLC0415  # it imports openpyxl

        publish.publish({given.xlsx: workbook.workbook_bytes(found.worked.plan, found.worked.result, {})})
        print(f"written    {given.xlsx}", file=sys.stderr)
    return OK


def _review(options: argparse.Namespace) -> int:
    """Tell what was changed in a workbook that came back, and which printed cells that moves.

    --apply writes changed inputs into the fields of their CSVs, all or none.
    """
    from ledger.declarations import project  # noqa: PLC0415  # they import pandas
    from ledger.review.review import answer  # noqa: PLC0415  # they import pandas

    folder = project.find_root(Path.cwd())
    form = answer.JSON if options.json else answer.MARKDOWN if options.md else answer.TEXT
    return _say((answer.applied if options.apply else answer.reviewed)(folder, options.workbook, form))


def _diff(options: argparse.Namespace) -> int:
    """Tell what differs between two workbooks, or revisions: structure, formulas, values, printed texts."""
    if options.text is not None:
        from ledger.review.diff import text  # noqa: PLC0415  # git waits for it at every workbook of a log

        print(text.file_text(Path(options.text)), end="")
        return OK
    from ledger.review.diff import answer, pairs  # noqa: PLC0415  # they import jinja2

    found = pairs.compared(options.names, options.paths, options.tolerance, Path.cwd())
    return _say(answer.answer(found, options.form or "text", options.tolerance))


def _git_config(options: argparse.Namespace) -> int:
    """Say what this repository's git does with workbooks, or let it show them as lines, or stop it."""
    from ledger.review.diff import gitconfig  # noqa: PLC0415  # it runs git

    return _say(gitconfig.switched(Path.cwd(), options.switch))


def _audit(options: argparse.Namespace) -> int:
    """Tell what is wrong with a workbook: constants over formulas, short ranges, stale values, links."""
    from ledger.review.audit import answer  # noqa: PLC0415  # nothing else reads workbooks

    return _say(answer.answer(options.workbook, answer.JSON if options.json else answer.TEXT))


def _verify(options: argparse.Namespace) -> int:
    """Recalculate a copy without cached values; tell what differs or cannot be computed."""
    from ledger.review.verify import answer  # noqa: PLC0415  # it reads workbooks

    form = answer.JSON if options.json else answer.TEXT
    return _say(answer.answer(options.workbook, options.engine, form))


def _init(options: argparse.Namespace) -> int:
    """Start a book: a model, a report, a chapter, and what a build and a commit hook need."""
    from ledger.project import init  # noqa: PLC0415  # it reads the package's files

    for name in init.start(options.folder):
        print(f"written    {name}")
    print(f"now: cd {options.folder} && tile-ledger build && tile-ledger check", file=sys.stderr)
    return OK


def _schema(options: argparse.Namespace) -> int:
    """Print the JSON Schema that an editor completes and checks a TOML file with."""
    import json  # noqa: PLC0415  # nothing else here needs it

    from ledger.declarations import toml  # noqa: PLC0415  # it imports pydantic

    print(json.dumps(toml.schema(options.kind), indent=2, ensure_ascii=False, sort_keys=True))
    return OK


#: What runs each command.
_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "build": _build,
    "check": _check,
    "calc": _calc,
    "explain": _explain,
    "review": _review,
    "diff": _diff,
    "git-config": _git_config,
    "audit": _audit,
    "verify": _verify,
    "init": _init,
    "schema": _schema,
}
