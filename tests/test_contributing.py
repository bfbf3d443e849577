"""What is said to those who come to work on the project names what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_architecture import FLOORS, ROOMS

ROOT = Path(__file__).resolve().parents[1]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "SECURITY.md")}
PATH = re.compile(r"`((?:\.?[\w-]+/)+[\w.*-]*|[\w-]+\.(?:md|toml|txt|py))`")
ANY = re.compile(r"NAME|\*|ROOM|MODULE")


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_is_there(page):
    named = [path for path in PATH.findall(PAGES[page]) if not ANY.search(path)]
    inside = ("", "ledger/language/targets", "ledger/xlsx", "tests")
    assert len(named) > 3
    assert [path for path in named if not any((ROOT / folder / path).exists() for folder in inside)] == []


def test_every_target_that_is_named_is_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([\w-]+)[^`]*`", PAGES["CONTRIBUTING.md"]))
    assert {"lint", "test", "test-fast"} - named - {"test-fast"} == set()
    assert [each for each in named if not re.search(rf"(?m)^{each}:", makefile)] == []


def test_the_picture_shows_every_room_on_its_floor():
    picture = re.search(r"## The rooms.*?```text\n(.*?)```", PAGES["CONTRIBUTING.md"], re.DOTALL)[1]
    names = {*ROOMS, "errors", "values"}
    shown = [
        {word for word in re.findall(r"\b[a-z]+\b(?=  )|^[a-z]+|(?<=  )[a-z]+", line) if word in names}
        for line in picture.splitlines()
    ]
    assert [floor for floor in reversed(shown) if floor] == [set(floor) for floor in FLOORS]


def test_the_workflow_does_what_a_change_must_pass():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^ +- run: (.*)$", workflow) == [".ci/run"]
    assert "contents: read" in workflow


def test_every_issue_form_asks_for_the_version_or_the_need():
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    texts = {path.stem: path.read_text(encoding="utf-8") for path in forms}
    assert {name: "id: version" in text or "id: need" in text for name, text in texts.items()} == {
        "config": False, "fault": True, "idea": True, "wrong-number": True,
    }  # fmt: skip
