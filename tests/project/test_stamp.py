"""A stamp says "fresh" only where the whole work would; without one the answer is the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import engines
import pytest
from projects import BOOK, ROOT, digests, edge, edit, ledger, write_book

from ledger.declarations import project
from ledger.project import results, stamp

FRESH = f"{results.FRESH}\n"
STAMP = ".ledger/stamp.json"


#: Templates that no view of the small book needs.
UNREAD = re.compile(r"templates/(diff|gemm|smem)-?.*")


def used(book):
    """Return the hash of every file of a book that a build reads or writes."""
    found = digests(book).items()
    return {name: digest for name, digest in found if name != STAMP and not UNREAD.match(name)}


def test_a_build_leaves_a_stamp_of_every_file_that_it_reads_or_writes(book):
    assert dict(json.loads((book / STAMP).read_bytes())["files"]) == used(book)


@pytest.mark.engine
def test_a_build_opens_no_file_of_the_project_that_the_stamp_does_not_hold(book):
    engines.require("strace")
    (book / STAMP).unlink()
    command = ["strace", "-f", "-y", "-e", "trace=openat", sys.executable, "-m", "ledger", "build"]
    ran = subprocess.run(
        command,
        cwd=book,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    opened = {
        Path(found[1]).relative_to(book).as_posix()
        for found in re.finditer(r"= [0-9]+<([^>]+)>", ran.stderr)
        if Path(found[1]).is_relative_to(book) and Path(found[1]).is_file()
    }
    assert opened - {STAMP} == used(book).keys()


def test_a_stamp_names_no_folder_of_this_machine(book):
    assert str(book.parent).encode() not in (book / STAMP).read_bytes()


def test_a_book_is_as_fresh_in_another_folder(book, tmp_path):
    moved = shutil.move(book, tmp_path / "moved")
    assert stamp.is_fresh(moved)


@pytest.mark.parametrize("arguments", [("--set", "k=3"), ("--out", "else")])
def test_a_build_of_something_else_leaves_no_stamp(arguments, book):
    (book / STAMP).unlink()
    assert ledger(book, "build", *arguments).code == 0
    assert not (book / STAMP).exists()


def test_a_second_build_does_not_touch_the_stamp(book):
    before = (book / STAMP).stat().st_mtime_ns
    assert ledger(book, "build").code == 0
    assert (book / STAMP).stat().st_mtime_ns == before


NEW = {
    "report": "reports/third.toml",
    "chapter": "chapters/3.md",
    "beside the chapters": "chapters/deep/er.md",
    "beside the outputs": "reports/first/grid2.md",
}


@pytest.mark.parametrize("name", NEW.values(), ids=NEW)
def test_a_new_file_that_a_build_would_read_makes_the_check_work(name, book):
    (book / name).parent.mkdir(exist_ok=True)
    (book / name).write_text("", encoding="utf-8")
    assert not stamp.is_fresh(book)


@pytest.mark.parametrize("name", ["notes.md", "scenarios/more.csv", "templates/x/y.md.j2", "chapters/a.png"])
def test_a_new_file_that_no_build_reads_does_not(name, book):
    (book / name).parent.mkdir(exist_ok=True)
    (book / name).write_text("", encoding="utf-8")
    assert stamp.is_fresh(book)


def test_every_file_that_changes_or_goes_makes_the_check_work(book):
    seen = []
    for name in used(book):
        data = (book / name).read_bytes()
        (book / name).write_bytes(data + b" ")
        changed = stamp.is_fresh(book)
        (book / name).unlink()
        if changed or stamp.is_fresh(book):
            seen.append(name)
        (book / name).write_bytes(data)
    assert seen == []
    assert stamp.is_fresh(book)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        '{"version": 0}',
        '{"version": 4, "engine": 1, "files": 3}',
        '{"version": 4, "files": [], "patterns": [], "reports": {}, "chapters": {}, "left": {}}',
        "\x00",
    ],
)
def test_a_damaged_stamp_is_no_stamp(text, book):
    (book / STAMP).write_text(text, encoding="utf-8")
    assert not stamp.is_fresh(book)
    ran = ledger(book, "check")
    assert (ran.code, ran.out, ran.err) == (0, FRESH, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "options"),
    [("chapters/1.md", "682.67", "682.68", ()), ("scenarios/machines.csv", "5.0", "5.5", ("--json",))],
    ids=["edited", "moved"],
)
def test_without_a_stamp_the_answer_is_the_same(file, old, new, options, book):
    fresh = ledger(book, "check", *options)
    edit(book / file, old, new)
    stale = ledger(book, "check", *options)
    (book / STAMP).unlink()
    assert ledger(book, "check", *options) == stale
    edit(book / file, new, old)
    assert ledger(book, "check", *options) == fresh


def test_check_leaves_no_stamp(book):
    (book / STAMP).unlink()
    before = digests(book)
    assert ledger(book, "check").out == ledger(book, "check", "--full").out == FRESH
    assert digests(book) == before


def test_a_file_edited_during_the_build_is_not_taken_for_built(book, monkeypatch):
    """The build has read the old number; the stamp must not hold the new one."""
    edit(book / "scenarios/machines.csv", "5.0", "6.0")
    fsync = os.fsync

    def edits(handle):
        if b"6.0" in (book / "scenarios/machines.csv").read_bytes():
            edit(book / "scenarios/machines.csv", "6.0", "7.0")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", edits)
    assert ledger(book, "build").code == 0
    ran = ledger(book, "check")
    assert (ran.code, ran.lines[0]) == (1, "scenarios/machines.csv:3 speed 6.0 → 7.0")


def test_an_output_edited_during_the_build_is_stale(book, monkeypatch):
    edit(book / "scenarios/machines.csv", "5.0", "6.0")
    replace = os.replace

    def edits(source, target, **options):
        replace(source, target, **options)
        if str(target).endswith("one.csv"):
            target.write_bytes(b"edited")

    monkeypatch.setattr(os, "replace", edits)
    assert ledger(book, "build").code == 0
    assert ledger(book, "check").lines[-2:] == [
        "stale             reports/first/one.csv",
        "1 file is stale; run: tile-ledger build",
    ]


def test_a_stamp_that_cannot_be_written_is_talk(book):
    shutil.rmtree(book / ".ledger")
    (book / ".ledger").write_text("a file where the folder would be", encoding="utf-8")
    ran = ledger(book, "build")
    assert ran.code == 0
    assert ".ledger/stamp.json: cannot be written: Not a directory" in ran.err
    assert "the next check will do the whole work" in ran.err
    assert ledger(book, "check").out == FRESH


def test_an_engine_that_changed_makes_the_check_work(monkeypatch, tmp_path):
    engine = tmp_path / "engine"
    shutil.copytree(stamp._ENGINE, engine)  # noqa: SLF001  # where the engine's files are
    monkeypatch.setattr(stamp, "_ENGINE", engine)
    before = stamp.engine_hash()
    (engine / "display.py").write_text("# another rule\n", encoding="utf-8")
    assert stamp.engine_hash() != before


@pytest.mark.parametrize("name", ["templates/table.md.j2", "models/new.toml"])
def test_what_the_package_brings_counts_as_the_engine(name, monkeypatch, tmp_path):
    """A project without templates of its own is written by these."""
    for folder in ("templates", "models"):
        shutil.copytree(project.packaged(folder), tmp_path / folder)
    monkeypatch.setattr(stamp, "packaged", lambda folder: tmp_path / folder)
    before = stamp.engine_hash()
    (tmp_path / name).write_text("", encoding="utf-8")
    assert stamp.engine_hash() != before


def test_folders_of_one_name_are_all_watched(tmp_path):
    """Reports and scenarios in one folder."""
    folder = write_book(
        tmp_path / "flat",
        {
            "ledger.toml": 'reports = "r"\nmodels = "m"\nscenarios = "r"\n',
            "r/loans.csv": "id,sum\na,1\n",
            "r/it.toml": """
                [tables.loans.fields]
                sum = {}
                [sheets.s]
                rows = "loans"
                [views.v]
                sheet = "s"
                columns = ["sum"]
                """,
        },
    )
    assert stamp.is_fresh(folder)
    (folder / "r/new.toml").write_text("", encoding="utf-8")
    assert not stamp.is_fresh(folder)


def test_outputs_outside_the_project_are_watched(tmp_path):

    files = dict(BOOK)
    files["ledger.toml"] += 'reports = "../out"\nmodels = "reports/models"\n'
    for name in ("first", "second"):
        text = files.pop(f"reports/{name}.toml")
        files[f"../out/{name}.toml"] = text
    folder = write_book(tmp_path / "book", files)
    assert stamp.is_fresh(folder)
    (tmp_path / "out/first/grid.csv").write_text("", encoding="utf-8")
    ran = ledger(folder, "check")
    assert (ran.code, ran.lines[0]) == (1, "stale             ../out/first/grid.csv")


# What is not in the book itself.


def test_edges_10_a_template_included_under_any_name_is_read(tmp_path):
    """Its ending says nothing: `check --full` names it as the cause, too."""
    book = edge("10-template", tmp_path / "book")
    assert ledger(book, "build").code == 0
    edit(book / "templates/foot.txt", "draft", "FINAL")
    assert not stamp.is_fresh(book)
    ran = ledger(book, "check")
    assert (ran.code, ran.lines[0]) == (1, "templates/foot.txt a template changed")
    assert ledger(book, "check", "--full") == ran


def test_edges_10_a_template_that_was_looked_for_counts_when_it_comes(tmp_path):
    book = write_book(tmp_path / "book")
    (book / "templates/record.md.j2").unlink()
    assert ledger(book, "build").code == 0
    assert stamp.is_fresh(book)
    (book / "templates/record.md.j2").write_text("{{ view.name }}\n", encoding="utf-8")
    assert "stale             reports/first/one.md" in ledger(book, "check").lines


def test_edges_11_notes_outside_the_scenarios_count(tmp_path):
    files = dict(BOOK)
    files["reports/models/work.toml"] = files["reports/models/work.toml"].replace(
        "[tables.shapes.fields]", '[tables.shapes]\nnotes = "../notes/shapes.csv"\n[tables.shapes.fields]'
    )
    files["notes/shapes.csv"] = "row,field,note\nb,m,seen\n"
    book = write_book(tmp_path / "book", {name: text.replace("        ", "") for name, text in files.items()})
    assert stamp.is_fresh(book)
    edit(book / "notes/shapes.csv", "seen", "not seen")
    assert not stamp.is_fresh(book)
    assert "stale             reports/first/first.xlsx" in ledger(book, "check").lines


def test_a_file_outside_the_project_counts(tmp_path):
    files = dict(BOOK)
    files["ledger.toml"] += 'scenarios = "../data"\n'
    for name in ("shapes", "machines"):
        files[f"../data/{name}.csv"] = files.pop(f"scenarios/{name}.csv")
    book = write_book(tmp_path / "book", files)
    assert stamp.is_fresh(book)
    edit(tmp_path / "data/machines.csv", "5.0", "6.0")
    assert not stamp.is_fresh(book)


@pytest.mark.parametrize("library", stamp.LIBRARIES)
def test_edges_12_another_version_of_a_library_makes_the_check_work(library, book, monkeypatch):
    versions = stamp.versions()
    assert versions[library]
    monkeypatch.setattr(stamp, "versions", lambda: {**versions, library: "0.1"})
    assert not stamp.is_fresh(book)


def test_edges_12_a_library_whose_version_nobody_can_tell_is_not_trusted(book, monkeypatch):
    unknown = dict.fromkeys(stamp.LIBRARIES, "")
    monkeypatch.setattr(stamp, "versions", lambda: unknown)
    assert ledger(book, "build").code == 0
    assert not stamp.is_fresh(book)


#: They describe types, or are imported by another library for what no build asks of it.
WRITE_NOTHING = {"PIL", "defusedxml", "lxml", "annotated-types", "typing-extensions", "typing-inspection"}


def test_edges_12_every_library_that_a_build_imports_counts(book):
    code = (
        "import sys; from ledger import cli; cli.main(['build', '--overwrite', 'first/grid']);"
        "print(*(getattr(each, '__file__', '') for each in [*sys.modules.values()]), sep='\\n')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=book, env=environment, check=True, capture_output=True, text=True
    )
    modules = {name.replace("_", "-") for name in re.findall(r"site-packages/(\w+)", ran.stdout)}
    assert modules - {*stamp.LIBRARIES, "markdown-it", "-distutils-hack"} <= WRITE_NOTHING
