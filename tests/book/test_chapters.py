"""What a build makes of the chapters of a book, and what it refuses to make of them."""

from __future__ import annotations

import os
import re
import shutil
import stat

import pytest
from projects import BOOK, digests, edit, ledger, write_project

from ledger import cli
from ledger.book.media import WORDS
from ledger.project import publish

ONE, TWO = "chapters/1.md", "chapters/2.md"


def begin(name):
    return f"<!-- ledger:begin {name} -->\n"


def end(name):
    return f"<!-- ledger:end {name} -->\n"


def value(path):
    return f"It takes <!-- ledger:value {path} -->1<!-- ledger:end -->.\n"


# Wrong markers.

WRONG = {
    "no end": (
        f"# One\n\n{begin('first/grid')}",
        "3:1: block 'first/grid' has no end",
        "write <!-- ledger:end first/grid --> below it; one inside a code fence does not count",
    ),
    "no begin": (
        end("first/grid"),
        "1:1: block 'first/grid' ends, but does not begin",
        "a begin inside a code fence or a comment does not count",
    ),
    "nested": (
        begin("first/grid") + begin("first/steps") + end("first/steps") + end("first/grid"),
        "2:1: block 'first/steps' stands inside block 'first/grid'",
        "'first/grid' begins on line 1; end it first",
    ),
    "crossed": (
        begin("first/grid") + begin("first/steps") + end("first/grid") + end("first/steps"),
        "2:1: block 'first/steps' stands inside block 'first/grid'",
        "'first/grid' begins on line 1; end it first",
    ),
    "twice": (
        2 * (begin("first/grid") + end("first/grid") + "\n"),
        "4:1: block 'first/grid' stands twice as md, here and on line 1",
        "",
    ),
    "a view that is nearly one": (
        begin("first/gird") + end("first/gird"),
        "1:1: unknown view 'first/gird'",
        "did you mean 'first/grid'?; known: first/grid, first/one, first/steps, second/one",
    ),
    "a report that is nearly one": (
        begin("frist/grid") + end("frist/grid"),
        "1:1: unknown view 'frist/grid'",
        "did you mean 'first/grid'?; known: first/grid, first/one, first/steps, second/one",
    ),
    "a view of no report": (
        begin("x/y") + end("x/y"),
        "1:1: unknown view 'x/y'",
        "known: first/grid, first/one, first/steps, second/one",
    ),
    "a view of another report": (
        begin("second/grid") + end("second/grid"),
        "1:1: unknown view 'second/grid'",
        "did you mean 'second/one'?; known: first/grid, first/one, first/steps, second/one",
    ),
    "an unknown row": (
        value("first/grid/a/2/time"),
        "1:10: first/grid/a/2/time: sheet 'grid' has no row 'a/2'",
        "did you mean 'a/1'?",
    ),
    "no row": (
        value("first/grid/time"),
        "1:10: first/grid/time: sheet 'grid' has rows: name one",
        "known: a/1, b, c",
    ),
    "a row of a sheet without": (
        value("first/one/a/1/time"),
        "1:10: first/one/a/1/time: sheet 'one' has one row, without a name",
        "write first/one/time",
    ),
    "an unknown column": (
        value("first/grid/a/1/tmie"),
        "1:10: first/grid/a/1/tmie: sheet 'grid' has no column 'tmie'",
        "did you mean 'time'?",
    ),
    "an unknown sheet": (
        value("first/gird/a/1/time"),
        "1:10: first/gird/a/1/time: report 'first' has no sheet 'gird'",
        "did you mean 'grid'?",
    ),
    "an unknown rule": (
        value("first/one/time fixd 1"),
        "1:10: 'fixd' is not a display rule",
        "did you mean 'fixed'?",
    ),
    "a rule for numbers": (
        value("first/one/verdict fixed 1"),
        "1:10: display 'fixed 1' does not fit a text",
        "write 'text'",
    ),
    "a value without an end": (
        "It takes <!-- ledger:value first/one/time -->1.\n",
        "1:10: value 'first/one/time' has no end",
        "write <!-- ledger:end --> after its text",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_marker_is_one_error_and_nothing_is_written(mistake, book):
    text, what, hint = WRONG[mistake]
    (book / ONE).write_text(text, encoding="utf-8")
    edit(book / "scenarios/machines.csv", "5.0", "6.0")
    before = digests(book)
    ran = ledger(book, "check" if mistake in {"no end", "twice", "no row"} else "build")
    assert (ran.code, ran.out, digests(book)) == (2, "", before)
    assert ran.err.splitlines() == [
        f"{ONE}:{what}",
        *([f"  {hint}"] if hint else []),
        "1 error, nothing written",
    ]


def test_an_unknown_marker_is_told(book):
    (book / ONE).write_text("<!-- ledger:table first/grid -->\n", encoding="utf-8")
    ran = ledger(book, "build")
    assert (ran.code, ran.err.splitlines()[0]) == (2, f"{ONE}:1:13: no marker 'ledger:table'")


def test_the_mistakes_of_all_chapters_and_of_the_declarations_are_told_in_one_run(book):
    edit(book / "reports/models/work.toml", '"m * k * stages"', '"m * k * stagse"')
    (book / ONE).write_text(f"{begin('first/grid')}\n{end('first/steps')}", encoding="utf-8")
    (book / TWO).write_bytes(b"\xff")
    (book / "chapters/3.md").write_text(f"\n{end('first/grid')}", encoding="utf-8")
    before = digests(book)
    ran = ledger(book, "build")
    assert (ran.code, digests(book)) == (2, before)
    assert [line for line in ran.err.splitlines() if not line.startswith("  ")] == [
        f"{ONE}:3:17: ledger:end names 'first/steps', but 'first/grid' is open",
        "chapters/3.md:2:1: block 'first/grid' ends, but does not begin",
        "reports/models/work.toml:16:20: unknown name 'stagse'",
        "3 errors, nothing written",
    ]


# Wrong chapters.


def test_a_chapter_that_is_not_utf8_is_told_with_its_line(book):
    (book / ONE).write_bytes(b"# \xe4\xb8\x80\r\n\r\n\xa0" + begin("first/grid").encode())
    before = digests(book)
    ran = ledger(book, "build")
    assert (ran.code, digests(book)) == (2, before)
    assert ran.err.splitlines() == [
        f"{ONE}:3: not UTF-8 at byte 9",
        "  save the chapter as UTF-8",
        "1 error, nothing written",
    ]


def test_a_file_without_markers_may_be_in_any_encoding(book):
    (book / "chapters/3.md").write_bytes(b"\xd6\xd0\xce\xc4")
    assert ledger(book, "build").code == 0


def test_a_book_without_any_marker_is_trouble(book):
    for name in (ONE, TWO):
        (book / name).write_text("# No marker\n", encoding="utf-8")
    ran = ledger(book, "build")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0] == "ledger.toml:2:1: no marker in any chapter"


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["none/*.md", "/etc/*.md", "", "a**"])
def test_a_pattern_without_a_file_is_trouble(pattern, book):
    edit(book / "ledger.toml", '"chapters/*.md"', f'"chapters/*.md", "{pattern}"')
    ran = ledger(book, "build")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[:2] == [
        f"ledger.toml:2:31: no chapter matches {pattern!r}",
        "  a pattern is relative to ledger.toml",
    ]


def test_a_read_only_chapter_stops_the_build_before_anything_is_written(book):
    """Also the one of the root user."""
    edit(book / "scenarios/machines.csv", "3.0", "3.35")
    for name in (ONE, TWO):
        (book / name).chmod(0o444)
    before = digests(book)
    ran = ledger(book, "build")
    assert (ran.code, ran.out, digests(book)) == (2, "", before)
    assert ran.err.splitlines() == [
        f"{ONE}: cannot be written: the file is read-only",
        f"{TWO}: cannot be written: the file is read-only",
        "2 errors, nothing written",
    ]


def test_a_read_only_chapter_that_stays_as_it_is_is_no_trouble(book):
    (book / ONE).chmod(0o444)
    assert ledger(book, "build").code == 0


@pytest.mark.parametrize("name", [ONE, TWO])
def test_a_chapter_that_changes_while_building_is_not_written_over(name, book, monkeypatch):
    edit(book / "scenarios/machines.csv", "5.0", "6.0")
    before = digests(book)

    def staged(path, data):
        (book / name).write_text("an author's new text\n", encoding="utf-8")
        return real(path, data)

    real = publish._staged  # noqa: SLF001  # the moment between reading and writing
    monkeypatch.setattr(publish, "_staged", staged)
    ran = ledger(book, "build")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        f"{name}: changed while building",
        "  nothing is lost: build again",
        "1 error, nothing written",
    ]
    assert (book / name).read_text(encoding="utf-8") == "an author's new text\n"
    after = digests(book)
    assert {key: after[key] for key in before if key != name} == {
        key: before[key] for key in before if key != name
    }


# What a build leaves alone.


def test_building_one_report_leaves_the_blocks_of_others_alone(book):
    edit(book / "scenarios/machines.csv", "3.0", "3.35")
    one = (book / ONE).read_bytes()
    ran = ledger(book, "build", "second")
    assert ran.code == 0
    assert (book / ONE).read_bytes() == one
    text = (book / TWO).read_text(encoding="utf-8")
    assert "m=100 at 3.35" in text
    assert "682.6666666666666" in text
    stale = ledger(book, "check")
    assert stale.code == 1
    assert [line for line in stale.lines if "second" in line and "stale" in line[:6]] == []


def test_building_one_report_tells_what_is_unknown_to_all(book):
    (book / ONE).write_text(begin("thrid/x") + end("thrid/x"), encoding="utf-8")
    ran = ledger(book, "build", "second")
    assert (ran.code, ran.err.splitlines()[0]) == (2, f"{ONE}:1:1: unknown view 'thrid/x'")


def test_a_build_elsewhere_reads_and_writes_no_chapter(book, tmp_path):
    (book / ONE).write_text(begin("first/grid"), encoding="utf-8")
    before = digests(book)
    ran = ledger(book, "build", "--out", str(tmp_path / "else"))
    assert (ran.code, digests(book)) == (0, before)
    assert sorted(path.name for path in (tmp_path / "else").iterdir()) == ["first", "second"]


@pytest.mark.slow
def test_a_setting_reaches_the_chapters_and_check_says_so(book):
    assert ledger(book, "build", "--set", "k=6").code == 0
    assert "| work       | 1.2 k " in (book / TWO).read_text(encoding="utf-8")
    assert ledger(book, "check").code == 1
    assert ledger(book, "build").code == 0
    assert ledger(book, "check").code == 0


def test_a_second_build_writes_nothing(book):
    before = {path: path.stat().st_mtime_ns for path in book.rglob("*")}
    ran = ledger(book, "build")
    assert (ran.code, ran.lines) == (0, [])
    assert {path: path.stat().st_mtime_ns for path in book.rglob("*")} == before


def outside(data):
    """Return the bytes of a chapter that are not generated."""
    data = re.sub(rb"(?s)(ledger:begin [^\n]*\n).*?([ \t]*<!-- ledger:end \S+)[^>]*-->", rb"\1\2", data)
    return re.sub(rb"(ledger:value [^>]*-->).*?(<!-- ledger:end -->)", rb"\1\2", data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line_end", "mark", "final"),
    [
        (b"\n", b"\xef\xbb\xbf", True),
        (b"\n", b"", False),
        (b"\r\n", b"", True),
        (b"\r\n", b"\xef\xbb\xbf", False),
        (b"\r", b"", True),
    ],
    ids=["mark", "no final newline", "CRLF", "CRLF, mark, no final newline", "CR"],
)
def test_line_ends_marks_and_the_last_line_stay_as_they_are(line_end, mark, final, book):
    text = (book / ONE).read_bytes().rstrip(b"\n") + (b"\n" if final else b"")
    (book / ONE).write_bytes(mark + text.replace(b"\n", line_end))
    assert ledger(book, "check").code == 0
    edit(book / "scenarios/machines.csv", "3.0", "3.35")
    assert ledger(book, "build").code == 0
    got = (book / ONE).read_bytes()
    assert b"611.34" in got
    plain = got.removeprefix(mark).replace(line_end, b"\n")
    assert got == mark + plain.replace(b"\n", line_end)
    assert outside(plain) == outside(text)
    assert ledger(book, "build").out.count("written") == 0
    assert ledger(book, "check").code == 0


def test_a_link_and_the_mode_stay(book, tmp_path):
    real = shutil.move(book / ONE, tmp_path / "real.md")
    (book / ONE).symlink_to(real)
    os.chmod(real, 0o640)  # noqa: PTH101  # a text from shutil
    edit(book / "scenarios/machines.csv", "3.0", "3.35")
    assert ledger(book, "build").code == 0
    assert (book / ONE).is_symlink()
    assert stat.S_IMODE((book / ONE).stat().st_mode) == 0o640
    assert b"611.34" in (tmp_path / "real.md").read_bytes()
    assert ledger(book, "check").code == 0


def test_mdx_has_markers_of_its_own(book):
    edit(book / "ledger.toml", '"chapters/*.md"', '"chapters/*.md", "chapters/*.mdx"')
    text = (
        "# Three\n\n{/* ledger:begin second/one */}\n{/* ledger:end second/one */}\n\n"
        "It takes {/* ledger:value first/one/time */}0{/* ledger:end */}.\n"
    )
    (book / "chapters/3.mdx").write_text(text, encoding="utf-8")
    assert ledger(book, "build").code == 0
    got = (book / "chapters/3.mdx").read_text(encoding="utf-8")
    assert "{/* ledger:value first/one/time */}120.00{/* ledger:end */}." in got
    assert re.search(r"\| m +\| 100 +\|", got)
    assert re.search(r"\{/\* ledger:end second/one sum=[0-9a-f]{16} \*/\}", got)
    assert ledger(book, "build").out.count("written") == 0


def test_a_view_may_stand_in_many_chapters_and_in_many_media(tmp_path):
    text = begin("second/one") + end("second/one")
    chapters = {f"chapters/{i}.md": text for i in range(3)}
    other = {
        "chapters/3.md": "".join(f"{begin(f'second/one as={each}')}{end('second/one')}\n" for each in WORDS)
    }
    folder = write_project(tmp_path / "book", {**BOOK, **chapters, **other})
    assert ledger(folder, "build").code == cli.OK
    assert len({(folder / name).read_bytes() for name in chapters}) == 1
    assert (folder / "chapters/3.md").read_text(encoding="utf-8").count("sum=") == len(WORDS)
