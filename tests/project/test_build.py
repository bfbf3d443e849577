"""A build works out what changed, and leaves what a build of everything leaves."""

from __future__ import annotations

import os
import random
import re
import shutil

import pytest
from projects import digests, edit, ledger

from ledger.project import reports

STAMP = ".ledger/stamp.json"
RUNS = max(2, int(os.environ.get("LEDGER_RANDOM", "100")) // 20)


def replaced(name, old, new):
    """Return an edit of a file that a second time takes itself back."""

    def apply(book):
        text = (book / name).read_text(encoding="utf-8")
        there = old in text
        text = text.replace(old, new) if there else text.replace(new, old)
        (book / name).write_text(text, encoding="utf-8")

    return apply


def toggled(name, text):
    """Return an edit that writes a file, or deletes it where it is."""

    def apply(book):
        path = book / name
        if path.is_file():
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return apply


ARGUMENTS = ((), (), ("--verbose",), ("first",), ("second",), ("second", "first"))
MARKERS = "<!-- ledger:begin second/one -->\n<!-- ledger:end second/one -->\n"
EDITS = {
    "a number that one report prints": replaced("scenarios/shapes.csv", "64,16", "65,16"),
    "a number that both print": replaced("scenarios/machines.csv", "3.0", "3.5"),
    "a label of the model": replaced("reports/models/work.toml", "time taken", "duration"),
    "a display rule": replaced("reports/models/work.toml", '"si 3"', '"si 4"'),
    "a view's columns": replaced("reports/first.toml", '"m", "work", "time"', '"work", "m", "time"'),
    "a limit of a report": replaced("reports/first.toml", "Nothing is measured.", "All is modelled."),
    "a template of a view": replaced("templates/said.txt.j2", "took", "needed"),
    "a template of all": replaced("templates/table.md.j2", "{% for row", "\n{% for row"),
    "a template that comes": toggled("templates/basis.txt.j2", "x"),
    "the language": replaced("ledger.toml", '"en"', '"zh"'),
    "the words around a value": replaced("chapters/1.md", "or so", "or less"),
    "a cell by hand": replaced("chapters/2.md", "| m ", "| n "),
    "a block more": replaced("chapters/1.md", "# One\n", f"# One\n\n{MARKERS}\n"),
    "a chapter without a marker": toggled("chapters/3.md", "# Three\n"),
    "an output that goes": toggled("reports/first/grid.csv", "edited"),
    "an output that is edited": toggled("reports/second/one.md", "edited"),
    "a workbook that goes": lambda book: (book / "reports/first/first.xlsx").unlink(missing_ok=True),
    "a stamp that goes": lambda book: (book / STAMP).unlink(missing_ok=True),
    "another report": toggled("reports/third.toml", 'models = ["work"]\n[sheets.one]\n'),
    "nothing": lambda _book: None,
}


def told(ran):
    """Return what a command said, but for the seconds that it took."""
    return ran.code, ran.out, re.sub(r" in [0-9.]+ s$", "", ran.err, flags=re.MULTILINE)


def outputs(book):
    return {name: digest for name, digest in digests(book).items() if name != STAMP}


@pytest.mark.parametrize("seed", range(RUNS))
def test_a_build_by_the_stamp_leaves_and_says_what_a_whole_build_does(seed, book, tmp_path):
    rng = random.Random(seed)  # noqa: S311  # which edits come after each other
    for step in range(8):
        names = rng.sample(sorted(EDITS), rng.choice([1, 1, 2]))
        for name in names:
            EDITS[name](book)
        command = ("build", *rng.choice(ARGUMENTS))
        clone = shutil.copytree(book, tmp_path / f"clone{step}")
        (clone / STAMP).unlink(missing_ok=True)
        assert told(ledger(book, "check")) == told(ledger(clone, "check")), (seed, step, names)
        ran, whole = ledger(book, *command), ledger(clone, *command)
        assert (told(ran), outputs(book)) == (told(whole), outputs(clone)), (seed, step, names, command)
        full = ledger(book, "check", "--full")
        assert told(ledger(book, "check")) == told(full), (seed, step, names, command)


@pytest.fixture
def worked(monkeypatch):
    """Return the names of the reports that were worked out, as they are."""
    found = []
    evaluated = reports.evaluated_report

    def spied(declared, *arguments):
        found.append(declared.name)
        return evaluated(declared, *arguments)

    monkeypatch.setattr(reports, "evaluated_report", spied)
    return found


#: What is edited, and what has to be worked out.
PARTS = {
    "nothing": ("nothing", []),
    "a CSV that one report reads": ("a number that one report prints", ["first"]),
    "a CSV that both read": ("a number that both print", ["first", "second"]),
    "a report": ("a limit of a report", ["first"]),
    "a template of a view": ("a template of a view", ["second"]),
    "a chapter of one report": ("the words around a value", ["first"]),
    "a chapter that names another now": ("a block more", ["first", "second"]),
    "a chapter without a marker": ("a chapter without a marker", []),
    "an output": ("an output that goes", ["first"]),
    "the language": ("the language", ["first", "second"]),
    "another report": ("another report", ["third"]),
}


@pytest.mark.parametrize("name", PARTS)
def test_only_reports_whose_files_changed_are_worked_out(name, book, worked):
    applied, expected = PARTS[name]
    EDITS[applied](book)
    assert ledger(book, "check").code in {0, 1}
    assert worked == expected
    assert ledger(book, "build").code == 0
    assert worked == expected * 2
    ledger(book, "build")
    assert ledger(book, "check").code == 0
    assert worked == expected * 2


def test_a_build_of_one_report_updates_its_own_entries(book, worked):
    edit(book / "scenarios/machines.csv", "3.0", "3.5")
    for name in ("first", "second"):
        assert ledger(book, "build", name).code == 0
    assert ledger(book, "check").code == 0
    assert worked == ["first", "second"] * 2  # for the chapter that names both
    assert ledger(book, "build").code == ledger(book, "check").code == 0
    assert worked == ["first", "second"] * 3


def test_a_full_check_trusts_nothing(book, worked):
    assert ledger(book, "check", "--full").code == 0
    assert worked == ["first", "second"]


def test_a_build_lists_what_it_wrote_and_how_much_it_left(book):
    edit(book / "scenarios/shapes.csv", "64,16", "65,16")
    ran = ledger(book, "build")
    assert {line.split()[0] for line in ran.lines} == {"written"}
    assert re.search(r"^\d+ written, \d+ unchanged, ", ran.err, re.MULTILINE)
    listed = ledger(book, "build", "--verbose").lines
    assert (len(listed), {line.split()[0] for line in listed}) == (20, {"unchanged"})
