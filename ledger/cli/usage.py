"""The commands and their arguments, as data: what each does in a few words, and what it takes."""

from __future__ import annotations

import argparse
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    #: The names of an argument and what argparse knows of it.
    Argument = tuple[tuple[str, ...], dict[str, Any]]


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to below 1")
    return value


def _choice(name: str, word: str, text: str, default: str | None = None) -> Argument:
    """Return an option that stands for a word, with its help; of several the last counts."""
    settings = {"action": "store_const", "dest": name, "const": word, "default": default, "help": text}
    return (f"--{word}",), settings


_JSON = _choice("form", "json", "print one JSON object", "text")
CALC: tuple[Argument, ...] = (
    (("--sweep",), {"action": "store_true", "help": "print the sweep"}),
    _choice("form", "csv", "print CSV with every digit", "txt"),
    _choice("form", "json", "print one JSON object", "txt"),
    _choice("form", "md", "print Markdown", "txt"),
    (("--xlsx",), {"type": Path, "metavar": "FILE", "help": "write the workbook, too"}),
    (
        ("--rows",),
        {
            "type": Path,
            "metavar": "FILE.csv",
            "help": "take rows from a file; print all columns as CSV, with --json as JSON",
        },
    ),
)
_KINDS = ("report", "model", "project")
#: What can recalculate a workbook; the first is asked unless another is named.
ENGINES = ("ironcalc", "libreoffice")
#: Each command: what it does in a few words, its arguments.
COMMANDS: Mapping[str, tuple[str, tuple[Argument, ...]]] = {
    "build": (
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
            (
                ("--prune",),
                {"action": "store_true", "help": "remove what an earlier build wrote and nothing writes now"},
            ),
            (("--verbose",), {"action": "store_true", "help": "list unchanged files, too"}),
        ),
    ),
    "check": (
        "tell what is stale and why",
        (
            (("--full",), {"action": "store_true", "help": "do the whole work, whatever the stamp says"}),
            _JSON,
        ),
    ),
    "calc": (
        "answer one question",
        (
            (("report",), {"metavar": "REPORT", "help": "calc REPORT --help lists its options"}),
            (("rest",), {"nargs": argparse.REMAINDER, "metavar": "…", "help": argparse.SUPPRESS}),
        ),
    ),
    "explain": (
        "follow a cell to its inputs",
        (
            (("cell",), {"metavar": "REPORT/SHEET/ROW/COLUMN", "help": "a sheet of one row has no ROW"}),
            _JSON,
        ),
    ),
    "review": (
        "tell what a reviewer changed in a workbook",
        (
            (("workbook",), {"type": Path, "metavar": "EDITED.xlsx", "help": "a workbook that came back"}),
            (
                ("--apply",),
                {"action": "store_true", "help": "write changed inputs into their CSVs, formulas never"},
            ),
            _choice("form", "md", "print Markdown, for a merge request", "text"),
            _JSON,
        ),
    ),
    "diff": (
        "compare workbooks by names",
        (
            (
                ("names",),
                {
                    "nargs": "*",
                    "metavar": "OLD NEW",
                    "help": "two workbooks; or one or two revisions, then paths after --",
                },
            ),
            _JSON,
            _choice("form", "md", "print Markdown, such as for a merge request"),
            _choice("form", "html", "print a page"),
            (
                ("--tolerance",),
                {
                    "type": _tolerance,
                    "default": 1e-12,
                    "metavar": "X",
                    "help": "floats this close, relative to the larger, are the same",
                },
            ),
            (("--text",), {"metavar": "BOOK", "help": "print one workbook as lines, for git"}),
        ),
    ),
    "git-config": (
        "let git show workbooks as lines",
        (
            _choice("switch", "enable", "set it in this repository's own configuration"),
            _choice("switch", "disable", "take it out"),
        ),
    ),
    "audit": (
        "find what is wrong with a workbook",
        (
            (("workbook",), {"type": Path, "metavar": "BOOK.xlsx", "help": "a workbook of ours"}),
            _JSON,
        ),
    ),
    "verify": (
        "recalculate a workbook and compare",
        (
            (
                ("workbook",),
                {"type": Path, "metavar": "BOOK.xlsx", "help": "ours, whoever edited or saved it"},
            ),
            (("--engine",), {"choices": ENGINES, "default": ENGINES[0], "help": f"by default {ENGINES[0]}"}),
            _JSON,
        ),
    ),
    "init": (
        "start a book",
        ((("folder",), {"type": Path, "metavar": "DIR", "help": "a new or an empty folder"}),),
    ),
    "schema": (
        "print the JSON Schema of a declaration",
        ((("kind",), {"nargs": "?", "default": "report", "choices": _KINDS}),),
    ),
}
