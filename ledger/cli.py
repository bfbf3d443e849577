"""The command line: arguments, printing, exit codes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TextIO

    from ledger.edition import Edition
    from ledger.errors import LedgerError, Problem

OK, FOUND, TROUBLE = 0, 1, 2
_FRESH = "fresh: nothing changed since the last build"
_FRESH_JSON = '{"schema": 1, "fresh": true, "causes": [], "moved": [], "stale": [], "repair": ""}'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 something found, 2 trouble."""
    for stream in (sys.stdout, sys.stderr):
        _as_utf8(stream)
    options = _parser().parse_args(arguments)
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


def _tell(error: LedgerError) -> int:
    """Print every problem at its place."""
    for problem in sorted(error.problems, key=_order):
        print(problem, file=sys.stderr)
    count = len(error.problems)
    print(f"{count} {'error' if count == 1 else 'errors'}, nothing written", file=sys.stderr)
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
    for name, (command, short, arguments) in _COMMANDS.items():
        sub = commands.add_parser(name, help=short, description=command.__doc__)
        sub.set_defaults(command=command)
        for names, options in arguments:
            sub.add_argument(*names, **options)
    return parser


def _build(options: argparse.Namespace) -> int:
    """Render all outputs and chapters, then write those that differ."""
    start = perf_counter()
    from ledger import edition, publish, root, told  # noqa: PLC0415  # they import pandas and openpyxl

    folder = root.find_root(Path.cwd())
    overwrite = frozenset(options.overwrite)
    request = edition.Request(options.reports, _settings(options.set), options.out, overwrite)
    with publish.locked(folder / root.PROJECT_FILE):
        made = edition.edition(folder, request)
        edition.refuse_edits(made, overwrite)
        became = publish.publish(made.files, made.before)
        if request.is_whole():
            _leave_stamp(folder, made)
    for path, what in sorted(became.items()):
        print(f"{what:9}  {_shown(path, folder)}")
    for line in told.notes(made):
        print(line, file=sys.stderr)
    print(f"{told.counts(became, made)} in {perf_counter() - start:.1f} s", file=sys.stderr)
    return OK


def _leave_stamp(folder: Path, made: Edition) -> None:
    """Leave a stamp by which the next check knows that nothing changed; without one it does the work."""
    from ledger import edition, publish, stamp  # noqa: PLC0415  # the same
    from ledger.errors import LedgerError  # noqa: PLC0415  # the same

    patterns, named = edition.stamped(made)
    text = stamp.stamp_text(folder, patterns, named)
    try:
        publish.publish({stamp.stamp_path(folder): text.encode()})
    except LedgerError as error:
        print(f"{error}: the next check will do the whole work", file=sys.stderr)


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
    from ledger import root, stamp  # noqa: PLC0415  # light

    folder = root.find_root(Path.cwd())
    if not options.full and stamp.is_fresh(folder):
        print(_FRESH_JSON if options.json else _FRESH)
        return OK
    from ledger import drift, edition, told  # noqa: PLC0415  # they import pandas and openpyxl

    found = drift.drift(edition.edition(folder, edition.Request()))
    print(told.drift_json(found) if options.json else told.drift_text(found))
    return FOUND if found.stale else OK


def _explain(options: argparse.Namespace) -> int:
    """Print a cell's formula in names and in numbers, its value, its inputs and their places, its readers."""
    from ledger import explain, root, told  # noqa: PLC0415  # they import pandas

    folder = root.find_root(Path.cwd())
    found = explain.explained(folder, options.cell)
    print(told.explanation_json(found) if options.json else told.explanation_text(found))
    return OK


def _init(options: argparse.Namespace) -> int:
    """Start a book: a model, a report, a chapter, and what a build and a commit hook need."""
    from ledger import starter  # noqa: PLC0415  # it reads the package's files

    for name in starter.start(options.folder):
        print(f"written    {name}")
    print(f"now: cd {options.folder} && tile-ledger build && tile-ledger check", file=sys.stderr)
    return OK


def _schema(options: argparse.Namespace) -> int:
    """Print the JSON Schema that an editor completes and checks a TOML file with."""
    import json  # noqa: PLC0415  # nothing else here needs it

    from ledger import validation  # noqa: PLC0415  # it imports pydantic

    print(json.dumps(validation.schema(options.kind), indent=2, ensure_ascii=False, sort_keys=True))
    return OK


_JSON = (("--json",), {"action": "store_true", "help": "print one JSON object"})
_KINDS = ("report", "model", "project")
#: Each command: what runs it, what it does in a few words, its arguments.
_COMMANDS: dict[
    str, tuple[Callable[[argparse.Namespace], int], str, tuple[tuple[tuple[str, ...], Any], ...]]
] = {
    "build": (
        _build,
        "write workbooks, tables and chapters",
        (
            (("reports",), {"nargs": "*", "metavar": "REPORT", "help": "which reports; all by default"}),
            (
                ("--out",),
                {"type": Path, "metavar": "DIR", "help": "write outputs to DIR/REPORT, and no chapter"},
            ),
            (
                ("--set",),
                {
                    "action": "append",
                    "default": [],
                    "metavar": "INPUT=VALUE",
                    "help": "set an input on every sheet that has it",
                },
            ),
            (
                ("--overwrite",),
                {
                    "action": "append",
                    "default": [],
                    "metavar": "REPORT/VIEW",
                    "help": "write over a block edited by hand",
                },
            ),
        ),
    ),
    "check": (
        _check,
        "tell what is stale and why",
        (
            (("--full",), {"action": "store_true", "help": "do the whole work, whatever the stamp says"}),
            _JSON,
        ),
    ),
    "explain": (
        _explain,
        "follow a cell to its inputs",
        (
            (("cell",), {"metavar": "REPORT/SHEET/ROW/COLUMN", "help": "a sheet of one row has no ROW"}),
            _JSON,
        ),
    ),
    "init": (
        _init,
        "start a book",
        ((("folder",), {"type": Path, "metavar": "DIR", "help": "a new or an empty folder"}),),
    ),
    "schema": (
        _schema,
        "print the JSON Schema of a declaration",
        ((("kind",), {"nargs": "?", "default": "report", "choices": _KINDS}),),
    ),
}
