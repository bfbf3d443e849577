"""Workbooks in git: as lines in `git diff` and `git log -p`, compared by revision, in its difftool."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import zipfile

import engines
import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font
from projects import (
    BOOK,
    ROOT,
    built,
    copy_project,
    digests,
    edit,
    edited,
    ledger,
    opened,
    rows_swapped,
    shows,
    write_book,
)

from ledger.review.diff import text

WORKBOOK = "reports/first/first.xlsx"
FORMULA = ('formula = "m * k * stages"', 'formula = "m * k * stages + 0"')
ATTRIBUTES = "*.xlsx diff=tile-ledger\n"
RULE = "floats are equal within 1e-12 of the larger, integers and text exactly"
NOTHING = f"no difference in structure, formulas, values or printed texts; {RULE}"
README = (ROOT / "README.md").read_text(encoding="utf-8")
KEYS = ["diff.tile-ledger.textconv", "diff.tile-ledger.xfuncname", "difftool.tile-ledger.cmd"]


def git(folder, *arguments, code=0):
    """Run git with no configuration but the repository's own, and return what it says."""
    environment = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    for who in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{who}_NAME": "A", f"GIT_{who}_EMAIL": "a@b.example"}
    done = subprocess.run(
        ["git", "--no-pager", *arguments], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout.decode()


def commit(folder, subject):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", subject)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return a repository with a small book of two reports in one commit."""
    engines.require("git")
    folder = write_book(tmp_path_factory.mktemp("git") / "a book", {**BOOK, ".gitattributes": ATTRIBUTES})
    shutil.rmtree(folder / ".ledger", ignore_errors=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "Begin")
    return folder


@pytest.fixture
def repository(begun, tmp_path):
    """Return a copy of that repository."""
    return shutil.copytree(begun, tmp_path / "a book")


@pytest.fixture
def changed(repository):
    """Return the repository after a second commit with another formula, and its git asks us."""
    edit(repository / "reports/models/work.toml", *FORMULA)
    assert ledger(repository, "build").code == 0
    shutil.rmtree(repository / ".ledger", ignore_errors=True)
    commit(repository, "Add nothing to work")
    assert ledger(repository, "git-config", "--enable").code == 0
    return repository


def moved(diff):
    """Return the lines that a diff takes away and adds, without notes, which say formulas too."""
    lines = [line for line in diff.splitlines() if re.match(r"[-+](?![-+])", line)]
    return [line for line in lines if not re.match(r".note ", line)]


# What git shows.


FIRST = [
    *("-grid/*/work =[m]*[k]*[stages]", "+grid/*/work =[m]*[k]*[stages]+0"),
    *("-steps/*/work =[m]*[k]*[stages]", "+steps/*/work =[m]*[k]*[stages]+0"),
    *("-one/work = 600  =[m]*[k]*[stages]", "+one/work = 600  =[m]*[k]*[stages]+0"),
]


def test_git_diff_shows_the_one_line_of_each_formula(changed):
    shown = git(changed, "diff", "HEAD~1", "--", WORKBOOK)
    assert moved(shown) == FIRST
    sheets = re.findall(r"^@@ .* @@ \[sheet (.*)\]$", shown, re.MULTILINE)
    assert list(dict.fromkeys(sheets)) == ["grid", "steps", "one"]


def test_git_log_shows_the_same_and_what_was_there_first(changed):
    second, first = git(changed, "log", "--patch", "--format=%x00%s", "--", WORKBOOK).split("\0")[1:]
    assert (second.splitlines()[0], moved(second)) == ("Add nothing to work", FIRST)
    assert first.splitlines()[0] == "Begin"
    assert "+grid/b/m = 32" in first.splitlines()
    assert "+grid/b/time = 1.60 s" not in first


def test_git_log_finds_when_a_formula_came(changed):
    assert git(changed, "log", "-G", r"stages\]\+0", "--format=%s", "--", "*.xlsx") == "Add nothing to work\n"


def test_difftool_compares_two_workbooks(changed):
    shown = git(changed, "difftool", "--no-prompt", "--tool=tile-ledger", "HEAD~1", "--", WORKBOOK)
    assert shown.splitlines()[:4] == [
        "first.xlsx: formula 3",
        "formula (3)",
        "  grid/*/work in 3 rows  =[m]*[k]*[stages] → =[m]*[k]*[stages]+0",
        "  steps/*/work in 9 rows  =[m]*[k]*[stages] → =[m]*[k]*[stages]+0",
    ]
    (changed / "reports/second/second.xlsx").unlink()
    gone = git(changed, "difftool", "--no-prompt", "--tool=tile-ledger", "--", "reports/second/second.xlsx")
    assert gone.splitlines()[0] == "second.xlsx: removed"


def test_a_workbook_that_cannot_be_read_does_not_stop_git(changed):
    (changed / WORKBOOK).write_bytes(b"damaged")
    shown = git(changed, "diff", "--", WORKBOOK)
    assert "+cannot be read: is text, such as a CSV, not a workbook" in shown.splitlines()


def test_git_runs_the_program_from_anywhere_and_none_that_lies_in_the_repository(changed):
    """A stranger's repository may hold a `ledger` of its own."""
    (changed / "ledger").mkdir()
    for name in ("__init__", "__main__"):
        (changed / f"ledger/{name}.py").write_text("print('a stranger')\n", encoding="utf-8")
    shown = git(changed / "reports", "diff", "HEAD~1", "--", "first/first.xlsx")
    assert moved(shown) == FIRST


# What is set.


def test_enable_and_disable_change_the_repository_alone_and_once(repository):
    config = repository / ".git/config"
    before, others = config.read_bytes(), digests(repository)
    found = ledger(repository, "git-config")
    assert (found.code, found.lines, found.err) == (0, [f"not set    {key}" for key in KEYS], "")
    enabled = ledger(repository, "git-config", "--enable")
    assert (enabled.code, [line.split(" = ")[0] for line in enabled.lines]) == (
        0,
        [f"set        {key}" for key in KEYS],
    )
    once = config.read_bytes()
    again = ledger(repository, "git-config", "--enable")
    assert [line.split(" = ")[0] for line in again.lines] == [f"unchanged  {key}" for key in KEYS]
    assert config.read_bytes() == once
    assert [line.split()[:2] for line in ledger(repository, "git-config").lines] == [["is", "set"]] * 3
    assert ledger(repository, "git-config", "--disable").lines == [f"taken out  {key}" for key in KEYS]
    assert config.read_bytes() == before
    assert digests(repository) == others
    assert ledger(repository, "git-config", "--disable").lines == [f"not set    {key}" for key in KEYS]


def test_a_setting_of_somebody_else_stays(repository):
    git(repository, "config", "--local", "diff.tile-ledger.cachetextconv", "true")
    git(repository, "config", "--local", "diff.tile-ledger.textconv", "cat")
    ledger(repository, "git-config", "--enable")
    ledger(repository, "git-config", "--disable")
    assert git(repository, "config", "--local", "--get-regexp", "tile-ledger") == (
        "diff.tile-ledger.cachetextconv true\n"
    )


def test_missing_attributes_are_told(repository):
    git(repository, "rm", "--quiet", ".gitattributes")
    ran = ledger(repository, "git-config", "--enable")
    assert (ran.code, len(ran.lines)) == (0, 3)
    assert ran.err == (
        ".gitattributes does not say which files it is for; add the line: *.xlsx diff=tile-ledger\n"
    )


def test_this_project_and_a_starter_book_have_the_attributes(tmp_path):
    assert (ROOT / ".gitattributes").read_text(encoding="utf-8") == ATTRIBUTES
    ledger(tmp_path, "init", "book")
    assert (tmp_path / "book/.gitattributes").read_text(encoding="utf-8") == ATTRIBUTES


# Revisions.


def test_a_revision_is_compared_with_the_working_tree(changed):
    same = ledger(changed, "diff", "HEAD", "--", WORKBOOK)
    assert (same.code, len(same.lines)) == (0, 1)
    for path in (WORKBOOK, "reports/first", "reports", "."):
        ran = ledger(changed, "diff", "HEAD~1", "--", path)
        assert (ran.code, ran.lines[0]) == (1, f"{WORKBOOK}: formula 3")
    assert ledger(changed / "reports", "diff", "HEAD~1", "--", "../reports/first").lines[0] == ran.lines[0]


def test_no_path_is_every_workbook_of_the_project(changed):
    ran = ledger(changed / "chapters", "diff", "HEAD~1")
    assert [line for line in ran.lines if ".xlsx" in line] == [
        f"{WORKBOOK}: formula 3",
        "reports/second/second.xlsx: formula 1",
    ]
    assert ledger(changed, "diff", "HEAD~1", "HEAD").lines == ran.lines
    back = ledger(changed, "diff", "HEAD", "HEAD~1", "--", WORKBOOK)
    assert "  grid/*/work in 3 rows  =[m]*[k]*[stages]+0 → =[m]*[k]*[stages]" in back.lines


def test_options_stand_before_the_paths(changed):
    for arguments in (("HEAD~1", "--md"), ("--md", "HEAD~1")):
        ran = ledger(changed, "diff", *arguments, "--", WORKBOOK)
        assert (ran.code, ran.lines[0]) == (1, f"## {WORKBOOK}")


def test_workbooks_that_came_or_went_are_told(changed):
    shutil.move(changed / "reports/second/second.xlsx", changed / "reports/third.xlsx")
    shutil.copy(changed / WORKBOOK, changed / "reports/~$first.xlsx")
    ran = ledger(changed, "diff", "HEAD")
    assert (ran.code, [line for line in ran.lines if ".xlsx" in line]) == (
        1,
        [
            "reports/second/second.xlsx: removed",
            "reports/third.xlsx: added",
            f"{WORKBOOK}: {NOTHING}",
        ],
    )


def test_a_workbook_that_cannot_be_read_does_not_hide_the_others(changed):
    (changed / "reports/second/second.xlsx").write_bytes(b"damaged")
    ran = ledger(changed, "diff", "HEAD~1")
    assert ran.code == 1
    assert f"{WORKBOOK}: formula 3" in ran.lines
    assert (
        "reports/second/second.xlsx: differs, and is not compared: "
        "at the working tree: is text, such as a CSV, not a workbook: name an .xlsx file"
    ) in ran.lines


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("HAED",), "unknown revision 'HAED'"),
        (("HEAD", "--output=x", "--", "."), None),
        (("HEAD..HEAD",), "unknown revision 'HEAD..HEAD'"),
        (("HEAD", "--", "chapters"), "no workbook under chapters"),
        (("HEAD", "--", "../outside"), "'../outside' is outside the repository"),
        (("--", "reports"), "0 names are no pair"),
        (("HEAD", "HEAD", "HEAD", "--", "reports"), "3 names are no pair"),
    ],
)
def test_what_git_does_not_know_is_trouble(arguments, told, repository):
    before = digests(repository)
    ran = ledger(repository, "diff", *arguments)
    assert (ran.code, ran.out, digests(repository)) == (2, "", before)
    assert ran.err.splitlines()[0] == told if told else ran.err.startswith("usage: ")


def test_a_revision_is_never_an_option_of_git(repository):
    from ledger.errors import LedgerError  # noqa: PLC0415  # the same
    from ledger.review.diff import git  # noqa: PLC0415  # the command line refuses it before

    with pytest.raises(LedgerError, match="'--output=x' is not a revision"):
        git.commit(git.repository(repository), "--output=x")


@pytest.mark.parametrize(
    "command", [("diff", "HEAD", "--", "x"), ("git-config",), ("git-config", "--enable")]
)
def test_outside_a_repository_is_trouble(command, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    ran = ledger(tmp_path, *command)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0].startswith("git: not a git repository")


def test_a_machine_without_git_is_told(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    ran = ledger(repository, "diff", "HEAD")
    assert (ran.code, ran.err.splitlines()[:2]) == (
        2,
        ["git is missing", "  install git, or name two workbooks"],
    )


@pytest.mark.slow
def test_what_the_readme_shows_is_what_it_says(tmp_path):
    """The bandwidth of a machine is edited, and one report built."""
    (shown,) = re.findall(r"```text\n(reports/gemm-ledger/.*?)```", README, re.DOTALL)
    folder = copy_project(tmp_path / "project")
    workbook = folder / "reports/gemm-ledger/gemm-ledger.xlsx"
    workbook.parent.mkdir()
    shutil.copy(ROOT / "reports/gemm-ledger/gemm-ledger.xlsx", workbook)
    git(folder, "init", "--quiet")
    commit(folder, "Begin")
    edit(folder / "scenarios/machines.csv", "2000,2000,,3.0,80,50,228", "2000,2000,,3.35,80,50,228")
    workbook.write_bytes(built(folder, "gemm-ledger").files["gemm-ledger.xlsx"])
    assert shows(ledger(folder, "diff", "HEAD", "--", "reports/gemm-ledger").out, shown)


# A workbook as lines.


@pytest.fixture(scope="module")
def lines(begun):
    """Return the lines of the small book's workbook."""
    return text.file_text(begun / WORKBOOK).splitlines()


def test_a_line_is_a_name_with_its_value_and_its_formula(lines):
    grid = lines[lines.index("[sheet grid]") : lines.index("[sheet steps]")]
    assert [line for line in grid if not re.search(r"/label|/verdict|\(|^note", line)] == [
        "[sheet grid]",
        *("grid/machine = one", "grid/stages = 2"),
        *("grid/*/work =[m]*[k]*[stages]", "grid/*/time =[work]/[machine.speed]"),
        *("grid/a/1/id = a/1", "grid/a/1/shapes = a/1", "grid/a/1/m = 64", "grid/a/1/k = 16"),
        *("grid/a/1/work = 2048", "grid/a/1/time = 682.6666666666666"),
        *("grid/b/id = b", "grid/b/shapes = b", "grid/b/m = 32", "grid/b/k = 8"),
        *("grid/b/work = 512", "grid/b/time = 170.66666666666666"),
        *("grid/c/id = c", "grid/c/shapes = c", "grid/c/m = 16", "grid/c/k = 8"),
        *("grid/c/work = 256", "grid/c/time = 85.33333333333333"),
    ]
    assert "grid/machine.speed = 3  =INDEX([machines!speed],MATCH([machine],[machines!id],0))" in grid
    assert "grid/*/m =INDEX([shapes!m],MATCH([shapes],[shapes!id],0))" in grid
    assert "grid/a/1/verdict = slow (682.7 for 2048)" in grid


def test_no_line_has_an_address(lines):
    """A row that comes in above would change it."""
    assert [line for line in lines if re.search(r"\$[A-Z]", line)] == []


def test_printed_texts_and_notes_stand_there(lines):
    assert "grid/a/1/work = 2.05 k" in lines[lines.index("[printed]") :]
    assert r"note grid/*/work = work\nm * k * stages\nchapter 1" in lines


def test_a_sorted_sheet_has_the_same_lines(begun, tmp_path, lines):
    xlsx = (begun / WORKBOOK).read_bytes()
    _, first, last = opened(xlsx).columns("grid")
    (tmp_path / "sorted.xlsx").write_bytes(rows_swapped(xlsx, "grid", first, last))
    found = text.file_text(tmp_path / "sorted.xlsx").splitlines()
    # The engine's value is gone from every formula cell of an edited copy.
    assert [re.sub(r" = .*", "", line) for line in found] == [re.sub(r" = .*", "", line) for line in lines]


def test_a_cell_that_differs_from_its_column_says_so(begun, tmp_path):
    xlsx = (begun / WORKBOOK).read_bytes()
    place = opened(xlsx).place("grid/b/work")
    (tmp_path / "edited.xlsx").write_bytes(edited(xlsx, {place: 7.0}))
    found = text.file_text(tmp_path / "edited.xlsx").splitlines()
    assert "grid/b/work = 7  no formula" in found
    assert "grid/c/work = ?" in found


def test_looks_are_no_lines(begun, tmp_path, lines):
    book = load_workbook(begun / WORKBOOK)
    sheet = book["grid"]
    sheet.column_dimensions["A"].width = 99
    sheet["A1"].font = Font(bold=True)
    book.save(tmp_path / "looks.xlsx")
    found = text.file_text(tmp_path / "looks.xlsx").splitlines()
    assert [re.sub(r" = .*", "", line) for line in found] == [re.sub(r" = .*", "", line) for line in lines]


def test_a_stranger_s_workbook_is_told_cell_by_cell(tmp_path):
    book = Workbook()
    sheet = book.active
    sheet.title = "a sheet"
    sheet["A1"], sheet["B1"], sheet["B2"], sheet["A3"] = 1.5, "=A1*2", "text\x0a=1", True
    sheet["B2"].comment = Comment("seen\nby me", "R")
    book.save(tmp_path / "other.xlsx")
    assert text.file_text(tmp_path / "other.xlsx").splitlines() == [
        "[sheet a sheet]",
        "a sheet!A1 = 1.5",
        "a sheet!B1 = ?  =A1*2",
        r"a sheet!B2 = text\n=1",
        "a sheet!A3 = TRUE",
        r"note a sheet!B2 = seen\nby me",
    ]


def zipped(**parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name.replace("__", "/"), text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", ""),
        (b"id,m\n", "cannot be read: is text, such as a CSV, not a workbook\n"),
        (b"\xd0\xcf\x11\xe0", "cannot be read: is encrypted, or an old .xls\n"),
        (zipped(x="y"), "cannot be read: is a zip without a workbook in it\n"),
    ],
    ids=["empty", "text", "encrypted", "zip"],
)
def test_what_cannot_be_read_is_one_line_and_no_trouble(data, told, tmp_path):
    (tmp_path / "x.xlsx").write_bytes(data)
    ran = ledger(tmp_path, "diff", "--text", "x.xlsx")
    assert (ran.code, ran.out, ran.err) == (0, told, "")


def test_a_file_that_is_gone_is_one_line(tmp_path):
    ran = ledger(tmp_path, "diff", "--text", "gone.xlsx")
    assert (ran.code, ran.out) == (0, "cannot be read: No such file or directory\n")
    assert ledger(tmp_path, "diff", "--text", os.devnull).out == ""


def test_a_record_that_cannot_be_read_leaves_the_cells(begun, tmp_path):
    book = load_workbook(begun / WORKBOOK)
    book["_published"]["B1"] = 99
    book.save(tmp_path / "newer.xlsx")
    found = text.file_text(tmp_path / "newer.xlsx").splitlines()
    assert found[0].startswith("[not read by names: is a workbook of another version")
    assert any(line.startswith("grid!") for line in found)
