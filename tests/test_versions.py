"""What the package needs, and what a project may require of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from projects import BOOK, ledger, opened, write_book, write_project

from ledger import Project, __version__
from ledger.xlsx.record import record
from ledger.xlsx.workbook import read_workbook

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = PYPROJECT["dependencies"]
PINNED = re.compile(r"[A-Za-z][\w.-]*==[0-9][\w.]*")


def pins(name):
    """Return the versions in a file of constraints by the library's name; nothing else stands there."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#") and not PINNED.fullmatch(line)] == []
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_every_dependency_has_a_lower_bound():
    optional = [each for extra in PYPROJECT["optional-dependencies"].values() for each in extra]
    assert [each for each in NEEDED + optional if not re.fullmatch(r"[\w-]+>=[0-9.]+", each)] == []


def test_the_lowest_that_are_tried_are_the_lower_bounds():
    assert pins("constraints-lowest.txt") == dict(each.split(">=") for each in NEEDED)


def test_every_library_that_is_needed_is_pinned():
    names = {each.split(">=")[0] for each in NEEDED}
    names |= {each.split(">=")[0] for extra in PYPROJECT["optional-dependencies"].values() for each in extra}
    assert names - {name.lower() for name in pins("constraints.txt")} == set()


def test_the_command_says_its_version():
    done = subprocess.run(
        [sys.executable, "-m", "ledger", "--version"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"Tile Ledger {__version__}\n"


# What a project requires.


@pytest.mark.slow
@pytest.mark.parametrize("requires", [">=0.2", f"=={__version__}", ">=0.1,<9", "!=0.1"])
def test_a_project_that_requires_this_version_is_built(requires, tmp_path):
    write_book(tmp_path / "book", {**BOOK, "ledger.toml": f'{BOOK["ledger.toml"]}requires = "{requires}"\n'})


COMMANDS = [["build"], ["check"], ["explain", "first/one/time"], ["calc", "first"], ["review", "x.xlsx"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_project_that_requires_another_version_is_refused_by_every_command(command, tmp_path):
    files = {**BOOK, "ledger.toml": 'language = "en"\nrequires = ">=9.1"\n'}
    ran = ledger(write_project(tmp_path / "book", files), *command)
    told = f"""\
ledger.toml:2:13: the project requires Tile Ledger >=9.1, this is {__version__}
  install one that fits: pip install 'tile-ledger>=9.1'
1 error, nothing written
"""
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == told or (command[0] == "review" and "x.xlsx" in ran.err)


def test_a_fresh_project_that_comes_to_require_another_version_is_refused(book):
    assert ledger(book, "check").code == 0
    with (book / "ledger.toml").open("a", encoding="utf-8") as file:
        file.write('requires = ">=9.1"\n')
    assert ledger(book, "check").code == 2


@pytest.mark.parametrize("requires", ["0.2", ">=", "about 1", ">=0.2 <1"])
def test_what_is_no_range_of_versions_is_told_at_its_place(requires, tmp_path):
    files = {**BOOK, "ledger.toml": f'requires = "{requires}"\n'}
    ran = ledger(write_project(tmp_path / "book", files), "check")
    what = f"ledger.toml:1:13: {requires!r} is no range of versions\n  such as '>=0.2' or '>=0.2,<0.4'\n"
    assert (ran.code, ran.err) == (2, f"{what}1 error, nothing written\n")


# What says which version built it.


def test_a_workbook_and_the_stamp_say_which_version_built_them(book):
    name = "reports/first/first.xlsx"
    assert record(read_workbook(name, (book / name).read_bytes())).version == __version__
    assert json.loads((book / ".ledger/stamp.json").read_bytes())["built_by"] == f"Tile Ledger {__version__}"


def test_a_workbook_without_a_version_is_read():
    """As an older Tile Ledger built it."""
    path = ROOT / "tests/workbooks/base.xlsx"
    found = record(read_workbook("base.xlsx", path.read_bytes()))
    assert (found.version, found.report != "") == ("", True)
    assert opened(path.read_bytes()).cached["_published"]["D1"].value is None


def test_the_version_has_one_home():
    assert "version" in PYPROJECT["dynamic"]
    assert Project(ROOT).root == ROOT
    text = f'"{__version__}"'
    homes = [path for path in (ROOT / "ledger").rglob("*.py") if text in path.read_text(encoding="utf-8")]
    assert [path.relative_to(ROOT).as_posix() for path in homes] == ["ledger/declarations/project.py"]
