"""Workbooks of strangers: every command reads or refuses them, in a few lines, soon, in little memory."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import hostile
import pytest
from projects import ROOT, ledger, write_book

from ledger.review.verify import engines

CASES = ROOT / "tests/cases/hostile"
NAME = "reports/first/first.xlsx"
COMMANDS = (
    ("audit", NAME),
    ("review", NAME),
    ("verify", NAME),
    ("diff", "clean.xlsx", NAME),
    ("diff", NAME, NAME),
    ("diff", "--text", NAME),
)
MOST_KB, MOST_S = 1_000_000, 20
#: Runs commands one after the other, each as a process, and prints what each came to.
RUNNER = """
import os, subprocess, sys, time
for command in eval(sys.argv[1]):
    with open("out", "wb") as out, open("err", "wb") as err:
        started = subprocess.Popen([sys.executable, "-m", "ledger", *command], stdout=out, stderr=err)
        _, status, used = os.wait4(started.pid, 0)
    print([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss])
    print(repr(open("err", encoding="utf-8", errors="replace").read()[-4000:]), flush=True)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    book = write_book(tmp_path_factory.mktemp("built") / "book")
    ledger(book, "build")
    shutil.copy(book / NAME, book / "clean.xlsx")
    return book


@pytest.fixture
def book(built, tmp_path):
    """Return a book of the test's own."""
    return shutil.copytree(built, tmp_path / "book")


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (6 * MOST_S, 6 * MOST_S))


def wrong(book, commands=COMMANDS):
    """Return what commands do that they should not, with the last lines of each."""
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, repr(commands)],
        cwd=book,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=limited,
    )
    lines = done.stdout.splitlines()
    found = []
    for command, figures, err in zip(commands, lines[::2], lines[1::2], strict=True):
        code, seconds, kilobytes = eval(figures)  # noqa: S307  # printed by the runner above
        told = eval(err)  # noqa: S307  # the same
        if code not in (0, 1, 2) or seconds > MOST_S or kilobytes > MOST_KB:
            found.append((command, code, seconds, kilobytes))
        if "Traceback" in told or "a mistake of" in told or (code == 2 and len(told.splitlines()) > 6):
            found.append((command, told[-400:]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", hostile.HOSTILE)
def test_edges_33_every_command_ends_on_what_somebody_made_to_break_it(name, book):
    (book / NAME).write_bytes(hostile.changed((book / NAME).read_bytes(), **hostile.HOSTILE[name]))
    assert wrong(book) == []


@pytest.mark.parametrize("case", ["longsum", "deepnote", "cellbomb", "sharedbomb"])
def test_edges_25_and_33_every_command_ends_on_the_files_that_broke_it(case, book):
    shutil.copy(CASES / f"{case}.xlsx", book / NAME)
    assert wrong(book) == []


def test_edges_25_a_long_sum_is_read(book):
    """A spreadsheet takes 8,192 characters; it ended with a RecursionError, and so did git's log."""
    assert ledger(book, "audit", str(CASES / "longsum.xlsx")).code == 1
    text = ledger(book, "diff", "--text", str(CASES / "longsum.xlsx"))
    assert (text.code, text.out.count("+1") > 400) == (0, True)


@pytest.mark.parametrize("case", ["deepnote", "cellbomb", "sharedbomb"])
def test_edges_25_and_33_what_is_refused_is_no_end_of_a_log(case, book):
    """The command of git's textconv says why, and ends well: else git stops at the whole repository's log."""
    text = ledger(book, "diff", "--text", str(CASES / f"{case}.xlsx"))
    assert (text.code, text.out.startswith("cannot be read: "), text.out.count("\n")) == (0, True, 1)


@pytest.mark.parametrize("name", ["no rows", "an empty element of rows"])
def test_edges_26_a_worksheet_without_rows_is_an_empty_one(name, book):
    (book / NAME).write_bytes(hostile.changed((book / NAME).read_bytes(), **hostile.HOSTILE[name]))
    ran = ledger(book, "audit", NAME)
    assert (ran.code, ran.err) == (1, "")
    assert "error: gone" in ran.out


@pytest.mark.parametrize("name", ["-x.xlsx", "--text.xlsx", "-.xlsx"])
def test_edges_27_the_name_of_a_workbook_is_no_option(name, book):
    shutil.copy(book / NAME, book / name)
    assert ledger(book, "audit", name).code == 0
    assert ledger(book, "diff", name, NAME).code == 0
    assert ledger(book, "diff", "--text", name).out == ledger(book, "diff", "--text", NAME).out


def test_edges_27_git_shows_a_workbook_of_any_name(book):
    def git(*arguments):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(
            command, cwd=book, env=os.environ, capture_output=True, text=True, check=True
        ).stdout

    git("init", "--quiet")
    shutil.copy(book / NAME, book / "-x.xlsx")
    (book / ".gitattributes").write_text("*.xlsx diff=tile-ledger\n", encoding="utf-8")
    assert ledger(book, "git-config", "--enable").code == 0
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    shutil.copy(CASES / "longsum.xlsx", book / "-x.xlsx")
    assert "+" in git("diff")
    assert "-x.xlsx" in git("log", "--patch")


def test_edges_32_the_engine_is_looked_for_first(book, monkeypatch):
    """A workbook of 2,000 rows was read for 3.4 s before it was said that the engine is missing."""
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    (book / NAME).write_bytes(b"no workbook, which nobody gets to see")
    ran = ledger(book, "verify", NAME)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "ironcalc is not installed")
    monkeypatch.setattr(engines, "_PROGRAMS", ())
    ran = ledger(book, "verify", "--engine", "libreoffice", NAME)
    assert ran.err.startswith("soffice, the program of LibreOffice, is not on the PATH")


def test_every_case_is_a_file_of_this_folder():
    assert sorted(path.name for path in Path(CASES).iterdir()) == [
        "cellbomb.xlsx", "deepnote.xlsx", "longsum.xlsx", "sharedbomb.xlsx"
    ]  # fmt: skip
