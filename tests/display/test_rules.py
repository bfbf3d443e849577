"""Display: one rounding rule, printed alike by NumPy and by spreadsheets; expected text is exact decimal."""

from __future__ import annotations

import io
import math
import time
from dataclasses import replace
from decimal import Decimal

import engines
import numpy as np
import pytest
from decimals import TRIED, printed_texts
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import Workbook

from ledger.display import rules
from ledger.display.rules import DisplayRule, Ranges
from ledger.errors import LedgerError
from ledger.language import units
from ledger.values import DIV0, NA, NUM, Values, texts


def ladder_of(rule, unit=""):
    return rules.ladder(rules.parse(rule), units.parse(unit), unit)


def printed(rule, unit, *numbers):
    return rules.printed(ladder_of(rule, unit), Values(np.array(numbers, dtype=np.float64)))


def rule_of(kind, digits):
    return DisplayRule("si" if kind == "time" else kind, 0 if kind == "integer" else digits)


def unit_of(kind):
    return TRIED[kind][0] if kind in TRIED else ""


@pytest.mark.parametrize(
    ("rule", "unit", "number", "text"),
    [
        ("iec 4", "B", 100663296, "96 MiB"),
        ("iec 4", "B", 16908288, "16.12 MiB"),
        ("iec 4", "B", 1572864, "1.5 MiB"),
        ("iec 4", "B", 1048575, "1 MiB"),
        ("iec 4", "B", 1023.5 * 1024, "1 MiB"),
        ("iec 3", "B", 1015 * 1024, "1015 KiB"),
        ("iec 4", "B", 0, "0 B"),
        ("iec 3", "GB/s", 3350, "3.05 TiB/s"),
        ("iec 4", "bit", 8192, "8 Kibit"),
        ("si 4", "FLOP", 137438953472, "137.4 GFLOP"),
        ("si 4", "FLOP", 4194304, "4.194 MFLOP"),
        ("si 4", "FLOP", 2 * 8192**3, "1.1 TFLOP"),
        ("si 4", "FLOP", 999.96e9, "1 TFLOP"),
        ("si 4", "TFLOP/s", 1000, "1 PFLOP/s"),
        ("si 4", "TFLOP/s", 989.4, "989.4 TFLOP/s"),
        ("si 4", "GFLOP/ms", 2.5, "2.5 TFLOP/s"),
        ("si 4", "Gbit/s", 400, "400 Gbit/s"),
        ("si 4", "GHz", 1.755, "1.755 GHz"),
        ("si 4", "kFLOP/B", 1.5, "1.5 kFLOP/B"),
        ("si 4 bit", "B", 1000, "8 kbit"),
        ("si 3", "B", 999999, "1 MB"),
        ("si 3", "", 999950, "1 M"),
        ("si 3", "", 999499, "999 k"),
        ("si 4", "", 0.25, "0.25"),
        ("si 4", "%", 50, "0.5"),
        ("si 4", "1/s", 2e6, "2 M/s"),
        ("si 4", "1/s", 5, "5/s"),
        ("si 4", "B^2", 5e7, "50000000 B^2"),
        ("si 4", "s", 0, "0 s"),
        ("si 4", "s", 1e-14, "0 s"),
        ("si 4", "s", 33.25e-6, "33.25 µs"),
        ("si 4", "ms", 0.5, "500 µs"),
        ("si 4", "h", 2, "7200 s"),
        ("si 4", "B", 1e24, "1000000 EB"),
        ("si 4", "B", 2e30, "2e30 B"),
        ("fixed 2", "FLOP/B", 4096 / 3, "1365.33"),
        ("fixed 1", "TFLOP/s", 1000, "1000.0"),
        ("fixed 1 TB/s", "TB/s", 3, "3.0 TB/s"),
        ("fixed 1 TB/s", "B/s", 3e12, "3.0 TB/s"),
        ("fixed 1 KiB", "B", 1536, "1.5 KiB"),
        ("fixed 0 %", "", 0.5, "50%"),
        ("fixed 1 1/s", "Hz", 5, "5.0/s"),
        ("fixed 2", "", -0.0004, "0.00"),
        ("fixed 2", "", 0.125, "0.12"),
        ("fixed 2", "", 2.675, "2.68"),
        ("fixed 2", "", 1e12, "1000000000000.00"),
        ("fixed 2", "", 1.5e13, "1.50e13"),
        ("fixed 3", "", 1.5e11, "1.500e11"),
        ("percent 1", "", 0.161, "16.1%"),
        ("percent 0", "", 0.145, "14%"),
        ("percent 0", "%", 14.5, "14%"),
        ("scientific 3", "", 1.375e12, "1.375e12"),
        ("scientific 3", "", 1.375e-3, "1.375e-3"),
        ("scientific 3", "", 9.9996, "1.000e1"),
        ("scientific 3", "", 1, "1.000e0"),
        ("scientific 3", "", 0, "0.000"),
        ("scientific 3 FLOP", "FLOP", 1.375e12, "1.375e12 FLOP"),
        ("integer", "", 123456789012345, "123456789012345"),
        ("integer", "", 2.5, "2"),
        ("integer", "", -0.5, "0"),
        ("integer", "", 1.2346e20, "1.235e20"),
        ("integer KiB", "B", 2048, "2 KiB"),
    ],
)
def test_printed_text(rule, unit, number, text):
    assert printed(rule, unit, number) == [text]


def test_error_prints_its_name_and_a_missing_value_a_dash():
    values = Values(np.array([1.0, np.nan, np.nan, np.nan]), np.array([0, DIV0, NUM, NA], dtype=np.uint8))
    assert rules.printed(ladder_of("fixed 1"), values) == ["1.0", "#DIV/0!", "#NUM!", "—"]
    assert rules.printed(ladder_of("text"), replace(texts(["a", "", "", ""]), errors=values.errors)) == [
        "a",
        "#DIV/0!",
        "#NUM!",
        "—",
    ]


def test_truth_and_text_print_as_they_are():
    assert rules.printed(ladder_of("text"), Values(np.array([True, False]))) == ["TRUE", "FALSE"]
    assert rules.printed(ladder_of("text"), texts(["a,b", ""])) == ["a,b", ""]


def test_text_rule_refuses_a_number():
    with pytest.raises(LedgerError, match="'text' does not print a number"):
        printed("text", "", 1.0)


def test_no_rows_print_nothing():
    assert printed("si 4", "B") == []


@pytest.mark.parametrize(
    "text", ["integer", "integer KiB", "fixed 0", "fixed 1 TB/s", "si 4", "iec 9 B", "percent 0", "text"]
)
def test_rule_reads_back_as_it_was_written(text):
    assert str(rules.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a display rule is empty\n  known: fixed, iec"),
        ("fixd 2", "'fixd' is not a display rule\n  did you mean 'fixed'?"),
        ("fixed", "display 'fixed': 'fixed' needs a number of digits from 0 to 9\n  write 'fixed 2'"),
        ("fixed 10", "display 'fixed 10': 'fixed' needs a number of digits from 0 to 9"),
        ("si 0", "display 'si 0': 'si' needs a number of digits from 1 to 9"),
        ("fixed KiB", "display 'fixed KiB': 'fixed' needs a number of digits"),
        ("percent 1 B", "display 'percent 1 B': 'B' cannot stand behind 'percent'\n  integer, fixed, si"),
        ("text B", "display 'text B': 'B' cannot stand behind 'text'"),
        ("iec 4 FLOP", "display 'iec 4 FLOP' is for bytes and bits, not for 'FLOP'\n  write 'si'"),
        ("fixed 1 TFLOPS", "'TFLOPS' is not a unit\n  write TFLOP/s"),
        ("fixed 1 KB/s", "'KB' is not a unit (in 'KB/s')\n  write kB (1000 B) or KiB (1024 B)"),
    ],
)
def test_wrong_rule_is_told(text, told):
    with pytest.raises(LedgerError) as error:
        rules.parse(text)
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    ("rule", "unit", "told"),
    [
        ("iec 4", "FLOP", "display 'iec 4' is for bytes and bits, not for 'FLOP'"),
        ("percent 1", "B", "display 'percent 1' prints %, the value is in B"),
        ("fixed 1 TB/s", "TB", "display 'fixed 1 TB/s' prints TB/s, the value is in TB"),
    ],
)
def test_rule_that_does_not_fit_the_unit_is_told(rule, unit, told):
    with pytest.raises(LedgerError) as error:
        ladder_of(rule, unit)
    assert str(error.value).startswith(told)


def test_declared_unit_takes_prefixes():
    atoms = units.declare({"token": "base"})
    rule = rules.parse("si 3 token/s", atoms)
    ladder = rules.ladder(rule, units.parse("token/s", atoms), "token/s", atoms)
    assert rules.printed(ladder, Values(np.array([12345.0]))) == ["12.3 ktoken/s"]


@pytest.mark.parametrize(
    ("kind", "unit", "rule"),
    [
        ("text", "", "text"),
        ("bool", "", "text"),
        ("integer", "", "integer"),
        ("number", "", "fixed 2"),
        ("number", "%", "fixed 2"),
        ("integer", "KiB", "iec 4"),
        ("number", "FLOP", "si 4"),
        ("number", "TFLOP/s", "si 4"),
        ("number", "B/s", "si 4"),
        ("number", "ms", "si 4"),
        ("number", "GHz", "si 4"),
        ("number", "FLOP/B", "fixed 2"),
        ("number", "B^2", "fixed 2"),
        ("number", "1/B", "fixed 2"),
    ],
)
def test_default_rule(kind, unit, rule):
    assert str(rules.default_rule(kind, units.parse(unit))) == rule


@pytest.mark.parametrize(
    ("rule", "unit", "number_format"),
    [
        ("integer", "", "#,##0"),
        ("fixed 2", "FLOP/B", "#,##0.00"),
        ("fixed 0", "", "#,##0"),
        ("fixed 1 TB/s", "B/s", "General"),
        ("percent 1", "", "0.0%"),
        ("percent 0", "", "0%"),
        ("percent 1", "%", "General"),
        ("scientific 3", "", "0.000E+00"),
        ("si 4", "FLOP", "#,##0"),
        ("iec 4", "B", "#,##0"),
        ("si 4", "TFLOP/s", "General"),
        ("text", "", "General"),
    ],
)
def test_number_format_for_reading(rule, unit, number_format):
    assert rules.number_format(rules.parse(rule), units.parse(unit)) == number_format


@pytest.mark.parametrize("rule", ["integer", "fixed 9", "si 1", "si 9", "scientific 9", "scientific 2 EB"])
@pytest.mark.parametrize("unit", ["B", "PB", "bit"])
def test_rows_rise_and_stay_doubles(rule, unit):
    steps = ladder_of(rule, unit).steps
    starts = [step.start for step in steps]
    assert starts == sorted(set(starts))
    assert all(0 < part < math.inf for step in steps for part in (step.scale, step.power))


def test_excel_formulas_stay_short_enough_to_read():
    at = Ranges(*(f"_display!${column}$2:${column}$80" for column in "ABCD"))
    formulas = rules.excel(ladder_of("fixed 2"), "F12", "G12", "H12", "I12", at)
    assert max(map(len, formulas)) < 140


def test_hundred_thousand_numbers_print_within_a_second():
    numbers = np.random.default_rng(1).lognormal(10, 9, 100_000)
    start = time.perf_counter()
    rules.printed(ladder_of("si 4", "B"), Values(numbers))
    assert time.perf_counter() - start < 1


kinds = st.tuples(
    st.sampled_from(["integer", "fixed", "percent", "scientific", "si", "iec", "time"]), st.integers(1, 9)
)
signs = st.sampled_from([1, -1])
wide = st.floats(1e-29, 1e27)
narrow = st.one_of(st.just(0.0), st.floats(1e-29, 1e6))
ties = st.builds(lambda n, p: (n + 0.5) / 10.0**p, st.integers(0, 10**7), st.integers(0, 9))
binary_ties = st.builds(lambda n, p: (n + 0.5) * 2.0**p, st.integers(0, 10**4), st.integers(-40, 40))
tens = st.builds(
    lambda e, p, s: 10.0**e * (1 + s * 0.5 * 10.0**-p),
    st.integers(-15, 26),
    st.integers(1, 14),
    st.sampled_from([-1, 0, 1]),
)
bytes_below = st.builds(
    lambda e, p: 1024.0**e * (1 - 0.5 / 1024 * 10.0**-p), st.integers(1, 5), st.integers(-3, 8)
)


@given(kinds, signs, st.one_of(wide, narrow, ties, binary_ties, tens, bytes_below))
@example(("fixed", 2), 1, 0.125)
@example(("si", 9), 1, 0.001)
def test_printed_text_is_the_exact_decimal_one(kind, sign, number):
    rule, unit = rule_of(*kind), unit_of(kind[0])
    if kind[0] == "integer" and 1e14 < number < 1e15:
        number = float(round(number))
    (text,) = printed(str(rule), unit, sign * number)
    assert text in printed_texts(*kind, sign * number)


@given(st.integers(1, 9), st.floats(1e-29, 1e280))
def test_scientific_text_is_within_half_a_digit_everywhere(digits, number):
    (text,) = printed(f"scientific {digits}", "", number)
    mantissa, _, exponent = text.partition("e")
    last = Decimal(10) ** (int(exponent) - digits)
    assert len(mantissa.partition(".")[0]) <= 6
    assert abs(Decimal(text) - Decimal(number)) <= last / 2 + Decimal(number) * Decimal("2e-15")


# Every kind in one workbook, recalculated by two engines.

RULES = [
    ("integer", ""),
    ("fixed 0", ""),
    ("fixed 2", ""),
    ("fixed 3", ""),
    ("fixed 9", ""),
    ("fixed 1 TB/s", "B/s"),
    ("fixed 1 KiB", "B"),
    ("percent 0", ""),
    ("percent 1", ""),
    ("percent 2", "%"),
    ("scientific 1", ""),
    ("scientific 3 FLOP", "FLOP"),
    ("si 1", "B"),
    ("si 3", ""),
    ("si 4", "FLOP"),
    ("si 4", "TFLOP/s"),
    ("si 4", "1/s"),
    ("si 4", "ms"),
    ("si 7", "s"),
    ("si 9", "FLOP/B"),
    ("iec 1", "B"),
    ("iec 3", "KiB"),
    ("iec 4", "B"),
    ("iec 6", "GB/s"),
]
ERRORS = {"1/0": "#DIV/0!", "NA()": "—", "SQRT(-1)": "#NUM!"}


def hard_numbers(ladder, generator):
    """Zeros, ties, boundaries with their neighbours, signs and plain numbers for a ladder."""
    numbers = [0.0, -0.0, 1.0, 0.5, 1.5, 2.5, 1e-9, 1e12, 1e15, 123456789012345.0, 1e250]
    steps = [each for each in ladder.steps if each.start < 1e40]
    for step in steps:
        numbers += [step.start, np.nextafter(step.start, 0), np.nextafter(step.start, np.inf), step.scale]
        numbers += [step.start * (1 + e) for e in (1e-9, -1e-9, 3e-12, -3e-12)]
    for step in generator.choice(steps, 60):
        tie = (generator.integers(0, 10**4) + 0.5) / step.power * step.scale
        large = generator.integers(10**11, 10**12) + generator.choice([0.4999, 0.49999, 0.50001, 0.5001])
        numbers += [large / step.power * step.scale]
        numbers += [tie, np.nextafter(tie, 0), np.nextafter(tie, np.inf), tie * (1 + 1e-7)]
    numbers += list(10 ** generator.uniform(-6, 16, 60))
    # Above 10^14 LibreOffice keeps no fraction; there an integer column holds integers.
    whole = len(steps) and ladder.steps[0].power == 1 and not ladder.keep_zeros
    numbers = [round(x) if whole and 1e14 < x < 1e15 else x for x in map(float, numbers)]
    return [
        x * sign for x, sign in zip(numbers, generator.choice([1.0, 1.0, -1.0], len(numbers)), strict=True)
    ]


def put_number(sheet, row, column, number):
    cell = sheet.cell(row, column, repr(float(number)))  # openpyxl would write 16 digits
    cell.data_type = "n"


def write_ladder(sheet, first, ladder):
    for row, step in enumerate(ladder.steps, first):
        for column, number in enumerate((step.start, step.scale, step.power), 1):
            put_number(sheet, row, column, number)
        if step.suffix:
            sheet.cell(row, 4, step.suffix).data_type = "s"
    last = first + len(ladder.steps) - 1
    return Ranges(*(f"_display!${column}${first}:${column}${last}" for column in "ABCD"))


def write_printed(sheet, ladder, numbers, at):
    """Write one row per number and per error, and return the expected text by cell."""
    expected = dict(enumerate(rules.printed(ladder, Values(np.array(numbers))), sheet.max_row + 1))
    for row, number in zip(expected, numbers, strict=True):
        put_number(sheet, row, 1, number)
    for formula, text in ERRORS.items():
        row = max(expected) + 1
        sheet.cell(row, 1, f"={formula}")
        expected[row] = text
    for row in expected:
        cells = [f"{column}{row}" for column in "ABCDE"]
        for cell, formula in zip(cells[1:], rules.excel(ladder, *cells[:4], at), strict=True):
            sheet[cell] = f"={formula}"
    return {f"E{row}": text for row, text in expected.items()}


def write_plain(sheet):
    """Write texts and truth values, and return the expected text by cell."""
    cases = [("x,y", "x,y"), ("—", "—"), ("=1=1", "TRUE"), ("=1=2", "FALSE")]
    cases += [(f"={formula}", text) for formula, text in ERRORS.items()]
    expected = {}
    for row, (value, text) in enumerate(cases, sheet.max_row + 1):
        sheet.cell(row, 1, value)
        is_text = not value.startswith("=")
        prints = [rules.excel_text] if is_text else [rules.excel_truth]
        if value[1:] in ERRORS:
            prints = [rules.excel_text, rules.excel_truth]
        for column, formula in zip("EF", prints, strict=False):
            sheet[f"{column}{row}"] = f"={formula(f'A{row}')}"
            expected[f"{column}{row}"] = text
    return expected


@pytest.fixture(scope="module")
def printed_workbook():
    """A workbook with every kind of rule, and the text that each cell must show."""
    workbook = Workbook()
    sheet, hidden = workbook.active, workbook.create_sheet("_display")
    sheet.title = "Printed"
    generator = np.random.default_rng(7)
    expected, first = {}, 1
    for rule, unit in RULES:
        ladder = ladder_of(rule, unit)
        at = write_ladder(hidden, first, ladder)
        first += len(ladder.steps)
        expected |= write_printed(sheet, ladder, hard_numbers(ladder, generator), at)
    expected |= write_plain(sheet)
    out = io.BytesIO()
    workbook.save(out)
    return engines.strip_cached(out.getvalue()), expected


@pytest.mark.engine
@pytest.mark.parametrize(
    ("program", "recalculate"),
    [("ironcalc", engines.ironcalc_values), ("soffice", engines.libreoffice_values)],
)
def test_spreadsheets_print_the_same_text(program, recalculate, printed_workbook):
    engines.require(program)
    xlsx, expected = printed_workbook
    shown = recalculate(xlsx)["Printed"]
    wrong = {c: (shown.get("A" + c[1:]), t, shown.get(c)) for c, t in expected.items() if shown.get(c) != t}
    assert len(expected) > 4000
    assert wrong == {}


@pytest.mark.engine
def test_engines_recalculate_and_do_not_read_back():
    """A planted wrong value must not come back, from a copy with or without cached values."""
    workbook = Workbook()
    workbook.active["A1"] = 2
    workbook.active["B1"] = "=A1*21"
    out = io.BytesIO()
    workbook.save(out)
    planted = engines.plant_wrong(out.getvalue())
    for program, recalculate in (
        ("ironcalc", engines.ironcalc_values),
        ("soffice", engines.libreoffice_values),
    ):
        engines.require(program)
        for xlsx in (planted, engines.strip_cached(planted)):
            assert engines.agree(42.0, recalculate(xlsx)["Sheet"]["B1"])
