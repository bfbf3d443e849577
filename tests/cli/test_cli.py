"""Exit codes, what goes to stdout and what to stderr, and where files are written."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys

import pytest
from projects import ROOT, write_project

from ledger import cli
from ledger.cli import main, usage
from ledger.project import results

MODEL = """
[inputs]
M = { kind = "integer", min = 1, default = 4 }
N = { default = 2 }
[columns.flop]
formula = "2 * M / N"
label = { zh = "计算量", en = "work" }
"""
REPORT = """
models = ["m"]
title = "账本"
[sheets.one]
[views.one]
kind = "record"
sheet = "one"
columns = ["M", "flop"]
"""
FILES = {
    "ledger.toml": 'language = "zh"\n',
    "reports/models/m.toml": MODEL,
    "reports/a.toml": REPORT,
    "reports/b.toml": REPORT,
}
TEMPLATES = [f"templates/{path.name}" for path in (ROOT / "templates").iterdir()]
OUTPUTS = ("a.xlsx", "one.csv", "one.html", "one.md", "one.txt")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return a small project, which is the working folder."""
    folder = write_project(tmp_path / "project", FILES)
    monkeypatch.chdir(folder)
    return folder


def run(capsys, *arguments):
    """Return the exit code, the lines of stdout and those of stderr."""
    try:
        code = main(arguments)
    except SystemExit as left:
        code = left.code
    out, err = capsys.readouterr()
    return code, out.splitlines(), err.splitlines()


def apart(folder, *arguments, **environment):
    """Run the program as its own process in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "ledger", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        check=False,
    )


def written(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def commands():
    """Return the parser of every command, by name."""
    (found,) = (
        each
        for each in cli._parser([*usage.COMMANDS])._actions  # noqa: SLF001  # argparse has no other way to list them
        if isinstance(each, argparse._SubParsersAction)  # noqa: SLF001
    )
    return found.choices


def test_build_says_on_stdout_what_it_wrote_and_on_stderr_how_it_went(root, capsys):
    code, out, err = run(capsys, "build", "a")
    assert (code, out) == (0, [f"written    reports/a/{name}" for name in OUTPUTS])
    assert re.fullmatch(
        r"5 written, 0 unchanged, 0 knife-edges, 0 inexact, 0 denormal, 0 printed as 0, "
        r"0 error values, 0 failed claims in \d+\.\d s",
        err[-1],
    )
    assert written(root / "reports" / "a") == list(OUTPUTS)


def test_second_build_writes_nothing_and_says_so(root, capsys):
    run(capsys, "build")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    code, out, err = run(capsys, "build")
    assert (code, out) == (0, [])
    assert err[-1].startswith("0 written, 10 unchanged, ")
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_only_what_was_changed_is_written_again(root, capsys):
    run(capsys, "build")
    (root / "reports/a/one.md").write_text("edited", encoding="utf-8")
    (root / "reports/b/one.csv").unlink()
    _, out, _ = run(capsys, "build")
    assert out == [
        "written    reports/a/one.md",
        "written    reports/b/one.csv",
    ]


@pytest.mark.usefixtures("root")
def test_findings_are_talk(capsys):
    code, out, err = run(capsys, "build", "a", "--set", "N=0")
    assert (code, len(out)) == (0, len(OUTPUTS))
    assert err[0] == "a: #DIV/0!: one/flop"
    assert ", 1 error value, " in err[-1]


def test_set_reaches_the_outputs(root, capsys):
    run(capsys, "build", "--set", "M=100", "--set", "N=8")
    assert (root / "reports/a/one.csv").read_text(encoding="utf-8") == "M,flop\n100,25\n"


def test_out_writes_elsewhere_and_leaves_the_project_alone(root, tmp_path, capsys):
    before = written(root)
    code, out, _ = run(capsys, "build", "a", "--out", str(tmp_path / "else" / "where"))
    assert (code, written(root)) == (0, before)
    assert written(tmp_path / "else" / "where") == [f"a/{name}" for name in OUTPUTS]
    assert out[0] == f"written    {tmp_path}/else/where/a/a.xlsx"


def test_out_is_told_from_the_working_folder(root, capsys, monkeypatch):
    monkeypatch.chdir(root / "reports")
    _, out, _ = run(capsys, "build", "a", "--out", "here")
    assert out[0] == "written    reports/here/a/a.xlsx"


def test_sub_folder_of_a_project_will_do(root, capsys, monkeypatch):
    monkeypatch.chdir(root / "reports" / "models")
    code, out, _ = run(capsys, "build", "b")
    assert (code, out[0]) == (0, "written    reports/b/b.xlsx")


@pytest.mark.parametrize("kind", ["report", "model", "project"])
def test_schema_is_data_alone(kind, capsys):
    code, out, err = run(capsys, "schema", kind)
    assert (code, err) == (0, [])
    assert json.loads("\n".join(out))["type"] == "object"
    assert run(capsys, "schema", kind)[1] == out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("biuld",),
        ("build", "--ste", "M=1"),
        ("build", "--out"),
        ("build", "--overwrite"),
        ("check", "a"),
        ("check", "--ful1"),
        ("explain",),
        ("explain", "a/one/M", "b/one/M"),
        ("init",),
        ("schema", "sheet"),
        ("--nothing",),
    ],
    ids=[
        "none",
        "command",
        "option",
        "no folder",
        "no block",
        "report",
        "nearly an option",
        "no cell",
        "two cells",
        "no book",
        "kind",
        "option of none",
    ],
)
def test_wrong_usage_is_trouble(arguments, root, capsys):
    before = written(root)
    code, out, err = run(capsys, *arguments)
    assert (code, out, written(root)) == (2, [], before)
    assert err[0].startswith("usage: tile-ledger")


def test_mistakes_are_talk_and_trouble(root, capsys):
    (root / "reports/a.toml").write_text("basis = 'guess'\n", encoding="utf-8")
    (root / "reports/b.toml").write_text("sheet = 1\n", encoding="utf-8")
    before = written(root)
    code, out, err = run(capsys, "build")
    assert (code, out, written(root)) == (2, [], before)
    assert err == [
        "reports/a.toml:1:10: 'guess' is not one of 'derived', 'vendor' or 'measured'",
        "reports/b.toml:1:1: unknown key 'sheet'",
        "  did you mean 'sheets'?",
        "2 errors, nothing written",
    ]


def test_output_that_cannot_be_written_is_trouble(root, capsys):
    (root / "reports/b").write_text("a file where the folder would be", encoding="utf-8")
    before = written(root)
    code, out, err = run(capsys, "build")
    assert (code, out, written(root)) == (2, [], before)
    assert err == ["reports/b/b.xlsx: cannot be written: Not a directory", "1 error, nothing written"]


def test_folder_outside_a_project_is_trouble(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "build")
    assert (code, out) == (2, [])
    assert err[0] == f"no ledger.toml in {tmp_path.name} or above it"


@pytest.mark.parametrize("name", commands())
def test_every_command_is_documented(name, capsys):
    parser = commands()[name]
    assert parser.description
    assert all(each.help or each.choices for each in parser._actions)  # noqa: SLF001
    code, out, err = run(capsys, name, "--help")
    assert (code, out[0].startswith(f"usage: tile-ledger {name}"), err) == (0, True, [])


def test_help_lists_every_command(tmp_path):
    """The program needs no project, nor pandas, to say what it can do."""
    helped = apart(tmp_path, "--help")
    assert (helped.returncode, helped.stderr) == (0, b"")
    for name in commands():
        assert re.search(rf"^ +{name}\s+\w", helped.stdout.decode(), re.MULTILINE), name


def test_check_tells_what_is_stale_by_its_exit_code_alone_and_writes_nothing(root, capsys):
    never_built = run(capsys, "check")
    assert (never_built[0], never_built[2], written(root)) == (1, [], sorted([*FILES, *TEMPLATES]))
    run(capsys, "build")
    before = written(root)
    assert run(capsys, "check") == (0, [results.FRESH], [])
    (root / "reports/a/one.md").write_text("edited", encoding="utf-8")
    stale = run(capsys, "check")
    assert (stale[0], stale[1][-1]) == (1, "1 file is stale; run: tile-ledger build")
    assert (stale[2], written(root)) == ([], before)


def test_check_is_told_from_a_sub_folder_too(root, capsys, monkeypatch):
    run(capsys, "build")
    monkeypatch.chdir(root / "reports" / "models")
    assert run(capsys, "check") == (0, [results.FRESH], [])
    (root / "reports/b/one.csv").unlink()
    assert run(capsys, "check")[1][0] == "missing           reports/b/one.csv"


@pytest.mark.parametrize("command", [("check",), ("check", "--json"), ("explain", "a/one/M"), ("build",)])
def test_every_command_on_a_project_needs_one(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *command)
    assert (code, out, err[0]) == (2, [], f"no ledger.toml in {tmp_path.name} or above it")


@pytest.mark.slow
def test_chinese_is_printed_in_any_locale(root):
    """Labels and errors come out as UTF-8 where the terminal says it knows ASCII alone."""
    ascii_only = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert apart(root, "build", **ascii_only).returncode == 0
    assert "计算量" in (root / "reports/a/one.md").read_text(encoding="utf-8")
    model = MODEL.replace("2 * M / N", "'甲乙' if 丙 else '丁'")
    (root / "reports/models/m.toml").write_text(model, encoding="utf-8")
    wrong = apart(root, "build", **ascii_only)
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert wrong.stderr.decode().startswith("reports/models/m.toml:6:20: unknown name '丙'\n")


def test_reader_that_stops_reading_is_no_trouble(root):
    """As in `tile-ledger schema | head -1`."""
    with subprocess.Popen(
        [sys.executable, "-m", "ledger", "schema"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait() == 0


@pytest.mark.slow
def test_what_a_build_counted_comes_below_what_it_wrote(book):
    """A terminal shows both streams: the last line is the sum."""
    done = subprocess.run(
        [sys.executable, "-m", "ledger", "build", "--verbose"],
        cwd=book,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    *files, last = done.stdout.splitlines()
    assert (files[0].split()[0], last.split(",")[0]) == ("unchanged", "0 written")
