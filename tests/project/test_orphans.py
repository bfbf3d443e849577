"""What nothing writes any more: `check` lists it, `build --prune` removes it; a file of somebody's stays."""

from __future__ import annotations

import json
import shutil

import pytest
from projects import BOOK, digests, edit, ledger, write_book

FRESH = "fresh: every output and chapter is what it should be"
MEDIA = ("csv", "html", "md", "txt")
RENAMED = [f"reports/first/steps.{medium}" for medium in MEDIA]
GONE = [f"reports/second/{name}" for name in (*(f"one.{medium}" for medium in MEDIA), "second.xlsx")]


def orphaned(ran):
    """Return the files that a check says nothing writes any more."""
    return [line.split()[-1] for line in ran.lines if line.startswith("orphan ")]


def rename_view(book):
    """Call a view of the book by another name, in its report and in its chapters."""
    for name in ("chapters/1.md", "chapters/2.md"):
        text = (book / name).read_text(encoding="utf-8")
        (book / name).write_text(text.replace("first/steps", "first/stages"), encoding="utf-8")
    edit(book / "reports/first.toml", "[views.steps]", "[views.stages]")


def drop_report(book):
    """Delete a report of the book, and the block that printed it."""
    (book / "reports/second.toml").unlink()
    text = (book / "chapters/2.md").read_text(encoding="utf-8")
    first, last = text.index("- As printed:"), text.index("<!-- ledger:begin first/grid as=csv")
    (book / "chapters/2.md").write_text(text[:first] + text[last:], encoding="utf-8")


def forget(book):
    """Leave the book as a clone has it."""
    shutil.rmtree(book / ".ledger")


def remember(_book):
    """Leave the book as a build left it."""


@pytest.mark.parametrize("clone", [remember, forget])
@pytest.mark.parametrize(("change", "files"), [(rename_view, RENAMED), (drop_report, GONE)])
def test_edges_13_what_nothing_writes_any_more_is_listed_until_it_is_removed(change, files, clone, book):
    (book / "reports/first/notes.md").write_text("mine", encoding="utf-8")
    (book / "reports/second/notes.csv").write_text("mine", encoding="utf-8")
    change(book)
    clone(book)
    assert orphaned(ledger(book, "check")) == files
    built = ledger(book, "build")
    assert built.code == 0
    assert (
        f"{len(files)} files that nothing writes any more; remove them: tile-ledger build --prune"
        in built.err
    )
    clone(book)
    ran = ledger(book, "check")
    assert (ran.code, orphaned(ran), len(ran.lines)) == (1, files, len(files) + 1)
    assert ran.lines[-1] == f"{len(files)} files are stale; run: tile-ledger build --prune"
    before = digests(book)
    pruned = ledger(book, "build", "--prune")
    assert (pruned.code, pruned.lines) == (0, [f"removed    {name}" for name in files])
    assert before.keys() - digests(book).keys() == {*files} | ({".ledger/stamp.json"} - digests(book).keys())
    assert (ledger(book, "check").out, ledger(book, "check", "--full").out) == (f"{FRESH}\n", f"{FRESH}\n")


def test_edges_13_a_folder_that_is_empty_then_goes_too(book):
    drop_report(book)
    assert ledger(book, "build", "--prune").code == 0
    assert not (book / "reports/second").exists()


def test_edges_13_an_old_output_that_somebody_changed_is_theirs(book):
    rename_view(book)
    assert ledger(book, "build").code == 0
    (book / RENAMED[0]).write_text("a,b\n1,2\n", encoding="utf-8")
    for command in ("check", "build", "check"):
        ran = ledger(book, command)
    assert orphaned(ran) == RENAMED[1:]


def test_edges_13_a_project_that_wrote_nothing_removes_nothing(tmp_path):
    """Files of every ending of one name, whose cells are not the same."""
    book = write_book(tmp_path / "book")
    for medium, text in {"md": "| a |\n", "html": "<td>b</td>\n", "csv": "a\n", "txt": "a\n"}.items():
        (book / f"reports/first/mine.{medium}").write_text(text, encoding="utf-8")
    (book / "reports/first/own.xlsx").write_bytes(b"not a workbook")
    assert ledger(book, "check").out == f"{FRESH}\n"
    assert ledger(book, "build", "--prune").lines == []


@pytest.mark.parametrize("clone", [remember, forget])
def test_edges_13_a_chapter_that_no_pattern_matches_any_more_is_told(clone, book):
    """Its text is its author's: nothing removes it."""
    (book / "chapters/old").mkdir()
    (book / "chapters/1.md").rename(book / "chapters/old/1.md")
    clone(book)
    for command in ("check", "build", "check"):
        ran = ledger(book, command, *(["--prune"] if command == "build" else []))
    assert (ran.code, ran.lines) == (
        1,
        [
            "no chapter now    chapters/old/1.md",
            "1 file is stale; match it in `chapters`, or take its markers out",
        ],
    )


def test_edges_13_a_pattern_that_went_leaves_its_chapters_to_be_told(book):
    edit(book / "ledger.toml", "chapters/*.md", "chapters/1.md")
    assert "no chapter now    chapters/2.md" in ledger(book, "check").lines


def test_edges_13_a_book_inside_the_book_is_another_one(tmp_path):
    book = write_book(tmp_path / "book")
    write_book(book / "chapters/example")
    assert ledger(book, "build").code == 0
    assert ledger(book, "check").out == f"{FRESH}\n"


def test_edges_13_json_tells_orphans(book):
    rename_view(book)
    stale = json.loads(ledger(book, "check", "--json").out)["stale"]
    assert [each["file"] for each in stale if each["why"] == "orphan"] == RENAMED


@pytest.mark.parametrize("arguments", [("first",), ("--set", "k=4"), ("--out", "else")])
def test_edges_13_a_part_of_the_project_does_not_say_what_is_left_over(arguments, book):
    before = digests(book)
    ran = ledger(book, "build", "--prune", *arguments)
    assert (ran.code, digests(book)) == (2, before)
    assert "--prune needs all reports, as they are declared" in ran.err


def test_edges_13_names_of_reports_that_another_build_left_are_remembered(book):
    """A part that was built in between does not forget them."""
    assert BOOK
    rename_view(book)
    assert ledger(book, "build", "first").code == 0
    assert ledger(book, "build", "second").code == 0
    assert orphaned(ledger(book, "check")) == RENAMED
