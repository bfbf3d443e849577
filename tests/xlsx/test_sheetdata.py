"""The XML of rows: how each kind of value is written, and what is refused."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import LedgerError
from ledger.values import DIV0, NA, NUM, Values, texts
from ledger.xlsx.limits import MAX_COLUMNS, MAX_FORMULA, MAX_ROWS, MAX_TEXT
from ledger.xlsx.sheetdata import (
    ROW,
    Band,
    Cells,
    check_bands,
    column_letters,
    dimension,
    sheet_data,
)

_INLINE = ' t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>'


def number(*items, errors=None):
    return Values(np.array(items, dtype=float), None if errors is None else np.array(errors, dtype=np.uint8))


def xml(*bands):
    return b"".join(sheet_data(bands)).decode()


def one_cell(values, formula=None):
    """Return the XML of the cell A1 of style 3, without what every cell begins with."""
    found = re.fullmatch(
        '<row r="1"><c r="A1" s="3"(.*)</row>', xml(Band(1, (Cells(1, 3, values, formula),))), re.DOTALL
    )
    return found[1]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (5.0, "5"),
        (-7.0, "-7"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (2.0**53 - 1, "9007199254740991"),
        (2.0**53, "9007199254740992.0"),
        (-(2.0**53), "-9007199254740992.0"),
        (1e300, "1e+300"),
        (5e-324, "5e-324"),
    ],
)
def test_number_is_an_integer_where_exact_else_its_shortest_text(item, expected):
    assert one_cell(number(item)) == f"><v>{expected}</v></c>"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_every_number_reads_back_bit_for_bit(items):
    written = [
        float(each) for each in re.findall("<v>(.*?)</v>", xml(Band(1, (Cells(1, 0, number(*items)),))))
    ]
    assert [each.hex() for each in written] == [(each + 0.0).hex() for each in items]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("007", "007"),
        ("=1+1", "=1+1"),
        ("  lead", "  lead"),
        ("100% %s", "100% %s"),
        ("a&b<c>", "a&amp;b&lt;c&gt;"),
        ("_x0041_", "_x005F_x0041_"),
        ("_x0041_x0042_", "_x005F_x0041_x005F_x0042_"),
        ("a_x", "a_x"),
        ("x\ny\tz", "x\ny\tz"),
        ("中文 𝛼", "中文 𝛼"),
    ],
)
def test_text_is_an_inline_string_that_keeps_its_blanks(item, expected):
    assert one_cell(texts([item])) == _INLINE.format(expected)
    assert one_cell(texts([item]), "A2") == f' t="str"><f>A2</f><v>{expected}</v></c>'


@pytest.mark.parametrize(
    ("values", "formula", "expected"),
    [
        (texts([""]), None, "/>"),
        (texts([""]), "B1", ' t="str"><f>B1</f><v></v></c>'),
        (Values(np.array([True])), None, ' t="b"><v>1</v></c>'),
        (Values(np.array([False])), "B1", ' t="b"><f>B1</f><v>0</v></c>'),
        (number(2), 'IF(B1<"&%",1,2)', '><f>IF(B1&lt;"&amp;%",1,2)</f><v>2</v></c>'),
        (number(2), f"$B{ROW}*$C${ROW}", "><f>$B1*$C$1</f><v>2</v></c>"),
        (number(np.nan, errors=[NA]), None, ' t="e"><f>NA()</f><v>#N/A</v></c>'),
        (number(np.nan, errors=[DIV0]), f"1/B{ROW}", ' t="e"><f>1/B1</f><v>#DIV/0!</v></c>'),
        (Values(np.array([True]), np.array([NUM], np.uint8)), "B1", ' t="e"><f>B1</f><v>#NUM!</v></c>'),
        (Values(np.array([None], object), np.array([NA], np.uint8)), "B1", ' t="e"><f>B1</f><v>#N/A</v></c>'),
    ],
)
def test_cell(values, formula, expected):
    assert one_cell(values, formula) == expected


def test_rows_in_error_stand_among_rows_of_values():
    column = Cells(2, 1, number(1, np.inf, 0.5, errors=[0, DIV0, 0]), f'A{ROW}&"%"')
    assert xml(Band(7, (column,), height=30)) == (
        '<row r="7" ht="30" customHeight="1"><c r="B7" s="1"><f>A7&amp;"%"</f><v>1</v></c></row>'
        '<row r="8" ht="30" customHeight="1"><c r="B8" s="1" t="e"><f>A8&amp;"%"</f><v>#DIV/0!</v></c></row>'
        '<row r="9" ht="30" customHeight="1"><c r="B9" s="1"><f>A9&amp;"%"</f><v>0.5</v></c></row>'
    )


def test_blank_text_and_errors_stand_among_text():
    values = Values(np.array(["", "50%", None], object), np.array([0, 0, NA], np.uint8))
    assert xml(Band(1, (Cells(1, 0, values),))) == (
        '<row r="1"><c r="A1" s="0"/></row>'
        f'<row r="2"><c r="A2" s="0"{_INLINE.format("50%")}</row>'
        '<row r="3"><c r="A3" s="0" t="e"><f>NA()</f><v>#N/A</v></c></row>'
    )


def test_long_band_comes_in_chunks_with_every_row_once():
    chunks = list(sheet_data([Band(3, (Cells(1, 0, number(*range(9_000)), f"B{ROW}"),))]))
    found = re.findall(r'<row r="(\d+)"><c r="A\1" s="0"><f>B\1</f><v>(\d+)</v>', b"".join(chunks).decode())
    assert len(chunks) == 3
    assert [(int(row), int(value)) for row, value in found] == list(
        zip(range(3, 9_003), range(9_000), strict=True)
    )


def test_error_in_a_later_chunk_does_not_change_an_earlier_one():
    items, errors = np.ones(5_000), np.zeros(5_000, np.uint8)
    errors[4_500] = DIV0
    with_error = list(sheet_data([Band(1, (Cells(1, 0, Values(items, errors), "B1"),))]))
    without = list(sheet_data([Band(1, (Cells(1, 0, Values(items), "B1"),))]))
    assert [a == b for a, b in zip(with_error, without, strict=True)] == [True, False]


@pytest.mark.parametrize(
    ("values", "formula", "message"),
    [
        (texts(["a\x07"]), None, r"'\\x07' cannot be stored"),
        (texts(["a\x00"]), None, r"'\\x00' cannot be stored"),
        (texts(["a\r\n"]), None, r"'\\r' cannot be stored"),
        (texts(["\ufffe"]), None, "cannot be stored"),
        (texts(["\ud800"]), "A1", "cannot be stored"),
        (number(1), "A1&\x01", "a formula with"),
        (number(np.nan), None, "not finite"),
        (number(np.inf), "A1", "not finite"),
        (number(0, errors=[DIV0]), None, "may be #N/A, no other"),
        (Values(np.array([1])), None, "int64"),
    ],
)
def test_what_no_worksheet_holds_is_refused(values, formula, message):
    with pytest.raises(ValueError, match=message):
        xml(Band(1, (Cells(1, 0, values, formula),)))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((), "ascend"),
        ((Cells(2, 0, number(1)), Cells(1, 0, number(1))), "ascend"),
        ((Cells(1, 0, number(1)), Cells(1, 0, number(1))), "ascend"),
        ((Cells(1, 0, number(1)), Cells(2, 0, number(1, 2))), "same number"),
    ],
)
def test_band_is_a_rectangle_of_ordered_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        Band(1, columns)


def test_bands_go_down_the_sheet():
    bands = Band(1, (Cells(1, 0, number(1, 2)),)), Band(2, (Cells(2, 0, number(1)),))
    with pytest.raises(ValueError, match="begins at row 2, the one before ends at row 2"):
        xml(*bands)


def test_dimension_spans_all_bands():
    bands = [
        Band(2, (Cells(3, 0, number(1)),)),
        Band(5, (Cells(2, 0, number(*range(100))), Cells(28, 0, number(*range(100))))),
    ]
    assert [dimension(bands), dimension(bands[:1]), dimension([])] == ["B2:AB104", "C2:C2", "A1"]


def test_column_letters_count_up_as_a_spreadsheet_does():
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = ("".join(each) for size in (1, 2, 3) for each in itertools.product(alphabet, repeat=size))
    assert [column_letters(each) for each in range(1, MAX_COLUMNS + 1)] == list(
        itertools.islice(names, MAX_COLUMNS)
    )


def test_what_fits_a_worksheet_passes_the_check():
    formula = "A" * (MAX_FORMULA - len(str(MAX_ROWS))) + ROW
    cells = Cells(MAX_COLUMNS, 0, texts(["x" * MAX_TEXT]), formula)
    check_bands("sweep", [Band(MAX_ROWS, (Cells(1, 0, texts(["𝛼" * (MAX_TEXT // 2)])), cells))])


def test_every_limit_that_is_passed_is_told():
    bands = [
        Band(MAX_ROWS, (Cells(1, 0, texts(["", ""]), "A" * (MAX_FORMULA - 6) + ROW),)),
        Band(1, (Cells(MAX_COLUMNS + 1, 0, texts(["𝛼" * (MAX_TEXT // 2 + 1)])),)),
    ]
    with pytest.raises(LedgerError) as caught:
        check_bands("sweep", bands)
    assert str(caught.value).splitlines() == [
        "sheet 'sweep' ends at row 1,048,577; a worksheet has 1,048,576 rows",
        "sheet 'sweep', column A, from row 1048576: a formula has 8,193 characters; at most 8,192",
        "sheet 'sweep' has 16,385 columns; a worksheet has 16,384",
        "sheet 'sweep', column XFE, from row 1: a text has 32,768 characters; at most 32,767",
    ]
