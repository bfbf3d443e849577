"""A display rule lowered to a ladder: rows of start, scale, power and suffix, which print every number.

`k` is the last row whose start is at most |x|*nearly, `y` is |x|/scale*power, `n` is y rounded half to even.
The text is n/power, or n as a decimal of fixed places, and the suffix.
Starts are rounding boundaries, so that the prefix is chosen after rounding.
`nearly` is 1 + 1e-12 times what makes the smallest start near 1, for IronCalc finds numbers to within 2e-16.
Above 10^12 (10^14/10^places if that is less) a number is scientific, for there LibreOffice loses a digit;
integers are from 10^15 on, and only the fraction of a number above 10^14 may round differently there.
Scientific text reaches from 1e-30 to 1e275; from 1e30 on only every fifth decade has a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ledger import units
from ledger.errors import LedgerError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.units import Unit

_EXPONENTS = (*range(-30, 30), *range(30, 276, 5))
_LARGEST, _EXACT_DIGITS, _INTEGER_DIGITS = 12, 14, 15
# n/power prints without an exponent in every engine from 0.0001 on.
_PLAIN_PLACES = 4
_TAIL_PLACES = 3
_TEN = Fraction(10)
_LIMIT = _TEN**307
_NEARLY = 1 + Fraction(1, 10**12)
# Puts the round number below a row, although |x| is compared times `nearly`.
_BEYOND = 1 + Fraction(15, 10**13)
_BELOW = 1 + Fraction(5, 10**13)
_STEPPED = {
    "si": (units.DECIMAL_PREFIXES, frozenset({"B", "bit", "FLOP", "Hz", "1"})),
    "iec": (units.BINARY_PREFIXES, frozenset({"B", "bit"})),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A display rule: kind, digits (0 where the kind has none) and the unit to print in, or ""."""

    kind: str
    digits: int = 0
    unit: str = ""

    def __str__(self) -> str:
        digits = "" if self.kind in {"text", "integer"} else f" {self.digits}"
        return f"{self.kind}{digits}{self.unit and ' '}{self.unit}"


@dataclass(frozen=True, slots=True)
class Step:
    """A row of a ladder: from |x|*nearly = start on, a number is n/power units of `scale`."""

    start: float
    scale: float
    power: float
    suffix: str


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rows that print a number; no rows print text and truth values.

    With `keep_zeros` n is a decimal of `places` places, else n/power is printed without trailing zeros.
    """

    steps: tuple[Step, ...]
    nearly: float = 1.0
    places: int = 0
    keep_zeros: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """A step in exact numbers of the unit that is printed."""

    start: Fraction
    scale: Fraction
    power: int
    suffix: str = ""


def ladder(rule: Rule, unit: Unit, unit_text: str, atoms: Mapping[str, Unit] = units.ATOMS) -> Ladder:
    """Return the ladder that prints numbers in `unit`, which is written `unit_text`, by `rule`."""
    if rule.kind == "text":
        return Ladder(())
    return _known(rule, unit, unit_text) if atoms is units.ATOMS else _ladder(rule, unit, unit_text, atoms)


@cache
def _known(rule: Rule, unit: Unit, unit_text: str) -> Ladder:
    """Return a ladder in units that nobody declared, made once."""
    return _ladder(rule, unit, unit_text, units.ATOMS)


def _ladder(rule: Rule, unit: Unit, unit_text: str, atoms: Mapping[str, Unit]) -> Ladder:
    text = "%" if rule.kind == "percent" else rule.unit
    shown = units.parse(text or unit_text, atoms)
    rows: Sequence[_Row]
    if rule.kind in _STEPPED:
        rows, shown = _prefixed_rows(rule, text or unit_text, atoms)
        places = 0
    else:
        rows, places = _plain_rows(rule, _suffix("", text))
    times = units.factor(unit, shown)
    if times is None:
        what = f"display {str(rule)!r} prints {units.spell(shown)}, the value is in {units.spell(unit)}"
        raise LedgerError(Problem(what, hint="name a unit of the same dimension, or none"))
    return _made(tuple(rows), times, places, keep_zeros=rule.kind in {"fixed", "percent", "scientific"})


@cache
def _made(rows: tuple[_Row, ...], times: Fraction, places: int, *, keep_zeros: bool) -> Ladder:
    """Return the ladder of exact rows for values of which `times` make the printed unit."""
    lift = times / min(rows[1].scale, Fraction(1))
    steps = (_step(row, times, lift, keep_zeros=keep_zeros) for row in rows)
    nearly = float(f"{float(lift * _NEARLY):.15g}")  # Excel cuts a longer literal
    return Ladder(tuple(each for each in steps if each), nearly, places, keep_zeros)


def _step(row: _Row, times: Fraction, lift: Fraction, *, keep_zeros: bool) -> Step | None:
    """Return a row for values of which `times` make the printed unit, None if it is no row of doubles."""
    start, scale, power = row.start / times * lift, row.scale / times, Fraction(row.power)
    if keep_zeros:  # multiply where that is exact: x*100, not x/0.01
        power, scale = map(Fraction, (power / scale).as_integer_ratio())
    if start and not all(1 / _LIMIT < each < _LIMIT for each in (start, scale, power)):
        return None
    return Step(float(start), float(scale), float(power), row.suffix)


@cache
def _plain_rows(rule: Rule, suffix: str) -> tuple[Sequence[_Row], int]:
    one, power = Fraction(1), 10**rule.digits
    match rule.kind:
        case "integer":
            limit = _TEN**_INTEGER_DIGITS
            return [_Row(_TEN * 0, one, 1, suffix), *_tail(limit * _BELOW, 10**_TAIL_PLACES, suffix)], 0
        case "fixed" | "percent":
            limit = _TEN ** min(_LARGEST, _EXACT_DIGITS - rule.digits)
            return [_Row(_TEN * 0, one, power, suffix), *_tail(limit * _BEYOND, power, suffix)], rule.digits
        case "scientific":
            zero = _Row(_TEN * 0, one, power, suffix)
            return [zero, *_tail(_TEN ** _EXPONENTS[0], power, suffix)], rule.digits
    raise AssertionError(rule)


def _tail(limit: Fraction, power: int, suffix: str) -> list[_Row]:
    """Return the scientific rows from `limit` on."""
    first = max(e for e in _EXPONENTS if _TEN**e <= limit)
    exponents = [e for e in _EXPONENTS if e >= first]
    rows = [_Row(limit, _TEN**first, power, f"e{first}{suffix}")]
    for below, e in pairwise(exponents):
        start = _TEN**e - _TEN**below / (2 * power)
        rows.append(_Row(start, _TEN**e, power, f"e{e}{suffix}"))
    return rows


def _suffix(prefix: str, text: str) -> str:
    """Return what follows the digits: a prefix before the unit, "%" and "/s" without a space."""
    bare = "" if text == "1" else text.removeprefix("1") if text.startswith("1/") else text
    return bare if not prefix and bare.startswith(("%", "/")) else f" {prefix}{bare}".rstrip()


def _prefixed_rows(rule: Rule, text: str, atoms: Mapping[str, Unit]) -> tuple[list[_Row], Unit]:
    """Return the rows of `si` or `iec`, in the unit without prefixes of `text`, and that unit."""
    name, exponent, stem = _stem(text)
    prefixes, takers = _STEPPED[rule.kind]
    if rule.kind == "iec" and (name not in takers or exponent != 1):
        hint = "write 'si' for powers of 1000"
        raise LedgerError(
            Problem(f"display {str(rule)!r} is for bytes and bits, not for {text!r}", hint=hint)
        )
    if rule.kind == "si" and name == "s" and exponent == 1:
        prefixes = units.TIME_PREFIXES
    elif exponent != 1 or (name not in takers and name in units.ATOMS):
        prefixes = ((Fraction(1), ""),)
    named = [(scale, _suffix(prefix, stem)) for scale, prefix in prefixes]
    rows = _first_rows(named[0], rule.digits, _suffix("", stem)) + _decades(named, rule.digits)
    limit = named[-1][0] * _TEN**_LARGEST
    rows += _tail(limit * _BEYOND, 10 ** (rule.digits - 1), _suffix("", stem))
    return rows, units.parse(stem, atoms)


def _stem(text: str) -> tuple[str, int, str]:
    """Return the first atom without its prefix, its exponent, and the whole text without prefixes."""
    found = units.factors(text)
    stems = [units.STEMS.get(each.name, each.name) for each in found]
    written = ""
    for each, stem in zip(found, stems, strict=True):
        operator = "/" if each.divides else "*" if written else ""
        written += operator + stem + (f"^{each.exponent}" if each.exponent != 1 else "")
    return (stems[0], found[0].exponent, written) if found else ("1", 1, "")


def _first_rows(smallest: tuple[Fraction, str], digits: int, suffix: str) -> list[_Row]:
    """Return the rows from 0 to 1 of the smallest prefix; 0 itself has none."""
    scale, name = smallest
    plain = 10 ** min(digits - 1, _PLAIN_PLACES)
    rows = [_Row(_TEN * 0, Fraction(1), plain, suffix)]
    if scale < 1:
        rows.append(_Row(scale / plain, scale, plain, name))
    if digits - 1 > _PLAIN_PLACES:
        rows.append(_Row(scale / 1000, scale, 10 ** (digits - 1), name))
    return rows


def _decades(named: Sequence[tuple[Fraction, str]], digits: int) -> list[_Row]:
    """Return a row per prefix and decade, so that `digits` stay; whole units are never shortened."""
    rows: list[_Row] = []
    below: _Row | None = None
    for index, (scale, suffix) in enumerate(named):
        power, decade = 10 ** (digits - 1), 10
        if below:
            rows.append(_Row(scale - below.scale / (2 * below.power), scale, power, suffix))
        ratio = named[index + 1][0] / scale if index + 1 < len(named) else None
        while power > 1 and (ratio is None or decade < ratio):
            start = scale * (decade - Fraction(1, 2 * power))
            power, decade = power // 10, decade * 10
            rows.append(_Row(start, scale, power, suffix))
        below = _Row(_TEN * 0, scale, power)
    return rows
