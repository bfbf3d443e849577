"""The whole loop of a reviewer, on this project: edit, look at Checks, send back, apply, build, compare."""

import json
import re
import subprocess

import engines
import pytest
import returned
from checks import cached, red
from openpyxl.comments import Comment
from projects import ROOT, Book, copy_book, edited, ledger, opened, planted, shows

BANDWIDTH = "machines/h100-sxm5-prelim/bandwidth"
FORMULA = "sweep/512^3/flop"
#: What must turn red: the two edits and all that is computed from either, by hand.
RED = {
    ("machines", "bandwidth"),
    *(("sweep", name) for name in ("machine.bandwidth", "balance", "roof_start")),
    *(("default", name) for name in ("machine.bandwidth", "balance")),
    *(("sweep", name) for name in ("flop", "ai", "attainable")),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of this project in a repository of its own, and in it the workbook that came back."""
    root = copy_book(tmp_path_factory.mktemp("loop") / "book")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "Begin")

    def edit(book):
        returned.cell(book, BANDWIDTH).value = 3.35
        returned.cell(book, FORMULA).value = 999

    sent = (root / "reports/gemm-ledger/gemm-ledger.xlsx").read_bytes()
    (back,) = returned.by_libreoffice(returned.by_openpyxl(sent, edit))
    (root.parent / "sent.xlsx").write_bytes(sent)
    (root.parent / "back.xlsx").write_bytes(back)
    return root


def git(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def books(project) -> tuple[Book, Book]:
    return tuple(opened((project.parent / name).read_bytes()) for name in ("sent.xlsx", "back.xlsx"))


@pytest.mark.engine
def test_checks_are_red_exactly_where_the_edits_reach(project):
    sent, back = books(project)
    got = cached(back)
    assert red(sent, got) == _reached(sent, back) | {("default", "t_memory")}
    assert red(sent, got) >= RED


def _reached(sent, back):
    """Return the names on ledger sheets and scenario tables whose values LibreOffice computes otherwise."""
    found = set()
    for title in ("sweep", "default", "machines"):
        before, after = sent.cached[title], back.cached[title]
        columns = sent.columns(title)[0] if sent.formulas[title].tables else {}
        named = {letter: name for name, letter in columns.items()}
        first = sent.columns(title)[1] if columns else before.max_row + 1
        for row in before.iter_rows():
            for cell in row:
                value = after[cell.coordinate].value
                if not _same(cell.value, value):
                    name = named.get(cell.column_letter) if cell.row >= first else None
                    found.add((title, name or before.cell(cell.row, 1).value))
    return {each for each in found if each[1]}


def _same(a, b):
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= 1e-12 * max(abs(a), abs(b))
    return (a or "") == (b or "")


@pytest.mark.engine
def test_review_names_both_and_apply_changes_one_line(project):
    back = str(project.parent / "back.xlsx")
    found = json.loads(ledger(project, "review", "--json", back).out)
    assert [each["where"] for each in found["inputs"]] == [BANDWIDTH]
    assert [(each["where"], each["typed"]) for each in found["formulas"]] == [(FORMULA, True)]
    moved = {(each["view"], each["row"], each["column"], each["new"]) for each in found["moved"]}
    told = json.loads(ledger(project, "diff", "--json", str(project.parent / "sent.xlsx"), back).out)
    changes = [change for book in told["workbooks"] for change in book["changes"]]
    displayed = {
        (each["sheet"], each["row"], each["column"], each["new"])
        for each in changes
        if each["section"] == "display"
    }
    assert displayed == moved != set()
    assert [each["column"] for each in changes if each["section"] == "formula"] == ["flop"]

    assert ledger(project, "review", "--apply", back).code == 0
    assert git(project, "diff", "--numstat") == "1\t1\tscenarios/machines.csv\n"
    assert ledger(project, "build").code == 0
    sent, came = books(project)
    built = opened((project / "reports/gemm-ledger/gemm-ledger.xlsx").read_bytes())
    for name in ("sweep/machine.bandwidth", "sweep/balance", "default/t_memory", BANDWIDTH):
        assert _same(built.value(built.place(name)), came.value(came.place(name)))
        assert not _same(built.value(built.place(name)), sent.value(sent.place(name)))


# What the README shows.

README = (ROOT / "README.md").read_text(encoding="utf-8")
BACK = "returned.xlsx"


def shown(command):
    """Return what the README shows that a command says."""
    (found,) = re.findall(rf"\$ tile-ledger {command} {BACK}\n((?:(?!\n\$ |```).*\n)+?)(?=\n\$ |```)", README)
    return found


@pytest.fixture
def sent(project):
    return (project.parent / "sent.xlsx").read_bytes()


@pytest.mark.slow
def test_readme_shows_what_review_says(sent, tmp_path):
    def edit(book):
        returned.cell(book, BANDWIDTH).value = 3.35
        returned.cell(book, "sweep/128^3/ai").value += "*2"
        returned.cell(book, "sweep/4096^3/M").comment = Comment("why 4096?", "Ann")

    folder = copy_book(tmp_path / "book")
    (folder / BACK).write_bytes(returned.by_openpyxl(sent, edit))
    assert shows(ledger(folder, "review", BACK).out, shown("review"))


def test_readme_shows_what_audit_says(sent, tmp_path):
    book = opened(sent)
    (tmp_path / BACK).write_bytes(edited(sent, {book.place("sweep/512^3/flop"): 5.0}))
    assert shows(ledger(tmp_path, "audit", BACK).out, shown("audit") + "…\n")


@pytest.mark.engine
def test_readme_shows_what_verify_says(sent, tmp_path):
    engines.require("ironcalc")
    place = opened(sent).place("sweep/4096^3/ai")
    (tmp_path / BACK).write_bytes(planted(sent, place, "1365.3333333333333", "1365.4"))
    assert shows(ledger(tmp_path, "verify", BACK).out, shown("verify"))
