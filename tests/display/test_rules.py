"""Display: one rounding rule, printed alike by NumPy and by spreadsheets; expected text is exact decimal."""

from __future__ import annotations

import io
import math
import re
import sys
import time
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

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
from ledger.values import DIV0, NA, NUM, SMALLEST, Values, texts

#: The units of the language and two of an author: one that takes smaller prefixes, and one that does not.
ATOMS = units.declare({"J": "base", "USD": "base", "mJ": "1/1000 J", "kUSD": "1000 USD"})


def ladder_of(rule, unit=""):
    return rules.ladder(rules.parse(rule, ATOMS), units.parse(unit, ATOMS), unit, ATOMS)


def printed(rule, unit, *numbers):
    return rules.printed(ladder_of(rule, unit), Values(np.array(numbers, dtype=np.float64)))


def rule_of(kind, digits):
    named = "si" if kind in TRIED and kind != "iec" else kind
    return DisplayRule(named, 0 if kind == "integer" else digits)


def unit_of(kind):
    return TRIED[kind][0] if kind in TRIED else ""


SMALL_AND_LARGE = [
    ("si 4", "USD", 0.0004, "0.0004 USD"),
    ("si 4", "USD", 0.00015, "0.00015 USD"),
    ("si 4", "USD", 0.25, "0.25 USD"),
    ("si 4", "USD", 0.123456, "0.1235 USD"),
    ("si 4", "USD", 0.0000123456, "0.00001235 USD"),
    ("si 4", "USD", 0.000001, "0.000001 USD"),
    ("si 4", "USD", 9.9995e-7, "0.000001 USD"),
    ("si 4", "USD", 9.9994e-7, "9.999e-7 USD"),
    ("si 4", "USD", -2.5e-12, "-2.5e-12 USD"),
    ("si 9", "USD", 1.23456789e-6, "0.00000123456789 USD"),
    ("si 4", "J", 2.5e-12, "2.5 pJ"),
    ("si 4", "J", 6e-7, "600 nJ"),
    ("si 4", "J", 0.0012, "1.2 mJ"),
    ("si 4", "J", 1e-15, "1 fJ"),
    ("si 4", "J", 9.9994e-16, "9.999e-16 J"),
    ("si 4", "J", 5000, "5 kJ"),
    ("si 4", "J/B", 2.5e-12, "2.5 pJ/B"),
    ("si 4", "mJ", 5000, "5 J"),
    ("si 4", "mJ", 0.00025, "250 nJ"),
    ("si 4", "kUSD", 0.5, "0.5 kUSD"),
    ("si 4", "s", 1.5e-13, "150 fs"),
    ("si 4", "s", 1.5e-16, "1.5e-16 s"),
    ("si 4", "1/s", 2.5e-7, "2.5e-7/s"),
    ("si 4", "B^2", 0.00025, "0.00025 B^2"),
    ("iec 4", "B", 0.125, "0.125 B"),
    ("iec 4", "B", 1e-7, "1e-7 B"),
    ("si 4 B", "PB", 1e-30, "1e-15 B"),
    ("scientific 3", "", 6.62607015e-34, "6.626e-34"),
    ("scientific 3", "", 1.3807e-40, "138.070e-42"),
    ("scientific 3", "", 1e-300, "1.000e-300"),
    ("scientific 1", "", 2.2250738585072014e-308, "22.3e-309"),
    ("si 4", "", 2.2250738585072014e-308, "0.022251e-306"),
    ("si 4", "", 5e-324, "0"),
    ("si 4", "", 2e36, "2e36"),
    ("si 4", "", 2e38, "200e36"),
    ("si 4", "", 1.7976931348623157e308, "179.769e306"),
    ("iec 4", "B", 5000 * 2.0**50, "5000 PiB"),
    ("iec 4", "B", 3e28, "3e28 B"),
    ("fixed 2", "", 1e300, "1.00e300"),
    ("fixed 2", "", 1e-300, "0.00"),
    ("percent 1", "", 5e12, "5.0e14%"),
    ("percent 1", "", -1e-9, "0.0%"),
    ("integer", "", 0.4, "0"),
    ("integer", "", 1.5e300, "1.5e300"),
]


@pytest.mark.parametrize(
    ("rule", "unit", "number", "text"),
    SMALL_AND_LARGE,
    ids=[f"edges-8 {rule} {number} {unit}" for rule, unit, number, _ in SMALL_AND_LARGE],
)
def test_numbers_keep_their_digits_at_any_size(rule, unit, number, text):
    assert printed(rule, unit, number) == [text]


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
        ("si 4", "s", 1e-14, "10 fs"),
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


@pytest.mark.parametrize(
    "rule", ["integer", "fixed 9", "si 1", "si 9", "iec 1", "iec 9", "scientific 9", "scientific 2 EB"]
)
@pytest.mark.parametrize("unit", ["B", "PB", "bit"])
def test_rows_rise_and_stay_numbers_of_spreadsheets(rule, unit):
    steps = ladder_of(rule, unit).steps
    starts = [step.start for step in steps]
    assert starts == sorted(set(starts))
    assert all(SMALLEST <= part < math.inf for step in steps for part in (step.scale, step.power))


@pytest.mark.parametrize("rule", ["integer", "fixed 2", "percent 1", "scientific 3", "si 4", "iec 4"])
def test_excel_formulas_stay_short_enough_to_read(rule):
    at = Ranges(*(f"_display!${column}$2:${column}$250" for column in "ABCD"))
    formulas = rules.excel(ladder_of(rule, "B" if rule == "iec 4" else ""), "F12", "G12", "H12", "I12", at)
    assert max(map(len, formulas)) < 150


def test_hundred_thousand_numbers_print_within_a_second():
    numbers = np.random.default_rng(1).lognormal(10, 9, 100_000)
    start = time.perf_counter()
    rules.printed(ladder_of("si 4", "B"), Values(numbers))
    assert time.perf_counter() - start < 1


KINDS = ["integer", "fixed", "percent", "scientific", *TRIED]
kinds = st.tuples(st.sampled_from(KINDS), st.integers(1, 9))
signs = st.sampled_from([1, -1])
every = st.builds(lambda m, e: m * 10.0**e, st.floats(1, 10), st.integers(-300, 299))
wide = st.floats(1e-29, 1e27)
narrow = st.one_of(st.just(0.0), st.floats(1e-29, 1e6))
ties = st.builds(lambda n, p: (n + 0.5) / 10.0**p, st.integers(0, 10**7), st.integers(0, 290))
binary_ties = st.builds(lambda n, p: (n + 0.5) * 2.0**p, st.integers(0, 10**4), st.integers(-40, 40))
tens = st.builds(
    lambda e, p, s: 10.0**e * (1 + s * 0.5 * 10.0**-p),
    st.integers(-300, 300),
    st.integers(1, 14),
    st.sampled_from([-1, 0, 1]),
)
bytes_below = st.builds(
    lambda e, p: 1024.0**e * (1 - 0.5 / 1024 * 10.0**-p), st.integers(1, 5), st.integers(-3, 8)
)


@given(kinds, signs, st.one_of(every, wide, narrow, ties, binary_ties, tens, bytes_below))
@example(("fixed", 2), 1, 0.125)
@example(("si", 9), 1, 0.001)
def test_printed_text_is_the_exact_decimal_one(kind, sign, number):
    rule, unit = rule_of(*kind), unit_of(kind[0])
    if kind[0] == "integer" and 1e14 < number < 1e15:
        number = float(round(number))
    (text,) = printed(str(rule), unit, sign * number)
    assert text in printed_texts(*kind, sign * number)


numbers_of_spreadsheets = st.floats(SMALLEST, sys.float_info.max)


@given(st.integers(1, 9), numbers_of_spreadsheets)
def test_scientific_text_is_within_half_a_digit_everywhere(digits, number):
    (text,) = printed(f"scientific {digits}", "", number)
    mantissa, _, exponent = text.partition("e")
    last = Decimal(10) ** (int(exponent) - digits)
    assert len(mantissa.partition(".")[0]) <= 3
    assert abs(Decimal(text) - Decimal(number)) <= last / 2 + Decimal(number) * Decimal("2e-15")


@given(st.sampled_from(["scientific", *TRIED]), st.integers(1, 9), signs, numbers_of_spreadsheets)
def test_what_is_not_0_is_printed_as_0_by_no_rule_of_digits(kind, digits, sign, number):
    """edges-8."""
    (text,) = printed(str(rule_of(kind, digits)), unit_of(kind), sign * number)
    assert float(text.partition(" ")[0]) != 0
    assert text.startswith("-") == (sign < 0)


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        ("integer", [False, True, True, False, False]),
        ("fixed 2", [False, True, True, False, False]),
        ("percent 0", [False, True, True, False, False]),
        ("scientific 1", [False, False, False, False, False]),
        ("si 1", [False, False, False, False, False]),
    ],
    ids=lambda each: f"edges-8 {each}" if isinstance(each, str) else "",
)
def test_number_that_is_printed_as_0_is_known(rule, lost):
    values = Values(
        np.array([0.0, 0.004, -1e-300, 0.6, np.nan]), np.array([0, 0, 0, 0, DIV0], dtype=np.uint8)
    )
    assert rules.printed_as_0(ladder_of(rule), values).tolist() == lost


def test_no_text_and_no_truth_value_is_printed_as_0():
    """edges-8."""
    for values in (texts(["0", ""]), Values(np.array([False, True]))):
        assert not rules.printed_as_0(ladder_of("text"), values).any()


# Every kind in one workbook, recalculated by two engines.

#: The rule and the unit of the value, and by exact decimals: the kind, how many of what is printed, the unit.
RULES = [
    ("integer", "", "integer", 1, ""),
    ("fixed 0", "", "fixed", 1, ""),
    ("fixed 2", "", "fixed", 1, ""),
    ("fixed 3", "", "fixed", 1, ""),
    ("fixed 9", "", "fixed", 1, ""),
    ("fixed 1 TB/s", "B/s", "fixed", Fraction(1, 10**12), " TB/s"),
    ("fixed 1 KiB", "B", "fixed", Fraction(1, 1024), " KiB"),
    ("percent 0", "", "percent", 1, ""),
    ("percent 1", "", "percent", 1, ""),
    ("percent 2", "%", "percent", Fraction(1, 100), ""),
    ("scientific 1", "", "scientific", 1, ""),
    ("scientific 3 FLOP", "FLOP", "scientific", 1, " FLOP"),
    ("scientific 9", "", "scientific", 1, ""),
    ("si 1", "B", "si", 1, "B"),
    ("si 3", "", "si", 1, ""),
    ("si 4", "FLOP", "si", 1, "FLOP"),
    ("si 4", "TFLOP/s", "si", 10**12, "FLOP/s"),
    ("si 4", "1/s", "si", 1, "/s"),
    ("si 4", "USD", "si", 1, "USD"),
    ("si 9", "USD/B", "si", 1, "USD/B"),
    ("si 4", "B^2", "plain", 1, "B^2"),
    ("si 4", "ms", "time", Fraction(1, 1000), "s"),
    ("si 7", "s", "time", 1, "s"),
    ("si 4", "J", "energy", 1, "J"),
    ("si 9", "J/B", "energy", 1, "J/B"),
    ("iec 1", "B", "iec", 1, "B"),
    ("iec 3", "KiB", "iec", 1024, "B"),
    ("iec 4", "B", "iec", 1, "B"),
    ("iec 6", "GB/s", "iec", 10**9, "B/s"),
]
ERRORS = {"1/0": "#DIV/0!", "NA()": "—", "SQRT(-1)": "#NUM!"}


def exact_texts(rule, number):
    """The texts that exact decimals allow for a number in the unit of its value."""
    name, _, kind, times, unit = rule
    digits = int(re.sub(r"\D", "", name) or 0)
    if kind in TRIED:
        return {
            text.replace(" /", "/").rstrip()
            for text in printed_texts(kind, digits, Fraction(number) * times, unit or " ")
        }
    return {text + unit for text in printed_texts(kind, digits, Fraction(number) * times)}


def start_of(step):
    """The number, or its neighbour, from which on a row prints numbers."""
    return (step.start / 2.0**511) ** 2


def hard_numbers(ladder, generator):
    """Zeros, ties, boundaries with their neighbours, signs and plain numbers for a ladder."""
    numbers = [0.0, -0.0, 1.0, 0.5, 1.5, 2.5, 1e-9, 1e12, 1e15, 123456789012345.0, 1e250, SMALLEST, 1.7e308]
    for step in generator.choice(ladder.steps[1:], 40):
        start = start_of(step)
        numbers += [start * (1 + e) for e in (1e-9, -1e-9, 3e-12, -3e-12, 1e-12, 2e-14, -2e-14)]
        numbers += [step.scale, np.nextafter(step.scale, 0), np.nextafter(step.scale, np.inf)]
    for step in generator.choice([each for each in ladder.steps if each.scale < 1e290], 100):
        tie = (generator.integers(0, 10**4) + 0.5) / step.power * step.scale
        large = generator.integers(10**11, 10**12) + generator.choice([0.4999, 0.49999, 0.50001, 0.5001])
        numbers += [large / step.power * step.scale]
        numbers += [tie, np.nextafter(tie, 0), np.nextafter(tie, np.inf), tie * (1 + 1e-7)]
    numbers += list(10 ** generator.uniform(-6, 16, 60))
    numbers += list(10 ** generator.uniform(-300, 300, 100))
    # Above 10^14 LibreOffice keeps no fraction; there an integer column holds integers.
    whole = ladder.steps[0].power == 1 and not ladder.keep_zeros and not ladder.thousandths
    numbers = [round(x) if whole and 1e14 < x < 1e15 else x for x in map(float, numbers)]
    numbers = [x for x in numbers if not x or SMALLEST <= x < math.inf]
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
def printed_numbers():
    """The ladder of every rule, and numbers that are hard to print by it."""
    generator = np.random.default_rng(7)
    ladders = {rule: ladder_of(*rule[:2]) for rule in RULES}
    return {rule: (ladder, hard_numbers(ladder, generator)) for rule, ladder in ladders.items()}


@pytest.fixture(scope="module")
def printed_workbook(printed_numbers):
    """A workbook with every kind of rule, and the text that each cell must show."""
    workbook = Workbook()
    sheet, hidden = workbook.active, workbook.create_sheet("_display")
    sheet.title = "Printed"
    expected, first = {}, 1
    for ladder, numbers in printed_numbers.values():
        at = write_ladder(hidden, first, ladder)
        first += len(ladder.steps)
        expected |= write_printed(sheet, ladder, numbers, at)
    expected |= write_plain(sheet)
    out = io.BytesIO()
    workbook.save(out)
    return engines.strip_cached(out.getvalue()), expected


@pytest.mark.engine
@pytest.mark.parametrize(
    ("program", "recalculate"),
    [("ironcalc", engines.ironcalc_values), ("soffice", engines.libreoffice_values)],
    ids=["edges-8 ironcalc", "edges-8 libreoffice"],
)
def test_spreadsheets_print_the_same_text(program, recalculate, printed_workbook):
    engines.require(program)
    xlsx, expected = printed_workbook
    shown = recalculate(xlsx)["Printed"]
    wrong = {c: (shown.get("A" + c[1:]), t, shown.get(c)) for c, t in expected.items() if shown.get(c) != t}
    assert len(expected) > 30_000
    assert wrong == {}


def test_hard_numbers_print_as_exact_decimals_do(printed_numbers):
    """edges-8."""
    wrong = {
        (rule[0], rule[1], number): text
        for rule, (ladder, numbers) in printed_numbers.items()
        for number, text in zip(numbers, rules.printed(ladder, Values(np.array(numbers))), strict=True)
        if (1e-300 <= abs(number) <= 1e300 or not number) and text not in exact_texts(rule, number)
    }
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
