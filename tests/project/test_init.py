"""A starter book: it builds and checks at once, from a checkout and from an installed wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from projects import ROOT, digests, ledger

from ledger.declarations.project import packaged

FILES = [
    ".gitattributes",
    ".gitignore",
    "Makefile",
    "chapters/loans.md",
    "ledger.toml",
    "pre-commit-snippet.yaml",
    "reports/loans.toml",
    "reports/models/loan.toml",
    "scenarios/loans.csv",
]
MONTHLY = "A car costs <!-- ledger:value loans/costs/car/payment -->386.66 EUR<!-- ledger:end --> a month."


@pytest.fixture
def book(tmp_path):
    """Return a starter book, just begun."""
    ran = ledger(tmp_path, "init", "a book")
    assert ran.code == 0, ran.err
    return tmp_path / "a book"


def test_a_starter_book_is_told_file_by_file(tmp_path):
    ran = ledger(tmp_path, "init", "book")
    assert (ran.code, ran.lines) == (0, [f"written    {name}" for name in FILES])
    assert ran.err == "now: cd book && tile-ledger build && tile-ledger check\n"
    assert list(digests(tmp_path / "book")) == FILES


def test_a_starter_book_builds_and_checks_at_once(book):
    assert ledger(book, "check").code == 1
    built = ledger(book, "build")
    assert (built.code, {line.split()[0] for line in built.lines}) == (0, {"written"})
    assert ledger(book, "check").code == ledger(book, "check", "--full").code == 0
    assert ledger(book, "build").lines == []
    chapter = (book / "chapters/loans.md").read_text(encoding="utf-8")
    assert MONTHLY in chapter
    assert re.search(
        r"^\| a car +\| 60 +\| 386\.66 EUR +\| 3199\.36 EUR +\| dear +\|$", chapter, re.MULTILINE
    )


def test_every_file_of_a_starter_book_is_used(book):
    """The Makefile's commands and the hook's are commands."""
    for name in ("Makefile", "pre-commit-snippet.yaml"):
        text = (book / name).read_text(encoding="utf-8")
        for command in re.findall(r"^(?:\t| +entry: )tile-ledger (.*)$", text, re.MULTILINE):
            assert ledger(book, *command.split()).code in {0, 1}
    assert (book / ".gitignore").read_text(encoding="utf-8") == ".ledger/\n"


def test_an_empty_folder_will_do(tmp_path):
    (tmp_path / "book").mkdir()
    assert ledger(tmp_path, "init", "book").code == 0
    assert list(digests(tmp_path / "book")) == FILES


@pytest.mark.parametrize("there", ["book/.hidden", "book/x.md", "book"])
def test_what_is_there_already_is_left_alone(there, tmp_path):
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("an author's", encoding="utf-8")
    before = digests(tmp_path)
    ran = ledger(tmp_path, "init", "book")
    assert (ran.code, ran.out, digests(tmp_path)) == (2, "", before)
    assert ran.err.splitlines() == ["book is not empty", "  name a new folder", "1 error, nothing written"]


def test_a_starter_book_names_no_subject_of_ours():
    text = "".join(path.read_text(encoding="utf-8") for path in packaged("book").rglob("*") if path.is_file())
    assert not re.search(r"(?i)gpu|gemm|nvidia|cuda", text)


# From a wheel.


def pip(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and re.search(
        "No matching distribution|Could not find|No module named pip", done.stderr
    ):
        reason = f"no wheel can be made here: {done.stderr.strip().splitlines()[-1]}"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder with the package as a wheel installs it, without what it depends on."""
    wheels, folder = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    pip("wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT))
    (wheel,) = wheels.iterdir()
    pip("install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return folder


def run(installed, folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.engine
def test_an_installed_wheel_starts_builds_and_checks_a_book(installed, tmp_path):
    """Its templates and its starter book come with it."""
    where = run(installed, tmp_path, "-c", "import ledger; print(ledger.__file__)")
    assert where.stdout.startswith(str(installed)), where.stderr
    begun = run(installed, tmp_path, "-m", "ledger", "init", "book")
    assert (begun.returncode, begun.stdout.splitlines()) == (0, [f"written    {name}" for name in FILES])
    built = run(installed, tmp_path / "book", "-m", "ledger", "build")
    assert built.returncode == 0, built.stderr
    assert MONTHLY in (tmp_path / "book/chapters/loans.md").read_text(encoding="utf-8")
    for options in ([], ["--full"]):
        assert run(installed, tmp_path / "book", "-m", "ledger", "check", *options).returncode == 0


@pytest.mark.engine
def test_a_wheel_brings_the_models(installed, tmp_path):
    """A report of another project uses one of ours by its name alone."""
    models = sorted(path.name for path in (installed / "ledger/brought/models").iterdir())
    assert models == sorted(path.name for path in (ROOT / "reports/models").glob("*.toml"))
    report = 'models = ["roofline", "gemm"]\n[sheets.s]\ncolumns = ["ai"]\n'
    report += '[views.v]\nkind = "record"\nsheet = "s"\ncolumns = ["ai"]\n'
    (tmp_path / "reports").mkdir()
    (tmp_path / "ledger.toml").write_text("", encoding="utf-8")
    (tmp_path / "reports/r.toml").write_text(report, encoding="utf-8")
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    built = run(installed, tmp_path, "-m", "ledger", "build")
    assert built.returncode == 0, built.stderr
    assert "1365.33" in (tmp_path / "reports/r/v.md").read_text(encoding="utf-8")
