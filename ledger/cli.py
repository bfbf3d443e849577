"""The command line: arguments, printing, exit codes."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ledger.errors import LedgerError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

OK, TROUBLE = 0, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 2 trouble."""
    for stream in (sys.stdout, sys.stderr):
        _as_utf8(stream)
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except LedgerError as error:
        for problem in sorted(error.problems, key=_order):
            print(problem, file=sys.stderr)
        count = len(error.problems)
        print(f"{count} {'error' if count == 1 else 'errors'}, nothing written", file=sys.stderr)
        return TROUBLE
    except BrokenPipeError:
        return OK


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
    build = commands.add_parser("build", help="write workbooks and tables", description=_build.__doc__)
    build.add_argument("reports", nargs="*", metavar="REPORT", help="which reports; all by default")
    build.add_argument(
        "--out", type=Path, metavar="DIR", help="write to DIR/REPORT instead of the project's folder"
    )
    build.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="INPUT=VALUE",
        help="set an input on every sheet that has it",
    )
    build.set_defaults(command=_build)
    schema = commands.add_parser(
        "schema", help="print the JSON Schema of a declaration", description=_schema.__doc__
    )
    schema.add_argument("kind", nargs="?", default="report", choices=("report", "model", "project"))
    schema.set_defaults(command=_schema)
    return parser


def _build(options: argparse.Namespace) -> int:
    """Render all outputs of the reports, then write those that differ."""
    start = time.perf_counter()
    from ledger import build, declarations, publish  # noqa: PLC0415  # they import pandas and openpyxl

    root = declarations.find_root(Path.cwd())
    built = build.build(root, options.reports, _settings(options.set))
    folder = options.out or root / declarations.project(root).reports
    files = {folder / each.name / name: data for each in built for name, data in each.files.items()}
    became = publish.publish(files)
    for path, what in sorted(became.items()):
        print(f"{what:9}  {_shown(path, root)}")
    findings = [(each.name, finding) for each in built for finding in each.findings]
    for name, finding in findings:
        print(f"{name}: {finding}", file=sys.stderr)
    told = _counts(
        list(became.values()), [finding.what for _, finding in findings], [f.rows for _, f in findings]
    )
    print(f"{told} in {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return OK


def _settings(texts: Sequence[str]) -> dict[str, str]:
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


def _counts(became: Sequence[str], kinds: Sequence[str], rows: Sequence[int]) -> str:
    """Return the closing line: files written and unchanged, knife-edges, inexact numbers, error values."""
    totals: dict[str, int] = {"knife-edge": 0, "inexact": 0, "error value": 0}
    for kind, count in zip(kinds, rows, strict=True):
        totals[kind if kind in totals else "error value"] += count
    parts: Mapping[str, int] = {"written": became.count("written"), "unchanged": became.count("unchanged")}
    words = [f"{count} {word}" for word, count in parts.items()]
    words += [
        f"{count} {word}{'' if count == 1 or word == 'inexact' else 's'}" for word, count in totals.items()
    ]
    return ", ".join(words)


def _schema(options: argparse.Namespace) -> int:
    """Print the JSON Schema that an editor completes and checks a TOML file with."""
    from ledger import validation  # noqa: PLC0415  # it imports pydantic

    print(json.dumps(validation.schema(options.kind), indent=2, ensure_ascii=False, sort_keys=True))
    return OK
