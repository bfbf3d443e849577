"""What `check` says of a book: what is stale, which printed cells moved, what moved them; it never writes."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys

import pytest
from projects import BOOK, ROOT, copy_book, digests, edit, ledger, opened, write_book

from ledger.project import stamp

STAMP = ".ledger/stamp.json"
FRESH = "fresh: every output and chapter is what it should be\n"
MACHINES, SHAPES = "scenarios/machines.csv", "scenarios/shapes.csv"
REPORT, MODEL = "reports/first.toml", "reports/models/work.toml"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a copy of this project as a build leaves it; no test changes it."""
    folder = copy_book(tmp_path_factory.mktemp("whole"))
    assert ledger(folder, "build").code == 0
    return folder


def grouped(ran):
    """Return the causes that were told, each with the lines below it."""
    found: dict[str, list[str]] = {}
    for line in ran.lines[:-1]:
        if line.startswith("  "):
            found[list(found)[-1]].append(line.strip())
        elif not re.match(r"(stale|missing|edited by hand) {2,}", line):
            found[line] = []
    return found


# The story of the issue, on the whole project.


@pytest.fixture(scope="module")
def moved(whole, tmp_path_factory):
    """Return a copy of this project in which a machine's bandwidth is another one."""
    folder = shutil.copytree(whole, tmp_path_factory.mktemp("moved") / "book")
    data = (folder / MACHINES).read_text(encoding="utf-8").splitlines(keepends=True)
    assert data[1].startswith("h100-sxm5-prelim,")
    data[1] = data[1].replace(",3.0,", ",3.35,")
    (folder / MACHINES).write_text("".join(data), encoding="utf-8")
    return folder


def lines_with(path, text):
    return [i for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line]


@pytest.mark.slow
def test_a_changed_input_is_told_with_the_cells_that_it_moves(moved):
    before = digests(moved)
    ran = ledger(moved, "check")
    assert (ran.code, ran.err) == (1, "")
    assert digests(moved) == before
    cells = grouped(ran)[f"{MACHINES}:2 dram_tb_s 3.0 → 3.35"]
    (prose,) = lines_with(moved / "README.md", "gemm-ledger/default/balance -->333.33")
    (printed,) = lines_with(moved / "README.md", "机器平衡点 : 333.33")
    assert f"README.md:{prose}  gemm-ledger/default/balance  333.33 → 298.51" in cells
    assert f"README.md:{printed}  机器平衡点  333.33 → 298.51" in cells
    assert "README.md" in re.findall(r"^stale +(.*)$", ran.out, re.MULTILINE)
    assert ran.lines[-1].endswith(" files are stale; run: tile-ledger build")


@pytest.mark.slow
def test_build_mends_what_check_told_and_no_formula_changes(moved, tmp_path):
    book = shutil.copytree(moved, tmp_path / "book")
    name = "reports/gemm-ledger/gemm-ledger.xlsx"
    before = opened((book / name).read_bytes())
    assert ledger(book, "build").code == 0
    assert ledger(book, "check").out == FRESH
    assert ledger(book, "check", "--full").out == FRESH
    after = opened((book / name).read_bytes())
    cells = before.formula_cells()
    assert {place: after.formula(place) for place in cells} == {
        place: before.formula(place) for place in cells
    }
    assert before.value(before.named("default", "balance")) == 1000 / 3
    assert after.value(after.named("default", "balance")) == pytest.approx(1000 / 3.35, rel=1e-14)
    readme = (book / "README.md").read_text(encoding="utf-8")
    assert "gemm-ledger/default/balance -->298.51<!--" in readme
    assert "机器平衡点 : 298.51 FLOP/Byte" in readme


# What changed, and what it moved, on a small book.

GRID = [
    "chapters/1.md:7  A · time taken  682.67 → 611.34",
    "chapters/1.md:7  A · verdict  slow (682.7 for 2048) → slow (611.3 for 2048)",
    "chapters/1.md:8  B · time taken  170.67 → 152.84",
    "chapters/1.md:8  B · verdict  slow (170.7 for 512) → slow (152.8 for 512)",
    "chapters/1.md:9  C · time taken  85.33 → 76.42",
    "chapters/1.md:13  first/grid/a/1/time  682.7 → 611.3",
    "chapters/2.md:19  m=100  3.00 → 3.35",
    "chapters/2.md:20  took  200.00 → 179.10",
    "chapters/2.md:29  a/1 · time  682.6666666666666 → 611.3432835820895",
    "chapters/2.md:29  a/1 · verdict  slow (682.7 for 2048) → slow (611.3 for 2048)",
    "chapters/2.md:30  b · time  170.66666666666666 → 152.83582089552237",
    "chapters/2.md:30  b · verdict  slow (170.7 for 512) → slow (152.8 for 512)",
    "and 10 more",
]
CAUSES = {
    "a number of a scenario": (MACHINES, "3.0", "3.35", {f"{MACHINES}:2 speed 3.0 → 3.35": GRID}),
    "a number that is printed of another row": (
        MACHINES, "5.0", "6.0",
        {
            f"{MACHINES}:3 speed 5.0 → 6.0": [
                "chapters/2.md:9  time taken · value  120.00 → 100.00",
                "chapters/2.md:10  verdict · value  slow (120.0 for 600) → fast",
                "reports/first/one.md:5  time taken · value  120.00 → 100.00",
                "reports/first/one.md:6  verdict · value  slow (120.0 for 600) → fast",
            ]
        },
    ),
    "a text of a scenario that no view prints": (MACHINES, "S2", "S3", {f"{MACHINES}:3 source S2 → S3": []}),
    "a label by which rows go": (
        SHAPES, "b,B", "b,Bee",
        {
            f"{SHAPES}:3 label B → Bee": [
                "chapters/1.md:8  Bee · on one  B → Bee",
                "chapters/1.md:20  Bee · label  B → Bee",
                "chapters/2.md:30  b · label  B → Bee",
                "chapters/2.md:45  Bee · label  B → Bee",
                "reports/first/grid.md:4  Bee · on one  B → Bee",
                "reports/first/steps.md:4  Bee · label  B → Bee",
            ]
        },
    ),
    "a formula": (
        MODEL, '"work / machine.speed"', '"work * machine.speed"',
        {
            f"{MODEL}:20 time work / machine.speed → work * machine.speed": [
                "chapters/1.md:7  A · time taken  682.67 → 6144.00",
                "chapters/1.md:7  A · verdict  slow (682.7 for 2048) → slow (6144.0 for 2048)",
            ]
        },
    ),
    "a display rule": (
        MODEL, 'display = "si 3"', 'display = "integer"',
        {
            f"{MODEL} a label, a unit, a display rule or a view changed": [
                "chapters/1.md:7  A · work  2.05 k → 2048",
                "chapters/1.md:19  A · stages 1  1.02 k → 1024",
            ]
        },
    ),
    "a label": (
        MODEL, "time taken", "duration",
        {
            f"{MODEL} a label, a unit, a display rule or a view changed": [
                "chapters/1.md:5  time taken → duration",
                "chapters/2.md:9  duration · label  time taken → duration",
                "reports/first/grid.md:1  time taken → duration",
                "reports/first/one.md:5  duration · label  time taken → duration",
                "reports/second/one.md:5  duration · label  time taken → duration",
            ]
        },
    ),
    "a template": (
        "templates/said.txt.j2", "took", "needed",
        {
            "templates/said.txt.j2 a template changed": [
                "chapters/2.md:20  needed  took → needed",
                "reports/second/one.txt:2  needed  took → needed",
            ]
        },
    ),
    "a template's way to write the same": (
        "templates/table.html.j2", "<thead>", "<thead class='x'>",
        {"templates/table.html.j2 a template changed": ["chapters/2.md:40  <thead> → <thead class='x'>"]},
    ),
    "what a sheet sets": (
        REPORT, '[sheets.one]\nset = { machine = "two" }', '[sheets.one]\nset = { machine = "one" }',
        {
            f"{REPORT}:11 one machine two → one": [
                "chapters/2.md:9  time taken · value  120.00 → 200.00",
                "chapters/2.md:10  verdict · value  slow (120.0 for 600) → slow (200.0 for 600)",
                "reports/first/one.md:5  time taken · value  120.00 → 200.00",
                "reports/first/one.md:6  verdict · value  slow (120.0 for 600) → slow (200.0 for 600)",
            ]
        },
    ),
    "what a heading prints": (
        REPORT, 'rows = "shapes"\nset = { machine = "one" }', 'rows = "shapes"\nset = { machine = "two" }',
        {
            f"{REPORT}:6 grid machine one → two": [
                "chapters/1.md:5  on one → on two",
                "chapters/1.md:7  A · time taken  682.67 → 409.60",
            ]
        },
    ),
    "a default of several sheets": (
        MODEL, "default = 100", "default = 200",
        {
            f"{MODEL}:10 m 100 → 200": [
                "chapters/2.md:7  m · value  100 → 200",
                "chapters/2.md:8  work · value  600 → 1.2 k",
                "chapters/2.md:9  time taken · value  120.00 → 240.00",
                "chapters/2.md:10  verdict · value  slow (120.0 for 600) → slow (240.0 for 1200)",
                "chapters/2.md:19  m=200  m=100 → m=200",
                "chapters/2.md:20  took  200.00 → 400.00",
            ]
        },
    ),
    "a new row": (
        SHAPES, "c,C,16,8\n", "c,C,16,8\nd,D,4,4\n",
        {
            f"{SHAPES}:5 row d new": [
                "chapters/1.md:5  D  ∅ → a new row",
                "chapters/1.md:17  D  ∅ → a new row",
                "chapters/2.md:28  d  ∅ → a new row",
                "chapters/2.md:41  D  ∅ → a new row",
                "reports/first/grid.md:1  D  ∅ → a new row",
                "reports/first/steps.md:1  D  ∅ → a new row",
            ]
        },
    ),
    "a row less": (
        SHAPES, "b,B,32,8\n", "",
        {
            f"{SHAPES} row b gone": [
                "chapters/1.md:8  B  the row → gone",
                "chapters/1.md:20  B  the row → gone",
                "chapters/2.md:30  b  the row → gone",
                "chapters/2.md:45  B  the row → gone",
                "reports/first/grid.md:4  B  the row → gone",
                "reports/first/steps.md:4  B  the row → gone",
            ]
        },
    ),
    "rows in another order": (
        SHAPES, "b,B,32,8\nc,C,16,8\n", "c,C,16,8\nb,B,32,8\n",
        {
            f"{SHAPES} rows in another order": [
                "chapters/1.md:5  rows  ∅ → in another order",
                "chapters/1.md:17  rows  ∅ → in another order",
                "chapters/2.md:28  rows  ∅ → in another order",
                "chapters/2.md:41  rows  ∅ → in another order",
                "reports/first/grid.md:1  rows  ∅ → in another order",
                "reports/first/steps.md:1  rows  ∅ → in another order",
            ]
        },
    ),
    "a value of a list": (
        REPORT, "[1, 2, 3]", "[1, 2, 4]",
        {
            f"{REPORT}:9 steps stages 4 new": [
                "chapters/1.md:17  stages 3 → stages 4",
                "chapters/1.md:19  A · stages 4  3.07 k → 4.1 k",
                "chapters/1.md:20  B · stages 4  768 → 1.02 k",
                "chapters/1.md:21  C · stages 4  384 → 512",
            ],
            f"{REPORT}:9 steps stages 3 gone": [],
        },
    ),
    "a value more of a list": (
        REPORT, "[1, 2, 3]", "[1, 2, 3, 4]",
        {
            f"{REPORT}:9 steps stages 4 new": [
                "chapters/1.md:17  stages 4  ∅ → a new column",
                "chapters/2.md:41  stages 4  ∅ → a new column",
                "reports/first/steps.md:1  stages 4  ∅ → a new column",
            ]
        },
    ),
    "a value less of a list": (
        REPORT, "[1, 2, 3]", "[1, 2]",
        {
            f"{REPORT}:9 steps stages 3 gone": [
                "chapters/1.md:17  stages 3  the column → gone",
                "chapters/2.md:41  stages 3  the column → gone",
                "reports/first/steps.md:1  stages 3  the column → gone",
            ]
        },
    ),
    "a list in another order": (
        REPORT, "[1, 2, 3]", "[1, 3, 2]",
        {
            f"{REPORT}:9 steps stages in another order": [
                "chapters/1.md:17  columns  ∅ → in another order",
                "chapters/2.md:41  columns  ∅ → in another order",
                "reports/first/steps.md:1  columns  ∅ → in another order",
            ]
        },
    ),
    "a column of a view": (
        REPORT, '"work", "time", "verdict"]\n[views.steps]', '"time", "verdict"]\n[views.steps]',
        {
            f"{REPORT} a label, a unit, a display rule or a view changed": [
                "chapters/1.md:5  work  the column → gone",
                "chapters/2.md:28  work  the column → gone",
                "reports/first/grid.md:1  work  the column → gone",
            ]
        },
    ),
    "a limit": (
        REPORT, "Nothing is measured", "Something is measured",
        {
            f"{REPORT} a label, a unit, a display rule or a view changed": [
                "reports/first/grid.md:11  Something  Nothing → Something",
                "reports/first/one.md:12  Something  Nothing → Something",
                "reports/first/steps.md:11  Something  Nothing → Something",
            ]
        },
    ),
    "the language": (
        "ledger.toml", '"en"', '"zh"',
        {
            "ledger.toml the language changed": [
                "chapters/2.md:5  label → 含义",
                "chapters/2.md:5  value → 值",
            ]
        },
    ),
    "a display rule in a chapter": (
        "chapters/1.md", "a/1/time fixed 1", "a/1/time fixed 2",
        {"edited, or of an older build": ["chapters/1.md:13  first/grid/a/1/time  682.7 → 682.67"]},
    ),
    "a new block": (
        "chapters/1.md", "# One", "# One\n\n<!-- ledger:begin second/one -->\n<!-- ledger:end second/one -->",
        {"edited, or of an older build": ["chapters/1.md:3  second/one  ∅ → not written yet"]},
    ),
    "a digit of a sum": (
        "chapters/2.md", "first/one sum=", "first/one sum=0",
        {"edited, or of an older build": ["chapters/2.md:3  first/one  ∅ → written in another way"]},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("change", CAUSES)
def test_a_change_is_named_and_what_it_moves_stands_below_it(change, book):
    file, old, new, expected = CAUSES[change]
    edit(book / file, old, new)
    before = digests(book)
    ran = ledger(book, "check")
    assert (ran.code, ran.err, digests(book)) == (1, "", before)
    told = grouped(ran)
    assert list(told) == list(expected)
    # A long list of cells is given here by its beginning.
    assert {cause: told[cause][: len(lines)] for cause, lines in expected.items()} == expected


@pytest.mark.slow
def test_many_changes_at_once_are_mended_by_one_build(book):
    for change in (
        "a formula",
        "a label",
        "a template",
        "a row less",
        "a new block",
        "a limit",
    ):
        edit(book / CAUSES[change][0], *CAUSES[change][1:3])
    assert ledger(book, "check").code == 1
    assert ledger(book, "build").code == 0
    assert ledger(book, "check").out == ledger(book, "check", "--full").out == FRESH


def test_two_changes_part_the_cells_between_them(book):
    edit(book / MACHINES, "5.0", "6.0")
    edit(book / SHAPES, "16,8", "17,8")
    told = grouped(ledger(book, "check"))
    by_machine = told[f"{MACHINES}:3 speed 5.0 → 6.0"]
    by_shape = told[f"{SHAPES}:4 m 16 → 17"]
    assert list(told) == [f"{SHAPES}:4 m 16 → 17", f"{MACHINES}:3 speed 5.0 → 6.0"]
    assert set(by_machine) & set(by_shape) == set()
    assert "chapters/2.md:9  time taken · value  120.00 → 100.00" in by_machine
    assert "chapters/1.md:9  C · work  256 → 272" in by_shape


def test_a_cell_that_two_changes_move_stands_below_both(book):
    edit(book / MACHINES, "3.0", "3.35")
    edit(book / SHAPES, "16,8", "17,8")
    told = grouped(ledger(book, "check"))
    line = "chapters/1.md:9  C · time taken  85.33 → 81.19"
    assert [cause for cause, lines in told.items() if line in lines] == list(told)


def test_a_cell_that_no_change_moves_is_told_apart(book):
    edit(book / MACHINES, "5.0", "6.0")
    edit(book / "reports/first/steps.md", "768", "769")
    told = grouped(ledger(book, "check"))
    assert told["no change of an input or a declaration explains these"] == [
        "reports/first/steps.md:4  B · stages 3  769 → 768"
    ]


def test_a_formula_and_a_display_rule_of_one_file_are_both_told(book):
    edit(book / MODEL, '"work / machine.speed"', '"2 * work / machine.speed"')
    edit(book / MODEL, 'display = "si 3"', 'display = "integer"')
    told = grouped(ledger(book, "check"))
    formula, file = told
    assert formula == f"{MODEL}:20 time work / machine.speed → 2 * work / machine.speed"
    assert file == f"{MODEL} a label, a unit, a display rule or a view changed"
    assert "chapters/1.md:7  A · work  2.05 k → 2048" in told[file]
    assert "chapters/1.md:7  A · work  2.05 k → 2048" not in told[formula]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (MODEL, "\n[inputs]", "\n# a comment\n[inputs]"),
        ("chapters/1.md", "# One", "# Another title"),
        ("chapters/1.md", "| on one | work ", "|on one|work"),
    ],
    ids=["comment", "prose", "padding"],
)
def test_what_changes_no_output_is_fresh(file, old, new, book):
    edit(book / file, old, new)
    ran = ledger(book, "check")
    assert (ran.code, ran.out) == (0, FRESH)


WORK = "reports/models/work.toml"
DOCUMENTS = '[tables.machines]\ndocuments = ["remark"]\n[tables.machines.fields]'


def test_a_text_that_no_formula_reads_is_named_as_the_cause(book):
    edit(book / WORK, "[tables.machines.fields]", DOCUMENTS)
    edit(book / MACHINES, "speed,source\n", "speed,source,remark\n")
    edit(book / MACHINES, "S1\n", "S1,as read\n")
    edit(book / MACHINES, "S2\n", "S2,y\n")
    assert ledger(book, "build").code == 0
    edit(book / MACHINES, "as read", "as seen")
    ran = ledger(book, "check")
    assert ran.code == 1
    assert "scenarios/machines.csv:2 remark as read → as seen" in ran.lines


def test_a_column_that_no_formula_reads_changes_the_workbooks_alone(book):
    edit(book / WORK, "[tables.machines.fields]", DOCUMENTS)
    edit(book / MACHINES, "speed,source\n", "speed,source,remark\n")
    edit(book / MACHINES, "S1\n", "S1,x\n")
    edit(book / MACHINES, "S2\n", "S2,y\n")
    ran = ledger(book, "check")
    assert ran.code == 1
    assert {line.split()[-1] for line in ran.lines if line.startswith("stale")} == {
        "reports/first/first.xlsx",
        "reports/second/second.xlsx",
    }


def test_a_report_without_its_workbook_is_missing_it(book):
    (book / "reports/first/first.xlsx").unlink()
    edit(book / MACHINES, "5.0", "6.0")
    ran = ledger(book, "check")
    assert ran.code == 1
    assert "missing           reports/first/first.xlsx" in ran.lines


def test_a_missing_output_is_told_and_an_extra_file_is_not(book):
    (book / "reports/first/notes.txt").write_text("an author's", encoding="utf-8")
    assert ledger(book, "check").out == FRESH
    (book / "reports/first/grid.csv").unlink()
    ran = ledger(book, "check")
    assert (ran.code, ran.lines) == (
        1,
        ["missing           reports/first/grid.csv", "1 file is stale; run: tile-ledger build"],
    )


def test_a_book_that_was_never_built_is_stale(book):
    shutil.rmtree(book / "reports/first")
    shutil.rmtree(book / "reports/second")
    ran = ledger(book, "check")
    assert (ran.code, ran.out.count("missing")) == (1, 18)


# As JSON.


def test_json_says_the_same(book):
    edit(book / MACHINES, "5.0", "6.0")
    (book / "reports/second/one.csv").unlink()
    text, said = ledger(book, "check"), ledger(book, "check", "--json")
    assert (said.code, said.err) == (text.code, "") == (1, "")
    found = json.loads(said.out)
    assert list(found) == ["schema", "fresh", "causes", "moved", "stale", "claims", "findings", "repair"]
    assert (found["schema"], found["fresh"], found["repair"]) == (1, False, "tile-ledger build")
    assert found["causes"] == [
        {"place": f"{MACHINES}:3", "what": "speed", "old": "5.0", "new": "6.0", "moved": [0, 1, 2, 3]}
    ]
    told = [
        f"{each['file']}:{each['line']}  {each['where']}  {each['old']} → {each['new']}"
        for each in found["moved"]
    ]
    assert told == grouped(text)[f"{MACHINES}:3 speed 5.0 → 6.0"]
    lines = [f"{each['why']:16}  {each['file']}" for each in found["stale"]]
    assert lines == [line for line in text.lines if re.match("(stale|missing) ", line)]


def test_json_of_a_fresh_book_is_the_same_with_and_without_a_stamp(book):
    with_stamp = ledger(book, "check", "--json")
    assert json.loads(with_stamp.out) == {
        "schema": 1, "fresh": True, "causes": [], "moved": [], "stale": [], "claims": [],
        "findings": [], "repair": "",
    }  # fmt: skip
    assert ledger(book, "check", "--json", "--full") == with_stamp
    (book / ".ledger/stamp.json").unlink()
    assert ledger(book, "check", "--json") == with_stamp


# Edits of a block.


@pytest.mark.slow
def test_an_edited_block_stops_the_build_and_is_named(book):
    edit(book / "chapters/1.md", "| B      | 512 ", "| B      | 513 ")
    before = digests(book)
    built, checked = ledger(book, "build"), ledger(book, "check")
    assert (built.code, built.out, digests(book)) == (2, "", before)
    assert built.err.splitlines() == [
        "chapters/1.md:3:1: block 'first/grid' was edited by hand",
        "  undo the edit, or write over it: tile-ledger build --overwrite first/grid",
        "1 error, nothing written",
    ]
    assert (checked.code, checked.lines) == (
        1,
        [
            "edited, or of an older build",
            "  chapters/1.md:8  B · work  513 → 512",
            "edited by hand    chapters/1.md",
            "1 file is stale; run: tile-ledger build --overwrite first/grid",
        ],
    )
    assert ledger(book, "build", "--overwrite", "first/grid").code == 0
    assert ledger(book, "check").out == ledger(book, "check", "--full").out == FRESH


@pytest.mark.slow
def test_an_edit_is_kept_while_an_input_moves_other_blocks(book):
    edit(book / "chapters/1.md", "| B      | 512 ", "| B      | 513 ")
    edit(book / MACHINES, "5.0", "6.0")
    ran = ledger(book, "check")
    assert ran.lines[-1].endswith("run: tile-ledger build --overwrite first/grid")
    assert ledger(book, "build").code == 2
    assert ledger(book, "build", "--overwrite", "first/grid").code == 0
    assert ledger(book, "check").out == FRESH


@pytest.mark.slow
def test_two_edited_blocks_are_told_at_once_and_both_are_named(book):
    edit(book / "chapters/1.md", "| B      | 512 ", "| B      | 513 ")
    edit(book / "chapters/2.md", "| 100 ", "| 101 ")
    built = ledger(book, "build")
    assert built.err.splitlines()[-1] == "2 errors, nothing written"
    assert ledger(book, "check").lines[-1] == (
        "2 files are stale; run: tile-ledger build --overwrite first/grid --overwrite first/one"
    )
    assert ledger(book, "build", "--overwrite", "first/grid").code == 2
    assert ledger(book, "build", "--overwrite", "first/grid", "--overwrite", "first/one").code == 0
    assert ledger(book, "check").out == FRESH


def test_a_block_that_no_chapter_has_cannot_be_written_over(book):
    before = digests(book)
    ran = ledger(book, "build", "--overwrite", "first/grd")
    assert (ran.code, ran.out, digests(book)) == (2, "", before)
    assert ran.err.splitlines()[:2] == [
        "--overwrite first/grd: no chapter has such a block",
        "  did you mean 'first/grid'?",
    ]


# Trouble.


@pytest.mark.parametrize("options", [(), ("--full",), ("--json",)])
def test_a_broken_project_is_trouble(options, book):
    edit(book / MODEL, '"m * k * stages"', '"m * k * stagse"')
    edit(book / "chapters/2.md", "begin second/one", "begin second/two")
    before = digests(book)
    ran = ledger(book, "check", *options)
    assert (ran.code, ran.out, digests(book)) == (2, "", before)
    assert f"{MODEL}:16:20: unknown name 'stagse'\n  did you mean 'stages'?" in ran.err


# Corruption.


def flipped(data, at, bit):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def sampled(names, folder, count):
    """Return positions in files, the same on every run."""
    pick = random.Random(5)  # noqa: S311  # a sample, no secret
    places = []
    for name in names:
        size = (folder / name).stat().st_size
        places += [(name, pick.randrange(size), pick.randrange(8)) for _ in range(count)]
    return places


@pytest.mark.slow
def test_a_corrupted_byte_of_any_output_is_found(tmp_path):
    """The stamp says so, or the whole work does."""
    chapter = {"chapters/1.md": "时间 <!-- ledger:value second/one/time --><!-- ledger:end -->\n"}
    left_out = ("reports/first.toml", *(name for name in BOOK if name.startswith("chapters/")))
    book = write_book(
        tmp_path / "book", {name: BOOK[name] for name in BOOK if name not in left_out} | chapter
    )
    names = sorted(name for name in digests(book) if name.startswith("reports/second/"))
    assert len(names) == 5
    wrong = []
    for number, (name, at, bit) in enumerate(sampled(names, book, 4)):
        data = (book / name).read_bytes()
        (book / name).write_bytes(flipped(data, at, bit))
        ran = ledger(book, "check", *(["--full"] if number % 2 else []))
        if (ran.code, ran.lines[-2:]) != (
            1,
            [f"stale             {name}", "1 file is stale; run: tile-ledger build"],
        ):
            wrong.append((name, at, bit, ran))
        (book / name).write_bytes(data)
    assert wrong == []


def generated(text):
    """Return the spans of a chapter that a build writes: blocks with their sums, values."""
    blocks = re.finditer(r"(?s)<!-- ledger:begin [^\n]* -->\n(.*?)<!-- ledger:end \S+ (sum=\w+) -->", text)
    values = re.finditer(r"<!-- ledger:value [^>]* -->(.*?)<!-- ledger:end -->", text)
    return [span for match in blocks for span in (match.span(1), match.span(2))] + [
        match.span(1) for match in values
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chapters/1.md", "chapters/2.md"])
def test_a_corrupted_letter_of_any_block_or_value_is_found(name, small, tmp_path):
    """A byte that is no longer UTF-8 or a marker that is none any more is trouble, the rest is stale."""
    book = shutil.copytree(small, tmp_path / "book")
    text = (book / name).read_text(encoding="utf-8")
    places = [at for start, stop in generated(text) for at in range(start, stop) if text[at] not in " \n-"]
    pick = random.Random(7)  # noqa: S311  # the same
    wrong = []
    for number, at in enumerate(pick.sample(places, 12)):
        (book / name).write_bytes(flipped(text.encode(), at, pick.randrange(7)))
        ran = ledger(book, "check", *(["--full"] if number % 2 else []))
        if ran.code not in {1, 2} or (ran.code == 2 and f"{name}:" not in ran.err):
            wrong.append((at, text[at - 9 : at + 9], ran))
    assert wrong == []


def test_a_byte_that_is_not_utf8_is_trouble(book):
    data = (book / "chapters/1.md").read_bytes()
    at = data.index(b"682.67")
    (book / "chapters/1.md").write_bytes(flipped(data, at, 7))
    ran = ledger(book, "check")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0] == f"chapters/1.md:7: not UTF-8 at byte {at}"


@pytest.mark.slow
def test_no_byte_of_the_project_is_out_of_the_stamp_s_sight(whole):
    """Each file that a build opened or wrote, read as the first thing a check does."""
    names = sorted(set(digests(whole)) & dict(json.loads((whole / STAMP).read_bytes())["files"]).keys())
    assert {"ledger.toml", "README.md", "reports/occupancy.toml", "scenarios/cases.csv"} <= {*names}
    wrong = []
    for name, at, bit in sampled(names, whole, 3):
        data = (whole / name).read_bytes()
        (whole / name).write_bytes(flipped(data, at, bit))
        if stamp.is_fresh(whole):
            wrong.append((name, at, bit))
        (whole / name).write_bytes(data)
    assert wrong == []
    assert stamp.is_fresh(whole)


# The cost of a fresh check.

HEAVY = ("pandas", "numpy", "openpyxl", "jinja2", "pydantic", "markdown_it", "tomllib", "csv")
WATCHED = f"""
import sys
from ledger.cli import main
code = main(["check"])
print(code, sorted(set({HEAVY}) & set(sys.modules)))
"""


def test_a_fresh_check_imports_no_library(book):
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        cwd=book,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (f"{FRESH}0 []\n", "")
