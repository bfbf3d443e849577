"""Notes on single cells: where a number was read, and where sources disagree."""

import csv
import io

import openpyxl
import projects
import pytest

from ledger import cli

SCENARIOS = projects.ROOT / "scenarios"


def rows_of(name):
    with (SCENARIOS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def book():
    return openpyxl.load_workbook(
        io.BytesIO((projects.ROOT / "reports/gemm-ledger/gemm-ledger.xlsx").read_bytes())
    )


def test_every_number_of_a_machine_says_where_it_was_read(book):
    sheet = book["machines"]
    table = next(iter(sheet.tables.values()))
    header, *rows = sheet[table.ref]
    numbers = [
        cell
        for row in rows
        for name, cell in zip(header, row, strict=True)
        if name.value not in {"id", "name", "vendor", "cc", "status", "source", "notes"}
        and cell.data_type == "n"
    ]
    assert len(numbers) > 80
    assert [cell.coordinate for cell in numbers if cell.comment is None] == []


def test_every_disagreement_of_sources_stands_at_a_cell(book):
    """Thirty-four subjects on which sources disagree, each with what is used."""
    notes = [row["note"] for name in ("machine_notes", "peak_notes") for row in rows_of(name)]
    subjects = {note.split(": ")[0] for note in notes if "; but " in note and " Used: " in note}
    shown = "\n".join(
        cell.comment.text
        for name in ("machines", "peaks")
        for row in book[name].iter_rows()
        for cell in row
        if cell.comment
    )
    assert (len(subjects), [subject for subject in subjects if subject not in shown]) == (34, [])


FILES = {
    "reports/it.toml": (
        'tables.t = { notes = "remarks.csv", fields.x = {} }\ncolumns.y.formula = "x"\nsheets.s.rows = "t"\n'
        '[views.v]\nsheet = "s"\ncolumns = ["y"]\n'
    ),
    "scenarios/t.csv": "id,x\na,1\nb,2\n",
}


@pytest.mark.parametrize(
    ("remarks", "told"),
    [
        ("c,x,why", "scenarios/remarks.csv:2:1: table 't' has no row 'c'\n  known: a, b"),
        ("a,z,why", "scenarios/remarks.csv:2:3: table 't' has no field 'z'\n  known: x"),
        ("a,x,", "scenarios/remarks.csv:2:5: 'note' is empty"),
    ],
)
def test_note_that_belongs_nowhere_is_told(remarks, told, tmp_path, monkeypatch, capsys):
    root = projects.write_project(
        tmp_path, {**FILES, "scenarios/remarks.csv": f"row,field,note\n{remarks}\n"}
    )
    monkeypatch.chdir(root)
    assert cli.main(["build"]) == cli.TROUBLE
    assert capsys.readouterr().err.startswith(told)


def test_notes_of_a_table_on_a_ledger_sheet_stand_there(tmp_path):
    text = "row,field,note\na,x,measured once\na,x,and again\nb,,a whole row\n"
    root = projects.write_project(tmp_path, {**FILES, "scenarios/remarks.csv": text})
    data = projects.built(root, "it").files["it.xlsx"]
    sheet = openpyxl.load_workbook(io.BytesIO(data))["s"]
    notes = {cell.value: cell.comment.text for row in sheet.iter_rows() for cell in row if cell.comment}
    assert (notes[1], notes["b"]) == ("measured once\nand again", "a whole row")
