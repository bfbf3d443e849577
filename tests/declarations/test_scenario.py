"""What a scenario CSV may hold, and where each mistake in one is told."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.declarations.scenario import Field, Source, place, read, values
from ledger.errors import Place, Problems
from ledger.values import NA

CASES = Path(__file__).resolve().parents[1] / "cases" / "csv"
FORM = "an integer is digits alone, with '-' below zero"


#: Every column is a document.
ALL = ("*",)


def cells(scenario, name):
    """Return a field's column, a blank as None."""
    values = scenario.typed[name]
    blank = [False] * len(values) if values.errors is None else values.errors > 0
    return [None if missing else item for item, missing in zip(values.data.tolist(), blank, strict=True)]


def declared(text):
    """Return the fields of `text`, such as `M:integer note:text?`, where `?` is optional."""
    pairs = (word.split(":") for word in text.split())
    return [Field(column, column, kind.rstrip("?"), kind.endswith("?")) for column, kind in pairs]


def scenario_of(path, key, fields, encoding="utf-8"):
    """Return the scenario of a file in which nothing is wrong."""
    problems = Problems()
    scenario = read(Source(path, path.name, tuple(key.split()), encoding, ALL), fields, problems)
    problems.raise_any()
    return scenario


def problems_of(path, key, fields, encoding="utf-8"):
    """Return what is told about a file, line by line."""
    problems = Problems()
    assert read(Source(path, "f", tuple(key.split()), encoding, ALL), fields, problems) is None
    return [line.removeprefix("f:") for each in problems.found for line in str(each).split("\n")]


@pytest.fixture
def written(tmp_path):
    """Return a function that writes text or bytes to a file and returns its path."""

    def write(content):
        path = tmp_path / "f.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("file", "key", "fields", "lines", "rows"),
    [
        ("blank_and_comma_rows", "id", "M:integer K:integer", (4,), {"M": [1.0], "K": [3.0]}),
        ("bom", "id", "M:integer dtype:text", (2,), {"M": [4096.0], "dtype": ["fp16"]}),
        ("cr_only", "id", "M:integer", (2, 3), {"M": [128.0, 256.0]}),
        (
            "formula_cells",
            "id",
            "note:text delta:number",
            (2, 3, 4, 5),
            {"note": ["=1+1", "-- comment", "@home", "=== new ==="], "delta": [-5.0, 1.0, -0.0015, 0.0]},
        ),
        ("header_ws", "id", "M:integer N:integer K:text", (2,), {"M": [128.0], "N": [256.0], "K": ["64"]}),
        ("missing_int", "id", "M:text? N:integer", (2, 3), {"M": ["128", None], "N": [4096.0, 8192.0]}),
        (
            "mixed_eol_quoted_newline",
            "id",
            "M:integer note:text",
            (2, 4, 6),
            {"M": [128.0, 256.0, 512.0], "note": ["a\nb", "c\nd", "e"]},
        ),
        (
            "na_labels",
            "id",
            "id:text label:text limit:text?",
            (2, 3, 4, 5, 6),
            {
                "id": ["001", "002", "003", "004", "005"],
                "label": ["NA", "None", "null", "nan", "N/A"],
                "limit": ["NA", "None", "49152", None, "inf"],
            },
        ),
        ("dup_empty_header", "M N K", "delta%:number", (2,), {"delta%": [46.84]}),
        (
            "utf8_also_valid_gb18030",
            "场景",
            "场景:text 矩阵:integer",
            (2,),
            {"场景": ["预填"], "矩阵": [4096.0]},
        ),
    ],
)
def test_file_is_read_as_its_fields_declare(file, key, fields, lines, rows):
    scenario = scenario_of(CASES / f"{file}.csv", key, declared(fields))
    assert (lines, rows) == (scenario.rows.lines, {name: cells(scenario, name) for name in scenario.typed})


@pytest.mark.parametrize("case", (CASES / "problems.txt").read_text(encoding="utf-8").split("\n\n"))
def test_every_mistake_of_a_file_is_told_by_its_place(case):
    """A case is a file, its fields and then what is told."""
    head, *expected = case.rstrip().split("\n")
    file, *fields = head.split(" ")
    assert expected == problems_of(CASES / file, "id", declared(" ".join(fields)))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ["1: no header and no rows"]),
        ("\n , \n", ["1: no header and no rows"]),
        ("\nid,M\n,\n", ["2: no rows below the header"]),
        ("id,m\na,1\n", ["1: no column 'M'", "  did you mean 'm'?"]),
        ("id,M,,\na,1,,\nb,1,,x\n", ["3:6: 'x' stands in column 4, which has no header"]),
        ("id,M\na,1\n,2\n", ["3:1: 'id' is empty"]),
        (
            "id,M\nA,1\na,2\n",
            [
                "3:1: keys 'A' and 'a' are one key to a spreadsheet, lines 2 and 3",
                "  each row needs a key of its own",
            ],
        ),
        (
            "id,M\nx２,1\nX2,2\n",
            [
                "3:1: keys 'x２' and 'X2' are one key to a spreadsheet, lines 2 and 3",
                "  each row needs a key of its own",
            ],
        ),
        (
            f"id,M\n{'k' * 201},1\n",
            [f"2:1: key '{'k' * 59}…' has 201 characters, at most 200 can be looked up"],
        ),
        (
            "id,M\na\x00,1\nb,\x07\n",
            [
                "2:2: the character U+0000 cannot stand in a workbook",
                "  delete it",
                "3:3: the character U+0007 cannot stand in a workbook",
                "  delete it",
                "3:3: '\\x07' is not an integer",
            ],
        ),
        (
            'id,M\na,"1"2\nb,x\n',
            ["2:3: '2' follows a closing quote", '  a quote inside a quoted cell is doubled: ""'],
        ),
        ('id,M\na,x\nb,"1\n', ["2:3: 'x' is not an integer", "3:3: this quote is never closed"]),
        ('id,note,M\n"a","x\r\ny", z\n', ["3:5: 'z' is not an integer"]),
        (f"id,M,note\na,1,{'😀' * 16384}\n", ["2:5: 32768 characters, a cell of a workbook holds 32767"]),
        (
            b"PK\x03\x04\xff",
            [
                "1:5: byte 0xFF at offset 4 is not valid UTF-8",
                "  this is a workbook or another zip: save the sheet as CSV UTF-8",
            ],
        ),
        (
            b"\xef\xbb\xbfid,M\r\n\xe5,1",
            [
                "2:1: byte 0xE5 at offset 9 is not valid UTF-8",
                '  save the file as CSV UTF-8, or declare encoding = "gb18030" if a Chinese Excel wrote it',
            ],
        ),
    ],
)
def test_text_that_cannot_be_a_scenario_is_refused(written, content, expected):
    assert expected == problems_of(written(content), "id", declared("M:integer"))


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        ("a b", " "),
        ("a\u00a0b", "\u00a0"),
        ("a|b", "|"),
        ("a*", "*"),
        ("a?", "?"),
        ("~a", "~"),
        ("a--b", "--"),
        ("a*/b", "*"),
        ("a\tb", "\t"),
        ("a\u200bb", "\u200b"),
    ],
)
def test_key_that_a_marker_or_a_lookup_would_misread_is_refused(written, key, odd):
    hint = "use letters, digits and such as '-', '_', '.', '/'"
    expected = [f"2:1: key {key!r} holds {odd!r}", f"  {hint}"]
    assert expected == problems_of(written(f"id,M\n{key},1\n"), "id", declared("M:integer"))


@pytest.mark.parametrize(
    ("kind", "cell", "hint"),
    [
        ("integer", "2.0", f"{FORM}, here 2"),
        ("integer", "+1", f"{FORM}, here 1"),
        ("integer", "1_0_", "write it without '_': 10"),
        ("integer", "-1,024,000", "write it without the thousands separator: -1024000"),
        ("integer", "1 024", "write it without spaces"),
        ("integer", "1.5M", "write 1500000 or 1572864, whichever is meant"),
        ("integer", "−5", "'−' is U+2212 MINUS SIGN, not ASCII"),
        ("integer", "٣", "'٣' is U+0663 ARABIC-INDIC DIGIT THREE, not ASCII"),
        ("integer", "- ", "write it without spaces"),
        ("number", "nan", "a number is finite; one that is not known is an empty cell"),
        ("number", "-Infinity", "a number is finite; one that is not known is an empty cell"),
        ("number", "0x1p3", ""),
        ("number", "13,85", "a number has no ',': the decimal point is '.', and digits are not grouped"),
        ("number", "3.35TB/s", "a unit is declared with the field: write the digits alone"),
        ("number", "50%", "a unit is declared with the field: write the digits alone"),
        ("number", "#N/A", "only an empty cell is missing"),
        ("number", "1e", "a unit is declared with the field: write the digits alone"),
        ("number", ".", ""),
    ],
)
def test_cell_that_is_no_number_says_what_to_write(written, kind, cell, hint):
    noun = {"integer": "an integer", "number": "a number"}[kind]
    expected = [f"2:3: {cell!r} is not {noun}", *([f"  {hint}"] if hint else [])]
    assert expected == problems_of(written(f'id,M\na,"{cell}"\n'), "id", declared(f"M:{kind}"))


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1e3", 1000.0), ("-.5", -0.5), ("+2.", 2.0), ("0.1", 0.1), ("1E-3", 0.001), ("-0", 0.0), ("007", 7.0)],
)
def test_number_is_the_nearest_double(written, cell, value):
    scenario = scenario_of(written(f"id,x\na,{cell}\n"), "id", declared("x:number"))
    assert str(value) == str(scenario.typed["x"].data[0])


@pytest.mark.parametrize("cell", ["9007199254740992", "-9007199254740992", "0009007199254740992"])
def test_integer_up_to_two_to_the_53_is_exact(written, cell):
    scenario = scenario_of(written(f"id,n\na,{cell}\n"), "id", declared("n:integer"))
    assert int(cell) == int(scenario.typed["n"].data[0])


def test_value_outside_its_bounds_is_told_with_the_bound(written):
    field = Field("share", "M", "number", minimum=0, maximum=0.5)
    expected = ["2:3: '-0.1' is below the minimum 0", "5:3: '0.6' is above the maximum 0.5"]
    assert expected == problems_of(written("id,M\na,-0.1\nb,0.5\nc,0\nd,0.6\n"), "id", [field])


def test_declared_encoding_is_used():
    """Neither the locale nor a guess decides: GB18030 is read only where it is declared."""
    scenario = scenario_of(CASES / "gbk.csv", "编号", declared("M:integer 说明:text"), "gb18030")
    assert scenario.keys == ("甲", "乙")


def test_unknown_encoding_is_told(written):
    expected = [" cannot be decoded as 'gbx': unknown encoding: gbx"]
    assert expected == problems_of(written("id\na\n"), "id", [], "gbx")


def test_missing_file_names_a_near_one(tmp_path):
    (tmp_path / "shapes.csv").write_text("id\na\n", encoding="ascii")
    assert problems_of(tmp_path / "shape.csv", "id", []) == [" no such file", "  did you mean 'shapes.csv'?"]


def test_folder_is_no_scenario(tmp_path):
    assert problems_of(tmp_path, "id", []) == [" cannot be read: Is a directory"]


def test_earlier_problems_are_kept(written):
    problems = Problems()
    problems.add("earlier")
    path = written("id,M\na,x\n")
    assert read(Source(path, "f", documents=ALL), declared("M:integer"), problems) is None
    assert [each.what for each in problems.found] == ["earlier", "'x' is not an integer"]


def test_several_key_columns_make_one_key(written):
    path = written("machine,dtype,rate\nh100,fp16,989\nh100,fp8,1979\n")
    scenario = scenario_of(path, "machine dtype", declared("rate:number"))
    assert scenario.keys == ("h100|fp16", "h100|fp8")
    assert scenario.documents == {"machine": ("h100", "h100"), "dtype": ("fp16", "fp8")}


def test_place_counts_characters_in_the_physical_line(written):
    path = written('\ufeffid,note,M\n矩阵,"a,""\n\nb",  7\n')
    scenario = scenario_of(path, "id", declared("M:integer"))
    assert scenario.columns == {"id": 1, "note": 2, "M": 3}
    where = [place(scenario, 0, header) for header in scenario.columns]
    assert [Place("f.csv", 2, 1), Place("f.csv", 2, 4), Place("f.csv", 4, 6)] == where


def test_blank_optional_cell_is_not_available(written):
    path = written("id,x,note\na,1,\nb,,text\n")
    scenario = scenario_of(path, "id", declared("x:number? note:text?"))
    numbers, notes = values(scenario, "x"), values(scenario, "note")
    np.testing.assert_array_equal([1.0, np.nan], numbers.data)
    assert numbers.errors.tolist() == [0, NA]
    assert (notes.data.tolist(), notes.errors.tolist()) == (["", "text"], [NA, 0])


def test_column_without_blanks_has_no_errors(written):
    scenario = scenario_of(written("id,x\na,1\n"), "id", declared("id:text x:number?"))
    assert values(scenario, "x").errors is None
    assert (object, None) == (values(scenario, "id").data.dtype, values(scenario, "id").errors)


characters = st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
    lambda character: character >= " " or character in "\t\r\n"
)
tables = st.lists(
    st.tuples(
        st.text(characters),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False),
        st.none() | st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False),
    ),
    min_size=1,
)
ROUND_TRIP = declared("text:text? whole:integer real:number blank:number?")


def round_trip(folder, rows, **form):
    """Return the rows that are read where `csv` wrote `rows`, in the given form."""
    path = folder.getbasetemp() / "round_trip.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, **form)
        writer.writerow(["id", *(field.column for field in ROUND_TRIP)])
        writer.writerows([f"r{i}", *row] for i, row in enumerate(rows))
    scenario = scenario_of(path, "id", ROUND_TRIP)
    return list(zip(*(cells(scenario, name) for name in scenario.typed), strict=True))


@given(rows=tables, line_end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_quoted_table_reads_back_as_it_was_written(tmp_path_factory, rows, line_end):
    """Only line ends inside a cell are made one."""
    expected = [(re.sub("\r\n?", "\n", text) or None, *numbers) for text, *numbers in rows]
    assert expected == round_trip(tmp_path_factory, rows, quoting=csv.QUOTE_ALL, lineterminator=line_end)


@given(rows=tables, line_end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_table_with_few_quotes_reads_back_trimmed(tmp_path_factory, rows, line_end):
    rows = [(" ".join(text.split()), *numbers) for text, *numbers in rows]
    expected = [(text or None, *numbers) for text, *numbers in rows]
    assert expected == round_trip(tmp_path_factory, rows, lineterminator=line_end)


@given(content=st.binary() | st.text('iM1e,;"\r\n \x00٣').map(lambda text: f"id,M\n{text}".encode()))
def test_any_bytes_are_rows_or_told(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    path.write_bytes(content)
    problems = Problems()
    scenario = read(Source(path, "f", documents=ALL), declared("M:number?"), problems)
    assert (scenario is None) == bool(problems.found)


@given(
    rows=st.lists(st.lists(st.text(characters), min_size=2, max_size=3), min_size=1),
    target=st.integers(0, 2),
)
def test_every_place_leads_to_its_cell(tmp_path_factory, rows, target):
    """The cell is written as a mark, alone in its file: line and column find the mark."""
    rows = [[*row, ""][:3] for row in rows]
    rows[-1][target] = "MARK"
    path = tmp_path_factory.getbasetemp() / "places.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["id", "a", "b", "c"])
        writer.writerows([f"r{i}", *row] for i, row in enumerate(rows))
    scenario = scenario_of(path, "id", declared("a:text? b:text? c:text?"))
    where = place(scenario, len(rows) - 1, "abc"[target])
    lines = re.split("\r\n|\r|\n", path.read_bytes().decode())
    assert lines[where.line - 1][where.column - 1 :].startswith('"MARK"')


@pytest.mark.slow
def test_many_rows_are_all_read(written):
    count = 100_000
    rows = "".join(f"r{i},{i},{i / 7!r},fp16,{i},{i},,x\n" for i in range(count))
    fields = declared("a:integer b:number c:text d:integer e:integer f:number? g:text")
    scenario = scenario_of(written("id,a,b,c,d,e,f,g\n" + rows), "id", fields)
    assert (count, count + 1) == (len(scenario.keys), scenario.rows.lines[-1])
    assert count * (count - 1) / 2 == scenario.typed["a"].data.sum()
