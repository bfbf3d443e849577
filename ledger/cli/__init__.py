"""The command line: commands, their arguments, printing of answers, exit codes.

It must not know how anything is computed: a command asks a room below and prints what it gives.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from time import perf_counter

from ledger.cli import usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from _typeshed import SupportsWrite

    from ledger.display.answer import Answer
    from ledger.errors import LedgerError, Problem
    from ledger.project.project import Project
    from ledger.project.question import AskedReport

OK, FOUND, TROUBLE = 0, 1, 2
#: What a shell knows a program by that Ctrl-C ended.
INTERRUPTED = 130
_DEBUG = "--debug"
_LONGEST = 300
_INPUT = "input "


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 something found, 2 trouble."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            # Chinese prints in any locale.
            reconfigure(encoding="utf-8", errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    debugged = _DEBUG in words
    try:
        return _run([word for word in words if word != _DEBUG])
    except KeyboardInterrupt:
        return _tell("interrupted", INTERRUPTED)
    except Exception as error:
        if debugged:
            raise
        return _print_error(error)


def _run(words: Sequence[str]) -> int:
    """Run the command that the words ask for."""
    known, paths = _parted(words)
    options = _parser(known).parse_args(known)
    options.paths = paths
    return _print(options.command(options))


def _print_error(error: Exception) -> int:
    """Print what ended a command: what is wrong with its input, or in one line what nobody foresaw."""
    from ledger.errors import LedgerError  # noqa: PLC0415  # a fresh check has no use for it

    if isinstance(error, LedgerError):
        return _print_problems(error)
    if isinstance(error, MemoryError):
        return _tell("not enough memory", TROUBLE)
    if isinstance(error, OSError) and error.strerror:
        return _tell(f"{error.filename}: {error.strerror}" if error.filename else error.strerror, TROUBLE)
    what = " ".join(f"{type(error).__name__} {error}".split())[:_LONGEST]
    return _tell(f"a mistake of Tile Ledger itself: {what}; {_DEBUG} shows where", TROUBLE)


def _tell(line: str, code: int) -> int:
    """Print a last line to stderr, if anybody can read it, and return the exit code."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)
    return code


def _print(answer: Answer | str) -> int:
    """Print a command's answer; that nobody reads it is fine, that it cannot be written is trouble."""
    try:
        code = _printed(answer)
        sys.stdout.flush()
    except BrokenPipeError:
        _close()
        return OK
    except OSError as error:
        _close()
        return _tell(f"standard output: cannot be written: {error.strerror}", TROUBLE)
    return code


def _close() -> None:
    """Let Python not try again, at its end, to write what cannot be written."""
    with contextlib.suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _printed(answer: Answer | str) -> int:
    """Print a command's answer, data to stdout and talk to stderr; a text is data without a finding."""
    if isinstance(answer, str):
        talk, data, closing, code = "", answer, "", OK
    else:
        talk, data, closing = answer.talk, answer.data, answer.closing
        code = FOUND if answer.found else OK
    for text, stream in ((talk, sys.stderr), (data, sys.stdout), (closing, sys.stderr)):
        if text:
            print(text, file=stream, flush=True)
    return code


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Return the arguments of `diff` and the paths after `--`, where argparse would put them together."""
    words = [_path(word) for word in arguments]
    if words[:1] != ["diff"] or "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _path(word: str) -> str:
    """Return a word of the command line, so that the name of a workbook such as `-x.xlsx` is no option."""
    is_name = word.startswith("-") and word.lower().endswith(".xlsx") and os.path.lexists(word)
    return f"./{word}" if is_name else word


def _print_problems(error: LedgerError) -> int:
    """Print every problem at its place, in the order of files and lines."""
    from ledger.errors import counted  # noqa: PLC0415  # the same

    for problem in sorted(error.problems, key=_order):
        print(problem, file=sys.stderr)
    print(f"{counted(len(error.problems), 'error')}, nothing written", file=sys.stderr)
    return TROUBLE


def _order(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (place.file, place.line, place.column) if place else ("", 0, 0)


class _Parser(argparse.ArgumentParser):
    """A parser that does not pass over that its help cannot be written."""

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if file is not sys.stdout:
            super()._print_message(message, file)
        elif code := _print(message.removesuffix("\n")):
            sys.exit(code)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser that knows what the commands among the words take: a fresh check waits for it."""
    parser = _Parser(
        prog="tile-ledger", description="Formulas declared once: live workbooks and the tables of a book."
    )
    from ledger.declarations.project import VERSION  # noqa: PLC0415  # light

    parser.add_argument(_DEBUG, action="store_true", help="show where a mistake of the program itself is")
    parser.add_argument("--version", action="version", version=f"Tile Ledger {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", prog=parser.prog)
    for name, (short, arguments) in usage.COMMANDS.items():
        command = _COMMANDS[name]
        sub = commands.add_parser(name, help=short, description=command.__doc__)
        sub.set_defaults(command=command)
        _add_arguments(sub, arguments if name in words else ())
    return parser


def _project() -> Project:
    """Return the project that the command runs in."""
    from ledger.project.project import Project  # noqa: PLC0415  # --help has no use for it

    return Project(_folder())


def _folder() -> Path:
    """Return the folder that the command runs in; raise a LedgerError if it is gone."""
    try:
        return Path.cwd()
    except OSError as error:
        from ledger.errors import LedgerError, Problem  # noqa: PLC0415  # a fresh check has no use for it

        what = f"the working folder cannot be found: {error.strerror}"
        raise LedgerError(Problem(what, hint="go to a folder that is there")) from None


def _build(options: argparse.Namespace) -> Answer:
    """Render all outputs and chapters, then write those that differ."""
    start = perf_counter()
    from ledger.display.answer import Answer  # noqa: PLC0415  # a fresh check has no use for it

    inputs = _settings(options.set)
    result = _project().build(
        *options.reports, inputs=inputs, out=options.out, overwrite=options.overwrite, prune=options.prune
    )
    closing = "\n".join(result.talk())
    return Answer(
        "\n".join(result.lines(verbose=options.verbose)),
        not result.are_claims_right,
        closing=f"{closing} in {perf_counter() - start:.1f} s",
    )


def _settings(texts: Sequence[str]) -> dict[str, str]:
    """Return the inputs that are set from outside; raise a LedgerError for a text that is not INPUT=VALUE."""
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


def _check(options: argparse.Namespace) -> Answer | str:
    """Tell which outputs and chapters are stale, which printed cells moved, and why; write nothing."""
    found = _project().check(full=options.full)
    text = found.json() if options.form == "json" else found.text()
    if not found.found:
        return text
    from ledger.display.answer import Answer  # noqa: PLC0415  # a fresh check has no use for it

    return Answer(text, found=True)


def _explain(options: argparse.Namespace) -> Answer:
    """Print a cell's formula in names and in numbers, its value, its inputs and their places, its readers."""
    from ledger.project import explain  # noqa: PLC0415  # it imports numpy

    return explain.answer(_project().explain(options.cell), options.form)


def _calc(options: argparse.Namespace) -> Answer:
    """Answer one question: the report's inputs are options, several values of one make rows."""
    from dataclasses import replace  # noqa: PLC0415  # a fresh check has no use for it

    from ledger.display.answer import Answer  # noqa: PLC0415  # the same
    from ledger.project import calc, publish  # noqa: PLC0415  # they import numpy

    asked = _project().report(options.report).asked
    own, texts, views = _question(options, asked)
    answering = calc.answering(asked, views, texts, own.rows)
    if own.rows and own.form != "md":
        from ledger.project import frames  # noqa: PLC0415  # it imports pandas

        sheet = calc.sheet_of(asked, views[-1])
        frame = answering.sheet(sheet).frame()
        form = frames.json_text if own.form == "json" else frames.csv_text
        answer = Answer(form(frame), found=False)
    else:
        answer = calc.answer(answering.evaluated, own.form)
    if own.xlsx:
        publish.publish({own.xlsx: answering.workbook()})
        answer = replace(answer, closing=f"written    {own.xlsx}")
    return answer


def _question(
    options: argparse.Namespace, asked: AskedReport
) -> tuple[argparse.Namespace, dict[str, list[str]], tuple[str, ...]]:
    """Return the options of `calc` itself, the texts of those that set inputs, the views that answer."""
    from ledger.project import calc  # noqa: PLC0415  # it imports numpy
    from ledger.project.question import options_of  # noqa: PLC0415  # the same

    prog = f"tile-ledger calc {options.report}"
    first = _Parser(prog=prog, allow_abbrev=False, add_help=False)
    _add_arguments(first, usage.CALC)
    own, _ = first.parse_known_args(options.rest)
    views = calc.views_of(asked, own.form, sweep=own.sweep)
    names = options_of(asked, views, all_columns=bool(own.rows or own.xlsx))
    parser = _Parser(prog=prog, allow_abbrev=False)
    _add_arguments(parser, usage.CALC)
    for name, inputs in names.items():
        text = f"sets {' or '.join(inputs)}"
        parser.add_argument(f"--{name}", nargs="+", metavar="VALUE", dest=f"{_INPUT}{name}", help=text)
    own, unknown = parser.parse_known_args(options.rest)
    fixed = [option for options, _ in usage.CALC for option in options]
    calc.check_options(asked, [*(f"--{name}" for name in names), *fixed], unknown)
    given = {name: vars(own).get(f"{_INPUT}{name}") for name in names}
    return own, {name: texts for name, texts in given.items() if texts}, views


def _add_arguments(parser: argparse.ArgumentParser, arguments: Iterable[usage.Argument]) -> None:
    """Add the arguments of a command; of those that store one thing each only one can be given."""
    groups: dict[str, argparse._ActionsContainer] = {}
    for names, settings in arguments:
        target: argparse._ActionsContainer = parser
        if settings.get("action") == "store_const":
            if settings["dest"] not in groups:
                groups[settings["dest"]] = parser.add_mutually_exclusive_group()
            target = groups[settings["dest"]]
        target.add_argument(*names, **settings)


def _review(options: argparse.Namespace) -> Answer:
    """Tell what was changed in a workbook that came back, and which printed cells that moves.

    --apply writes changed inputs into the fields of their CSVs, all or none.
    """
    from ledger.review.review import answer  # noqa: PLC0415  # it imports pydantic and openpyxl

    answered = answer.applied if options.apply else answer.reviewed
    return answered(_project().root, options.workbook, options.form)


def _diff(options: argparse.Namespace) -> Answer | str:
    """Tell what differs between two workbooks, or revisions: structure, formulas, values, printed texts."""
    if options.text is not None:
        from ledger.review.diff import text  # noqa: PLC0415  # git waits for it at every workbook of a log

        return text.file_text(Path(options.text))
    from ledger.review.diff import answer, diff  # noqa: PLC0415  # they import jinja2

    found = diff.compared(options.names, options.paths, options.tolerance, _folder())
    return answer.answer(found, options.form, options.tolerance)


def _git_config(options: argparse.Namespace) -> Answer:
    """Say what this repository's git does with workbooks, or let it show them as lines, or stop it."""
    from ledger.review.diff import git  # noqa: PLC0415  # it runs git

    return git.switched(_folder(), options.switch)


def _audit(options: argparse.Namespace) -> Answer:
    """Tell what is wrong with a workbook: constants over formulas, short ranges, stale values, links."""
    from ledger.review.audit import answer  # noqa: PLC0415  # nothing else reads workbooks

    return answer.answer(options.workbook, options.form)


def _verify(options: argparse.Namespace) -> Answer:
    """Recalculate a copy without cached values; tell what differs or cannot be computed."""
    from ledger.review.verify import answer  # noqa: PLC0415  # it reads workbooks

    return answer.answer(options.workbook, options.engine, options.form)


def _init(options: argparse.Namespace) -> Answer:
    """Start a book: a model, a report, a chapter, and what a build and a commit hook need."""
    from ledger.project import init  # noqa: PLC0415  # it reads the package's files

    return init.start(options.folder)


def _schema(options: argparse.Namespace) -> str:
    """Print the JSON Schema that an editor completes and checks a TOML file with."""
    import json  # noqa: PLC0415  # nothing else here needs it

    from ledger.declarations import toml  # noqa: PLC0415  # it imports pydantic

    return json.dumps(toml.schema(options.kind), indent=2, ensure_ascii=False, sort_keys=True)


#: What runs each command.
_COMMANDS: Mapping[str, Callable[[argparse.Namespace], Answer | str]] = {
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
