"""Units: what their text means, exactly, and what a wrong text is told."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import LedgerError
from ledger.language import units
from ledger.language.units import COUNT, Unit

BYTE, FLOP, SECOND = ("B", 1), ("FLOP", 1), ("s", 1)


@pytest.mark.parametrize(
    ("text", "dimension", "scale"),
    [
        ("", (), 1),
        ("1", (), 1),
        ("%", (), Fraction(1, 100)),
        ("B", (BYTE,), 1),
        ("bit", (BYTE,), Fraction(1, 8)),
        ("kB", (BYTE,), 1000),
        ("KiB", (BYTE,), 1024),
        ("PiB", (BYTE,), 2**50),
        ("Mibit", (BYTE,), 2**17),
        ("EFLOP", (FLOP,), 10**18),
        ("TFLOP/s", (FLOP, ("s", -1)), 10**12),
        ("FLOP/B", (("B", -1), FLOP), 1),
        ("TFLOP/ms", (FLOP, ("s", -1)), 10**15),
        ("GHz", (("s", -1),), 10**9),
        ("1/s", (("s", -1),), 1),
        ("min", (SECOND,), 60),
        ("h", (SECOND,), 3600),
        ("us", (SECOND,), Fraction(1, 10**6)),
        ("µs", (SECOND,), Fraction(1, 10**6)),
        ("ps", (SECOND,), Fraction(1, 10**12)),
        ("fs", (SECOND,), Fraction(1, 10**15)),
        ("B^2", (("B", 2),), 1),
        ("kB^2", (("B", 2),), 10**6),
        ("s^-1", (("s", -1),), 1),
        ("B/s*s", (BYTE,), 1),
        ("B / s / s", (BYTE, ("s", -2)), 1),
        ("B·s", (BYTE, SECOND), 1),
        ("FLOP/FLOP", (), 1),
    ],
)
def test_text_of_a_unit(text, dimension, scale):
    assert units.parse(text) == Unit(dimension, Fraction(scale))


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("KB", "'KB' is not a unit", "write kB (1000 B) or KiB (1024 B)"),
        ("KB/s", "'KB' is not a unit (in 'KB/s')", "write kB (1000 B) or KiB (1024 B)"),
        ("FLOPS", "'FLOPS' is not a unit", "write FLOP/s for a rate, FLOP for work"),
        ("TFLOPs", "'TFLOPs' is not a unit", "write TFLOP/s for a rate, TFLOP for work"),
        ("b", "'b' is not a unit", "write bit or B"),
        ("Gb/s", "'Gb' is not a unit (in 'Gb/s')", "write Gbit or GB"),
        ("Kb", "'Kb' is not a unit", "write kbit or kB"),
        ("Kib", "'Kib' is not a unit", "write Kibit or KiB"),
        ("bytes", "'bytes' is not a unit", "write B"),
        ("tb", "'tb' is not a unit", "did you mean 'TB'?"),
        ("FLPO/s", "'FLPO' is not a unit (in 'FLPO/s')", "did you mean 'FLOP'?"),
        ("B//s", "'B//s' is no unit: '' is not a name with an optional exponent", "write it like"),
        ("B^x", "'B^x' is no unit: 'B^x' is not a name with an optional exponent", "write it like"),
        ("2 B", "'2 B' is no unit: '2 B' is not a name with an optional exponent", "write it like"),
    ],
)
def test_wrong_text_names_the_right_word(text, what, hint):
    with pytest.raises(LedgerError) as error:
        units.parse(text)
    (problem,) = error.value.problems
    assert (problem.what, problem.place) == (what, None)
    assert problem.hint.startswith(hint)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("KiB", "bit", 8192),
        ("s", "ms", 1000),
        ("GB/s", "GiB/s", Fraction(10**9, 2**30)),
        ("%", "", Fraction(1, 100)),
        ("Hz", "1/min", 60),
        ("B", "FLOP", None),
        ("B", "B/s", None),
    ],
)
def test_factor_is_exact_and_none_between_dimensions(source, target, expected):
    assert units.factor(units.parse(source), units.parse(target)) == expected


def test_rate_over_bandwidth_is_work_per_byte():
    """TFLOP/s over TB/s is FLOP/B: the same dimension and the same scale."""
    quotient = units.divide(units.parse("TFLOP/s"), units.parse("TB/s"))
    assert units.same(quotient, units.parse("FLOP/B"))
    assert not units.same(units.parse("ms"), units.parse("s"))


@pytest.mark.parametrize(
    ("text", "root"),
    [("B^2", "B"), ("", ""), ("MB^2/s^4", "MB/s^2"), ("B", None), ("kB", None), ("kB^3/B", None)],
)
def test_square_root_of_a_unit(text, root):
    if root is None:
        with pytest.raises(LedgerError, match="has no square root"):
            units.root(units.parse(text))
    else:
        assert units.root(units.parse(text)) == units.parse(root)


def test_power_of_absurd_size_is_refused():
    with pytest.raises(LedgerError, match="kB to the power 100 is no unit"):
        units.power(units.parse("kB"), 100)


@pytest.mark.parametrize(
    "text",
    ["FLOP/B", "TFLOP/s", "KiB", "bit", "ms", "h", "B·s", "B^2/s", "Gbit/s", "%", "GB/FLOP/s", "min/B"],
)
def test_spelling_is_the_text_that_was_read(text):
    assert units.spell(units.parse(text)) == text


@pytest.mark.parametrize(
    ("unit", "spelling"),
    [
        (COUNT, "count"),
        (Unit((), Fraction(8)), "8"),
        (Unit((("FLOP", 2),), Fraction(10**12)), "10^12 FLOP^2"),
        (Unit((("s", -1),), Fraction(1)), "1/s"),
        (Unit((("s", -1),), Fraction(10**6)), "10^6/s"),
        (Unit((BYTE,), Fraction(1, 10**6)), "10^-6 B"),
        (Unit((BYTE, ("s", -1)), Fraction(1, 3600)), "1/3600 B/s"),
    ],
)
def test_spelling_of_a_computed_unit(unit, spelling):
    assert units.spell(unit) == spelling


def test_author_declares_units():
    atoms = units.declare({"month": "1/12 year", "year": "base", "euro": "100 cent", "cent": "base"})
    assert units.parse("euro/month", atoms) == Unit((("cent", 1), ("year", -1)), Fraction(1200))
    assert units.parse("TB", atoms) == units.parse("TB")
    assert "year" not in units.ATOMS


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"B": "base"}, "unit 'B' cannot be declared"),
        ({"KB": "1000 B"}, "unit 'KB' cannot be declared\n  write kB (1000 B) or KiB (1024 B)"),
        ({"a b": "base"}, "unit 'a b' cannot be declared"),
        ({"year": "12 mnth", "month": "base"}, "unit 'year': 'mnth' is not a unit\n  did you mean 'month'?"),
        ({"a": "2 b_", "b_": "2 a"}, "unit 'a': 'b_' is not a unit"),
        ({"dozen": "twelve"}, "unit 'dozen': 'twelve' does not declare a unit"),
        ({"nothing": "0 B"}, "unit 'nothing': '0 B' does not declare a unit"),
        ({"never": "1/0 B"}, "unit 'never': '1/0 B' does not declare a unit"),
    ],
)
def test_wrong_declaration_is_told(declared, told):
    with pytest.raises(LedgerError) as error:
        units.declare(declared)
    assert told in str(error.value)


def test_every_wrong_declaration_is_told_at_once():
    with pytest.raises(LedgerError) as error:
        units.declare({"B": "base", "x": "1 y"})
    assert len(error.value.problems) == 2


def test_every_atom_has_a_stem_of_its_own_dimension():
    assert {n: units.ATOMS[s].dimension for n, s in units.STEMS.items()} == {
        n: u.dimension for n, u in units.ATOMS.items()
    }


some_units = st.sampled_from(sorted(units.ATOMS)).map(units.parse)


@given(some_units, some_units)
def test_division_undoes_multiplication(a, b):
    assert units.divide(units.multiply(a, b), b) == a


@given(some_units, st.integers(1, 9))
def test_root_undoes_an_even_power(a, n):
    assert units.root(units.power(a, 2 * n)) == units.power(a, n)


@given(some_units, some_units, st.integers(-3, 3))
def test_dimension_is_sorted_without_zeros(a, b, n):
    dimension = units.multiply(a, units.power(b, n)).dimension
    assert list(dimension) == sorted(dimension)
    assert all(power for _, power in dimension)
