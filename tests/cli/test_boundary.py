"""What nobody foresaw is one line and exit code 2; what cannot be read or written says which file and why."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from projects import ROOT, digests, ledger, write_book

from ledger import cli
from ledger.project.project import Project

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
#: What each command is given to have something to do.
COMMANDS = {
    "build": (),
    "check": ("--full",),
    "calc": ("first", "--machine", "two"),
    "explain": ("first/one/time",),
    "review": ("reports/first/first.xlsx",),
    "diff": ("reports/first/first.xlsx", "reports/first/first.xlsx"),
    "audit": ("reports/first/first.xlsx",),
    "verify": ("reports/first/first.xlsx",),
    "schema": (),
    "--help": (),
    "--version": (),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    book = write_book(tmp_path_factory.mktemp("built") / "book")
    ledger(book, "build")
    return book


@pytest.fixture
def book(built, tmp_path):
    """Return a book of the test's own."""
    return shutil.copytree(built, tmp_path / "book")


def run(folder, *arguments, stdout=subprocess.PIPE):
    """Run a command as a process of its own; standard output is a file or what is returned."""
    return subprocess.run(
        [sys.executable, "-m", "ledger", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    "failure", [KeyError(".txt"), RecursionError("too deep"), ZeroDivisionError(), StopIteration()]
)
def test_what_nobody_foresaw_is_one_line(failure, book, monkeypatch):
    def fail(*_arguments, **_options):
        raise failure

    monkeypatch.setattr(Project, "check", fail)
    ran = ledger(book, "check")
    assert (ran.code, ran.out) == (cli.TROUBLE, "")
    (line,) = ran.err.splitlines()
    assert line.startswith(f"a mistake of Tile Ledger itself: {type(failure).__name__}")
    assert line.endswith("; --debug shows where")
    with pytest.raises(type(failure)):
        ledger(book, "check", "--debug")


def test_a_long_message_of_many_lines_is_one_short_line(book, monkeypatch):
    def fail(*_arguments, **_options):
        raise ValueError("word\n" * 10_000)

    monkeypatch.setattr(Project, "check", fail)
    (line,) = ledger(book, "check").err.splitlines()
    assert len(line) < 400


def unreadable(path):
    """Let reading a file fail for everybody, the root user too, in the middle of it."""
    path.unlink()
    path.symlink_to("/proc/self/mem")


READ = [
    "chapters/1.md",
    "ledger.toml",
    "reports/first.toml",
    "reports/first/first.xlsx",
    "reports/first/grid.md",
    "reports/models/work.toml",
    "scenarios/machines.csv",
]


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("command", [("check",), ("check", "--full"), ("build",)], ids=" ".join)
def test_edges_23_file_that_cannot_be_read_is_named(name, command, book):
    unreadable(book / name)
    ran = run(book, *command)
    assert (ran.returncode, ran.stdout) == (2, "")
    place, _, why = ran.stderr.splitlines()[0].partition(": ")
    assert (place.partition(":")[0], why) in [
        (name, f"{what}: Input/output error") for what in ("cannot be read", "cannot be written")
    ]
    assert str(book) not in ran.stderr


@pytest.mark.parametrize("name", ["said.txt.j2", "table.md.j2"])
@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("NAME", "Too many levels of symbolic links"),
        ("missing", "No such file or directory"),
        ("../chapters/1.md", "the link leads out of templates/"),
    ],
)
def test_edges_23_template_that_cannot_be_read_is_not_passed_over(name, target, why, book):
    """Neither for one of the package's own that is called like it."""
    (book / "templates" / name).unlink()
    (book / "templates" / name).symlink_to(target.replace("NAME", name))
    ran = run(book, "check", "--full")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[0] == f"templates/{name}: template cannot be read: {why}"


@pytest.mark.parametrize(
    "command", [("audit",), ("review",), ("verify",), ("diff", "reports/first/first.xlsx")]
)
def test_edges_23_workbook_that_cannot_be_read_is_named(command, book):
    unreadable(book / "reports/second/second.xlsx")
    ran = run(book, *command, "reports/second/second.xlsx")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[0] == "reports/second/second.xlsx: cannot be read: Input/output error"


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"schema", "--help", "--version"}))
def test_edges_23_working_folder_that_is_gone_is_told(command, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"rmdir {gone}; exec {sys.executable} -m ledger {command} {' '.join(COMMANDS[command])}"
    ran = subprocess.run(
        ["sh", "-c", script], cwd=gone, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, "Traceback" in ran.stderr) == (2, "", False)
    assert "cannot be" in ran.stderr


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_edges_24_full_disk_behind_standard_output_is_told(command, book):
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        ran = run(
            book, command, *COMMANDS[command], *(["--verbose"] if command == "build" else []), stdout=full
        )
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1] == "standard output: cannot be written: No space left on device"
    assert ("Traceback" in ran.stderr, "Exception ignored" in ran.stderr) == (False, False)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_reader_that_leaves_is_no_trouble(command, book):
    arguments = [sys.executable, "-m", "ledger", command, *COMMANDS[command]]
    with subprocess.Popen(
        arguments, cwd=book, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode in (0, 1)
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err


SLOW = """
import sys, time
from ledger import cli
from ledger.project import publish
staged = publish._staged
def slowly(*arguments):
    print("staging", flush=True)
    time.sleep(0.1)
    return staged(*arguments)
publish._staged = slowly
sys.exit(cli.main(["build"]))
"""


def test_edges_24_ctrl_c_is_one_line_and_leaves_no_half_file(book):
    (book / "scenarios/machines.csv").write_text(
        (book / "scenarios/machines.csv").read_text().replace("3.0", "3.5")
    )
    before = digests(book)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=book,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "staging\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (cli.INTERRUPTED, "interrupted\n")
    assert digests(book) == before
