"""One display rule: the text it prints, and the Excel formulas that print the same.

Round half to even, where a tie is anything within 1e-12 of one (relative, at most 1e-6 of the last digit).
A number format cannot do this: engines round it differently, and none has binary or significant digits.

A rule is lowered to a ladder: rows of start, scale, power and suffix, which print every number.
`k` is the last row whose start is at most sqrt(|x|)*2^511, `y` is |x|/scale*power, `n` is y rounded half to
even, over power where no zeros are kept.
The text is n as it is, or n as a decimal of fixed places, and the suffix.
Starts are rounding boundaries, so that the prefix is chosen after rounding.
Roots are compared because IronCalc takes numbers within 2e-16 of each other for one: those of all numbers
that a spreadsheet has lie between 1 and 2^1023, and a root is the same in every engine.

The first row prints 0, and what is below 1 keeps its digits: by a smaller prefix where the unit takes one,
else as decimals, below 1e-6 scientific.
Above 10^12 (10^14/10^places if that is less) a number is scientific, for there LibreOffice loses a digit;
integers are from 10^15 on, and only the fraction of a number above 10^14 may round differently there.
Exponents beyond 36 are multiples of three, with up to three digits before the point: a row for every power
of ten would double the workbook's table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ledger.errors import LedgerError, Problem, near
from ledger.language import units
from ledger.values import DIV0, ERROR_NAMES, NA, NUM, SMALLEST, Mask, Values, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ledger.language.units import Unit


_ZERO, _TEN, _MILLI = Fraction(0), Fraction(10), Fraction(1, 1000)
_NO_PREFIX = ((Fraction(1), ""),)
_LARGEST, _EXACT_DIGITS, _INTEGER_DIGITS = 12, 14, 15
_TAIL_PLACES = 3
# The smallest power of ten that is printed as a decimal.
_DECIMAL = -6
# From here down n is in thousandths: below 0.0001 engines print an exponent.
_THOUSANDTHS = -4
_EVERY = 36
# Numbers of doubles: the smallest of a spreadsheet, the first that is none, one that leaves room to multiply.
_LOW, _HIGH, _WIDE = Fraction(SMALLEST), Fraction(2) ** 1024, _TEN**300
_LIFT = 511
# How much of a number, and of its last digit, a tie is wide; to MATCH two numbers are one within 1e-14.
_WIDTH, _LAST_WIDTH, _LEAST_WIDTH = Fraction(1, 10**12), Fraction(1, 10**6), Fraction(3, 10**14)
# Puts a round number below a row, or above the start of one.
_BEYOND, _BELOW = 1 + Fraction(5, 10**13), 1 - Fraction(5, 10**13)
# The units of an author that take smaller prefixes, too: nobody has a millieuro.
_METRIC = frozenset({
    "m", "g", "A", "K", "mol", "cd", "N", "Pa", "J", "W", "C", "V", "F", "Ω", "S", "Wb", "T", "H",
    "lm", "lx", "Bq", "Gy", "Sv", "kat", "L", "l", "eV", "Wh",
})  # fmt: skip
_METRIC_PREFIXES = (*units.TIME_PREFIXES[:-1], *units.DECIMAL_PREFIXES)


@dataclass(frozen=True, slots=True)
class DisplayRule:
    """A display rule: kind, digits (0 where the kind has none) and the unit to print in, or ""."""

    kind: str
    digits: int = 0
    unit: str = ""

    def __str__(self) -> str:
        digits = "" if self.kind in {"text", "integer"} else f" {self.digits}"
        return f"{self.kind}{digits}{self.unit and ' '}{self.unit}"


@dataclass(frozen=True, slots=True)
class Step:
    """A row of a ladder: from sqrt(|x|)*2^511 = start on, a number is n/power units of `scale`."""

    start: float
    scale: float
    power: float
    suffix: str


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The rows that print a number; no rows print text and truth values.

    With `keep_zeros` n is a decimal of `places` places, else it is printed without trailing zeros.
    In the rows `thousandths`, which are counted from 1, n is in thousandths.
    Each is made once, so that two need not be compared row by row.
    """

    steps: tuple[Step, ...]
    places: int = 0
    keep_zeros: bool = False
    thousandths: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _ExactStep:
    """A step in exact numbers of the unit that is printed: its first number is `begin`.

    Numbers that the row below rounds up to `begin` belong to it, or those from `start` on.
    """

    begin: Fraction
    scale: Fraction
    power: int
    suffix: str
    start: Fraction | None = None


def ladder(rule: DisplayRule, unit: Unit, unit_text: str, atoms: Mapping[str, Unit] = units.ATOMS) -> Ladder:
    """Return the ladder that prints numbers in `unit`, which is written `unit_text`, by `rule`."""
    if rule.kind == "text":
        return Ladder(())
    text = "%" if rule.kind == "percent" else rule.unit
    target = units.parse(text or unit_text, atoms)
    named: tuple[tuple[Fraction, str], ...] = ()
    if rule.kind in {"si", "iec"}:
        prefixes, text = _prefixes(rule, text or unit_text, atoms)
        named = tuple((scale, _suffix(prefix, text)) for scale, prefix in prefixes)
        target = units.parse(text, atoms)
    times = units.factor(unit, target)
    if times is None:
        what = f"display {str(rule)!r} prints {units.spell(target)}, the value is in {units.spell(unit)}"
        raise LedgerError(Problem(what, hint="name a unit of the same dimension, or none"))
    return _ladder(rule.kind, rule.digits, named, _suffix("", text), times)


@cache
def _ladder(
    kind: str, digits: int, named: tuple[tuple[Fraction, str], ...], suffix: str, times: Fraction
) -> Ladder:
    """Return the ladder of a kind for values of which `times` make one of the printed unit, made once.

    `named` holds the scale and the suffix of each prefix, the smallest first; a kind without them has none.
    """
    low, high = _LOW * times, _HIGH * times
    if named:
        rows = _prefixed_rows(digits, named, suffix, low, high)
    else:
        rows = _plain_rows(kind, digits, suffix, low, high)
    starts = _starts(rows)
    ends = [*starts[1:], high]
    reached = [
        (row, max(start, low) if start else start)
        for row, start, end in zip(rows, starts, ends, strict=True)
        if not start or (low < end and start < high)
    ]
    keep_zeros = kind in {"fixed", "percent", "scientific"}
    steps = tuple(_step(row, start, times, keep_zeros=keep_zeros) for row, start in reached)
    small = (k for k, (row, _) in enumerate(reached, 1) if (row.scale, row.suffix) == (_MILLI, suffix))
    return Ladder(steps, digits if keep_zeros else 0, keep_zeros, tuple(small))


def _starts(rows: Sequence[_ExactStep]) -> list[Fraction]:
    """Return where each row starts: where the row below rounds a number up to its first one."""
    found = [_ZERO]
    for below, row in pairwise(rows):
        last = below.scale / below.power
        border = row.begin - last / 2
        width = max(min(_WIDTH * border, _LAST_WIDTH * last), _LEAST_WIDTH * border)
        found.append(border - width if row.start is None else row.start)
    return found


def _step(row: _ExactStep, start: Fraction, times: Fraction, *, keep_zeros: bool) -> Step:
    """Return a row for values of which `times` make one of the printed unit."""
    scale, power = row.scale / times, Fraction(row.power)
    if keep_zeros:
        # Multiply where that is exact: x*100, not x/0.01.
        parts = (power / scale).as_integer_ratio()
        if max(parts) < _WIDE:
            power, scale = map(Fraction, parts)
        elif scale < 1 / _WIDE:
            power, scale = power / scale / _WIDE, 1 / _WIDE
    root = math.sqrt(float(start / times)) * 2.0**_LIFT
    return Step(root, float(scale), float(power), row.suffix)


def _plain_rows(kind: str, digits: int, suffix: str, low: Fraction, high: Fraction) -> list[_ExactStep]:
    """Return the rows of a kind without prefixes: one up to its largest number, then the scientific ones."""
    power = 10**digits
    zero = _ExactStep(_ZERO, Fraction(1), power, suffix)
    match kind:
        case "scientific":
            # Exponents there are multiples of three: one of them is below twice the smallest number.
            first, *others = _scientific_rows(low / 500, high, power, suffix)
            return [zero, replace(first, start=low), *others]
        case "integer":
            limit = _TEN**_INTEGER_DIGITS
            return [zero, *_tail(limit, limit * _BELOW, high, 10**_TAIL_PLACES, suffix)]
    limit = _TEN ** min(_LARGEST, _EXACT_DIGITS - digits)
    return [zero, *_tail(limit, limit * _BEYOND, high, power, suffix)]


def _scientific_rows(low: Fraction, high: Fraction, power: int, suffix: str) -> list[_ExactStep]:
    """Return the scientific rows that begin between two numbers."""
    first, last = (
        math.floor(math.log10(each.numerator) - math.log10(each.denominator)) for each in (low, high)
    )
    exponents = (e for e in range(first - 1, last + 2) if abs(e) <= _EVERY or e % 3 == 0)
    return [_ExactStep(_TEN**e, _TEN**e, power, f"e{e}{suffix}") for e in exponents if low <= _TEN**e < high]


def _tail(limit: Fraction, start: Fraction, high: Fraction, power: int, suffix: str) -> list[_ExactStep]:
    """Return the scientific rows of large numbers, from `start` on, which is all but `limit`."""
    e = len(str(math.floor(limit))) - 1
    first = _ExactStep(limit, _TEN**e, power, f"e{e}{suffix}", start)
    return [first, *_scientific_rows(_TEN ** (e + 1), high, power, suffix)]


def _suffix(prefix: str, text: str) -> str:
    """Return what follows the digits: a prefix before the unit, "%" and "/s" without a space."""
    bare = "" if text == "1" else text.removeprefix("1") if text.startswith("1/") else text
    return bare if not prefix and bare.startswith(("%", "/")) else f" {prefix}{bare}".rstrip()


def _prefixes(
    rule: DisplayRule, text: str, atoms: Mapping[str, Unit]
) -> tuple[tuple[tuple[Fraction, str], ...], str]:
    """Return the prefixes of `si` or `iec` for a unit, the smallest first, and its text without prefixes."""
    name, exponent, stem = _stem(text, atoms)
    if rule.kind == "iec":
        if name not in {"B", "bit"} or exponent != 1:
            what = f"display {str(rule)!r} is for bytes and bits, not for {text!r}"
            raise LedgerError(Problem(what, hint="write 'si' for powers of 1000"))
        return units.BINARY_PREFIXES, stem
    if exponent != 1:
        return _NO_PREFIX, stem
    if name == "s":
        return units.TIME_PREFIXES, stem
    if name in _METRIC:
        return _METRIC_PREFIXES, stem
    is_prefixed = name in {"B", "bit", "FLOP", "Hz", "1"} or name not in units.ATOMS
    return units.DECIMAL_PREFIXES if is_prefixed else _NO_PREFIX, stem


def _stem(text: str, atoms: Mapping[str, Unit]) -> tuple[str, int, str]:
    """Return the first atom without its prefix, its exponent, and the whole text without prefixes."""
    found = units.factors(text)
    stems = [units.STEMS.get(each.name) or _own_stem(each.name, atoms) for each in found]
    written = ""
    for each, stem in zip(found, stems, strict=True):
        operator = "/" if each.divides else "*" if written else ""
        written += operator + stem + (f"^{each.exponent}" if each.exponent != 1 else "")
    return (stems[0], found[0].exponent, written) if found else ("1", 1, "")


def _own_stem(name: str, atoms: Mapping[str, Unit]) -> str:
    """Return an author's unit without its prefix: their mJ is counted in their J."""
    prefix, stem = name[:1], name[1:]
    if stem in _METRIC and stem in atoms:
        whole = atoms[stem]
        for scale, each in _METRIC_PREFIXES:
            if each == prefix and atoms[name] == replace(whole, scale=whole.scale * scale):
                return stem
    return name


def _prefixed_rows(
    digits: int, named: Sequence[tuple[Fraction, str]], bare: str, low: Fraction, high: Fraction
) -> list[_ExactStep]:
    """Return the rows of `si` and `iec`: 0, what is too small for a prefix, each prefix, what is large."""
    smallest, power = named[0][0], 10 ** (digits - 1)
    tiny = _scientific_rows(2 * low, min(smallest, _TEN**_DECIMAL), power, bare)
    rows = [_ExactStep(_ZERO, Fraction(1), 1, bare)]
    if tiny:
        # A scale below the smallest number is none, so that three digits more keep those of its neighbours.
        rows += [replace(tiny[0], begin=low, power=1000 * power, start=low), *tiny]
    if smallest == 1:
        rows += _decimal_rows(digits, bare)
    rows += _decades(named, digits)
    limit = named[-1][0] * _TEN**_LARGEST
    return [*rows, *_tail(limit, limit * _BEYOND, high, power, bare)]


def _decimal_rows(digits: int, suffix: str) -> Iterator[_ExactStep]:
    """Yield a row for each decade below 1, those below 0.001 in thousandths."""
    for e in range(_DECIMAL, 0):
        scale = _MILLI if e <= _THOUSANDTHS else Fraction(1)
        yield _ExactStep(_TEN**e, scale, int(scale * _TEN ** (digits - 1 - e)), suffix)


def _decades(named: Sequence[tuple[Fraction, str]], digits: int) -> Iterator[_ExactStep]:
    """Yield a row per prefix and decade, so that `digits` stay; whole units are never shortened."""
    above = [scale for scale, _ in named[1:]]
    for (scale, suffix), end in zip_longest(named, above):
        for place in range(digits):
            begin = scale * 10**place
            if end is None or begin < end:
                yield _ExactStep(begin, scale, 10 ** (digits - 1 - place), suffix)


#: The printed text of a blank cell, whose error code is NA.
BLANK = "—"
_ERRORS = {DIV0: ERROR_NAMES[DIV0], NUM: ERROR_NAMES[NUM], NA: BLANK}
_NEAR = 1e-12
_TIE = 1e-6
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class _Kind:
    """What may follow the name of a kind in a rule: digits from `least` on (None: no digits), a unit."""

    least: int | None
    takes_unit: bool


_KINDS = {
    "integer": _Kind(None, takes_unit=True),
    "fixed": _Kind(0, takes_unit=True),
    "si": _Kind(1, takes_unit=True),
    "iec": _Kind(1, takes_unit=True),
    "percent": _Kind(0, takes_unit=False),
    "scientific": _Kind(1, takes_unit=True),
    "text": _Kind(None, takes_unit=False),
}


@dataclass(frozen=True, slots=True, eq=False)
class HelperValues:
    """The values of the cells of `excel`, one per element; for an error code, k is the text of the error."""

    k: Values
    y: Values
    n: Values


@dataclass(frozen=True, slots=True)
class Ranges:
    """The absolute range that each column of a ladder has in the workbook, on its sheet of ladders."""

    starts: str
    scales: str
    powers: str
    suffixes: str


def parse(text: str, atoms: Mapping[str, Unit] = units.ATOMS) -> DisplayRule:
    """Return the rule that `text` spells; a LedgerError with one problem if it spells none.

    >>> parse("fixed 1 TB/s")
    DisplayRule(kind='fixed', digits=1, unit='TB/s')
    """
    words = text.split()
    if not words or words[0] not in _KINDS:
        what = f"{words[0]!r} is not a display rule" if words else "a display rule is empty"
        raise LedgerError(Problem(what, hint=near(words[0] if words else "", _KINDS)))
    name, *rest = words
    kind, digits = _KINDS[name], 0
    if kind.least is not None:
        if not rest or not rest[0].isdecimal() or not kind.least <= int(rest[0]) <= _MAX_DIGITS:
            what = f"display {text!r}: {name!r} needs a number of digits from {kind.least} to {_MAX_DIGITS}"
            raise LedgerError(Problem(what, hint=f"write '{name} 2'"))
        digits = int(rest.pop(0))
    unit = " ".join(rest)
    if unit and not kind.takes_unit:
        hint = f"{', '.join(each for each in _KINDS if _KINDS[each].takes_unit)} can end in a unit"
        raise LedgerError(Problem(f"display {text!r}: {unit!r} cannot stand behind {name!r}", hint=hint))
    rule = DisplayRule(name, digits, unit)
    if unit:
        ladder(rule, units.parse(unit, atoms), unit, atoms)
    return rule


def default_rule(kind: str, unit: Unit) -> DisplayRule:
    """Return the rule of a column that declares none: by its kind and its unit."""
    names = sorted((power, name) for name, power in unit.dimension)
    match kind, names:
        case "text" | "bool", _:
            return DisplayRule("text")
        case "integer", _ if unit == units.COUNT:
            return DisplayRule("integer")
        case _, [(1, "B")]:
            return DisplayRule("iec", 4)
        case _, [(1, _)] | [(-1, "s")] | [(-1, "s"), (1, _)]:
            return DisplayRule("si", 4)
    return DisplayRule("fixed", 2)


def number_format(rule: DisplayRule, unit: Unit) -> str:
    """Return Excel's number format for reading a cell that keeps the full value, in its own unit."""
    places = "." + "0" * rule.digits if rule.digits else ""
    whole = rule.kind in {"si", "iec"} and unit in {units.parse("B"), units.parse("FLOP")}
    match rule.kind:
        case "integer" if not rule.unit:
            return "#,##0"
        case "fixed" if not rule.unit:
            return f"#,##0{places}"
        case "percent" if unit == units.COUNT:
            return f"0{places}%"
        case "scientific":
            return f"0{places}E+00"
    return "#,##0" if whole else "General"


def printed(by: Ladder, values: Values) -> list[str]:
    """Return the text of each element: a number by the ladder, else a truth value or a text."""
    if values.data.dtype == np.bool_:
        texts = ["TRUE" if each else "FALSE" for each in values.data.tolist()]
    elif values.data.dtype == object:
        texts = [plain(each) for each in values.data.tolist()]
    else:
        texts = _numbers(by, np.where(values.codes() > 0, 0.0, values.data).astype(np.float64))
    for index in np.flatnonzero(values.codes()).tolist():
        texts[index] = _ERRORS[int(values.codes()[index])]
    return texts


def printed_as_0(by: Ladder, values: Values) -> Mask:
    """Return the numbers that are not 0 and are printed as 0."""
    none: Mask = np.zeros(len(values), dtype=np.bool_)
    if not by.steps or values.data.dtype in {np.bool_, object}:
        return none
    data = np.where(values.codes() > 0, 0.0, values.data)
    lost: Mask = (data != 0) & (_scaled(by, data)[2] == 0)
    return lost


def _numbers(by: Ladder, data: npt.NDArray[np.float64]) -> list[str]:
    """Return the text of each number; raise LedgerError for a ladder without rows, which prints none."""
    if not by.steps:
        raise LedgerError(
            Problem("display 'text' does not print a number", hint="write 'integer' or 'fixed 2'")
        )
    k, _, n = _scaled(by, data)
    signs = np.where((data < 0) & (n > 0), "-", "").tolist()
    suffixes = [by.steps[each].suffix for each in k.tolist()]
    if by.keep_zeros:
        digits = [_decimal(int(each), by.places) for each in n.tolist()]
    else:
        shown = np.where(np.isin(k + 1, by.thousandths), n / 1000, n)
        digits = [_short(each) for each in shown.tolist()]
    return [a + b + c for a, b, c in zip(signs, digits, suffixes, strict=True)]


def _scaled(
    by: Ladder, data: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the row (from 0) that each number takes, the number in its unit, and that as it is printed."""
    size = np.abs(data)
    k = np.searchsorted([each.start for each in by.steps], np.sqrt(size) * 2.0**_LIFT, side="right") - 1
    powers = np.array([each.power for each in by.steps])[k]
    y = size / np.array([each.scale for each in by.steps])[k] * powers
    return k, y, _half_even(y) if by.keep_zeros else _half_even(y) / powers


def helper_values(by: Ladder, values: Values) -> HelperValues:
    """Return the values of the cells k, y and n that print `values` in a workbook."""
    errors = values.errors
    k, y, n = _scaled(by, values.data if errors is None else np.where(errors > 0, 0.0, values.data))
    rows = (k + 1).astype(np.float64)
    if errors is None:
        return HelperValues(Values(rows), Values(y), Values(n))
    texts = np.where(
        errors > 0, np.array(["", *(_ERRORS[code] for code in (DIV0, NUM, NA))])[errors], rows.astype(object)
    )
    return HelperValues(Values(texts), Values(y, errors), Values(n, errors))


def _half_even(y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return numbers rounded to whole ones, those within 1e-12 of a tie to the even one."""
    whole = np.floor(y)
    tie = np.abs(y - whole - 0.5) <= np.minimum(y * _NEAR, _TIE)
    return np.where(tie, 2 * np.floor((whole + 1) / 2), np.rint(y))


def _decimal(n: int, places: int) -> str:
    whole, rest = divmod(n, 10**places)
    return f"{whole}.{rest:0{places}d}" if places else str(whole)


def _short(n: float) -> str:
    """Return a number of at most 15 digits without trailing zeros and without an exponent."""
    return f"{n:.15f}".rstrip("0") if 0 < n < 1 else f"{n:.15g}"


def excel(by: Ladder, x: str, k: str, y: str, n: str, at: Ranges) -> tuple[str, str, str, str]:
    """Return the formulas of the cells `k`, `y`, `n` and of the text that prints the cell `x`.

    Where x is an error, k is its text; no function is used whose result differs between engines.
    """
    if by.keep_zeros and by.places:
        unit = 10**by.places
        whole = f"INT({n}/{unit})"
        digits = f'{whole}&"."&RIGHT({unit}+{n}-{whole}*{unit},{by.places})'
    elif by.keep_zeros:
        digits = n
    else:
        digits = f'SUBSTITUTE({n}&"",",",".")'
    if by.thousandths:
        middle = (by.thousandths[0] + by.thousandths[-1]) // 2
        digits = f'IF(ABS({k}-{middle})<2,"0.000"&MID({n}&"",3,15),{digits})'
    tie = f"ABS({y}-INT({y})-0.5)<=MIN({y}*1E-12,1E-6)"
    # Not ROUND, which IronCalc takes of 15 digits, nor INT(y+0.5), which LibreOffice does.
    rounded = f"IF({tie},2*INT((INT({y})+1)/2),INT({y})+IF({y}-INT({y})>0.5,1,0))"
    return (
        _unless_error(x, f"MATCH(SQRT(ABS({x}))*2^{_LIFT},{at.starts})"),
        f"ABS({x})/INDEX({at.scales},{k})*INDEX({at.powers},{k})",
        rounded if by.keep_zeros else f"{rounded}/INDEX({at.powers},{k})",
        # IronCalc finds -1E-17 < 0 false, but not SIGN(-1E-17)*5 < 0.
        f'IF(ISTEXT({k}),{k},IF(SIGN({x})*{n}<0,"-","")&{digits}&INDEX({at.suffixes},{k}))',
    )


def excel_text(x: str) -> str:
    """Return the formula that prints the text in the cell `x`."""
    return _unless_error(x, f'{x}&""')


def excel_truth(x: str) -> str:
    """Return the formula that prints the truth value in the cell `x`."""
    return _unless_error(x, f'IF({x},"TRUE","FALSE")')


def _unless_error(x: str, formula: str) -> str:
    # LibreOffice gives #N/A for ERROR.TYPE of #NUM!.
    named = f'IF(IFERROR(ERROR.TYPE({x}),6)=2,"{ERROR_NAMES[DIV0]}","{ERROR_NAMES[NUM]}")'
    return f'IF(ISNA({x}),"{BLANK}",IF(ISERROR({x}),{named},{formula}))'
