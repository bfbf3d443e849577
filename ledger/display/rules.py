"""One display rule: the text it prints, and the Excel formulas that print the same.

Round half to even, where a tie is anything within 1e-12 of one (relative, at most 1e-6 of the last digit).
A number format cannot do this: engines round it differently, and none has binary or significant digits.

A rule is lowered to a ladder: rows of start, scale, power and suffix, which print every number.
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

import numpy as np

from ledger.errors import LedgerError, Problem, near
from ledger.language import units
from ledger.values import DIV0, ERROR_NAMES, NA, NUM, Values, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ledger.language.units import Unit


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
class _ExactStep:
    """A step in exact numbers of the unit that is printed."""

    start: Fraction
    scale: Fraction
    power: int
    suffix: str = ""


def ladder(rule: DisplayRule, unit: Unit, unit_text: str, atoms: Mapping[str, Unit] = units.ATOMS) -> Ladder:
    """Return the ladder that prints numbers in `unit`, which is written `unit_text`, by `rule`."""
    if rule.kind == "text":
        return Ladder(())
    return _known(rule, unit, unit_text) if atoms is units.ATOMS else _ladder(rule, unit, unit_text, atoms)


@cache
def _known(rule: DisplayRule, unit: Unit, unit_text: str) -> Ladder:
    """Return a ladder in units that nobody declared, made once."""
    return _ladder(rule, unit, unit_text, units.ATOMS)


def _ladder(rule: DisplayRule, unit: Unit, unit_text: str, atoms: Mapping[str, Unit]) -> Ladder:
    """Return a ladder in the units of an author; raise LedgerError for a unit of another dimension."""
    text = "%" if rule.kind == "percent" else rule.unit
    target = units.parse(text or unit_text, atoms)
    if rule.kind in _STEPPED:
        rows, target = _prefixed_rows(rule, text or unit_text, atoms)
    else:
        rows = _plain_rows(rule, _suffix("", text))
    times = units.factor(unit, target)
    if times is None:
        what = f"display {str(rule)!r} prints {units.spell(target)}, the value is in {units.spell(unit)}"
        raise LedgerError(Problem(what, hint="name a unit of the same dimension, or none"))
    keep_zeros = rule.kind in {"fixed", "percent", "scientific"}
    return _made(tuple(rows), times, rule.digits if keep_zeros else 0, keep_zeros=keep_zeros)


@cache
def _made(rows: tuple[_ExactStep, ...], times: Fraction, places: int, *, keep_zeros: bool) -> Ladder:
    """Return the ladder of exact rows for values of which `times` make the printed unit."""
    lift = times / min(rows[1].scale, Fraction(1))
    steps = (_step(row, times, lift, keep_zeros=keep_zeros) for row in rows)
    nearly = float(f"{float(lift * _NEARLY):.15g}")  # Excel cuts a longer literal
    return Ladder(tuple(each for each in steps if each), nearly, places, keep_zeros)


def _step(row: _ExactStep, times: Fraction, lift: Fraction, *, keep_zeros: bool) -> Step | None:
    """Return a row for values of which `times` make the printed unit, None if it is no row of doubles."""
    start, scale, power = row.start / times * lift, row.scale / times, Fraction(row.power)
    if keep_zeros:  # multiply where that is exact: x*100, not x/0.01
        power, scale = map(Fraction, (power / scale).as_integer_ratio())
    if start and not all(1 / _LIMIT < each < _LIMIT for each in (start, scale, power)):
        return None
    return Step(float(start), float(scale), float(power), row.suffix)


@cache
def _plain_rows(rule: DisplayRule, suffix: str) -> list[_ExactStep]:
    """Return the rows of a kind without prefixes: one up to its largest number, then the scientific ones."""
    power = tail_power = 10**rule.digits
    match rule.kind:
        case "integer":
            limit, tail_power = _TEN**_INTEGER_DIGITS * _BELOW, 10**_TAIL_PLACES
        case "scientific":
            limit = _TEN ** _EXPONENTS[0]
        case _:
            limit = _TEN ** min(_LARGEST, _EXACT_DIGITS - rule.digits) * _BEYOND
    return [_ExactStep(_TEN * 0, Fraction(1), power, suffix), *_tail(limit, tail_power, suffix)]


def _tail(limit: Fraction, power: int, suffix: str) -> list[_ExactStep]:
    """Return the scientific rows from `limit` on."""
    first = max(e for e in _EXPONENTS if _TEN**e <= limit)
    starts = {first: limit}
    for below, e in pairwise(e for e in _EXPONENTS if e >= first):
        starts[e] = _TEN**e - _TEN**below / (2 * power)
    return [_ExactStep(start, _TEN**e, power, f"e{e}{suffix}") for e, start in starts.items()]


def _suffix(prefix: str, text: str) -> str:
    """Return what follows the digits: a prefix before the unit, "%" and "/s" without a space."""
    bare = "" if text == "1" else text.removeprefix("1") if text.startswith("1/") else text
    return bare if not prefix and bare.startswith(("%", "/")) else f" {prefix}{bare}".rstrip()


def _prefixed_rows(rule: DisplayRule, text: str, atoms: Mapping[str, Unit]) -> tuple[list[_ExactStep], Unit]:
    """Return the rows of `si` or `iec`, in the unit without prefixes of `text`, and that unit."""
    name, exponent, stem = _stem(text)
    prefixes, takers = _STEPPED[rule.kind]
    if rule.kind == "iec" and (name not in takers or exponent != 1):
        what = f"display {str(rule)!r} is for bytes and bits, not for {text!r}"
        raise LedgerError(Problem(what, hint="write 'si' for powers of 1000"))
    if rule.kind == "si" and name == "s" and exponent == 1:
        prefixes = units.TIME_PREFIXES
    elif exponent != 1 or (name not in takers and name in units.ATOMS):
        prefixes = ((Fraction(1), ""),)
    named = [(scale, _suffix(prefix, stem)) for scale, prefix in prefixes]
    tail = _tail(named[-1][0] * _TEN**_LARGEST * _BEYOND, 10 ** (rule.digits - 1), _suffix("", stem))
    return [*_decades(named, rule.digits, _suffix("", stem)), *tail], units.parse(stem, atoms)


def _stem(text: str) -> tuple[str, int, str]:
    """Return the first atom without its prefix, its exponent, and the whole text without prefixes."""
    found = units.factors(text)
    stems = [units.STEMS.get(each.name, each.name) for each in found]
    written = ""
    for each, stem in zip(found, stems, strict=True):
        operator = "/" if each.divides else "*" if written else ""
        written += operator + stem + (f"^{each.exponent}" if each.exponent != 1 else "")
    return (stems[0], found[0].exponent, written) if found else ("1", 1, "")


def _first_rows(smallest: tuple[Fraction, str], digits: int, suffix: str) -> list[_ExactStep]:
    """Return the rows from 0 to 1 of the smallest prefix; 0 itself has none."""
    scale, name = smallest
    plain = 10 ** min(digits - 1, _PLAIN_PLACES)
    rows = [_ExactStep(_TEN * 0, Fraction(1), plain, suffix)]
    if scale < 1:
        rows.append(_ExactStep(scale / plain, scale, plain, name))
    if digits - 1 > _PLAIN_PLACES:
        rows.append(_ExactStep(scale / 1000, scale, 10 ** (digits - 1), name))
    return rows


def _decades(named: Sequence[tuple[Fraction, str]], digits: int, bare: str) -> list[_ExactStep]:
    """Return a row per prefix and decade, so that `digits` stay; whole units are never shortened."""
    rows = _first_rows(named[0], digits, bare)
    for index, (scale, suffix) in enumerate(named):
        power, decade = 10 ** (digits - 1), 10
        if index:
            start = scale - rows[-1].scale / (2 * rows[-1].power)
            rows.append(_ExactStep(start, scale, power, suffix))
        ratio = named[index + 1][0] / scale if index + 1 < len(named) else None
        while power > 1 and (ratio is None or decade < ratio):
            start = scale * (decade - Fraction(1, 2 * power))
            power, decade = power // 10, decade * 10
            rows.append(_ExactStep(start, scale, power, suffix))
    return rows


#: The printed text of a blank cell, whose error code is NA.
BLANK = "—"
_ERRORS = {DIV0: ERROR_NAMES[DIV0], NUM: ERROR_NAMES[NUM], NA: BLANK}
_NEAR = 1e-12
_TIE = 1e-6
_LIFTED = 1e6
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


def _numbers(by: Ladder, data: npt.NDArray[np.float64]) -> list[str]:
    """Return the text of each number; raise LedgerError for a ladder without rows, which prints none."""
    if not by.steps:
        raise LedgerError(
            Problem("display 'text' does not print a number", hint="write 'integer' or 'fixed 2'")
        )
    k, _, n = _scaled(by, data)
    powers = np.array([each.power for each in by.steps])[k]
    signs = np.where((data < 0) & (n > 0), "-", "").tolist()
    suffixes = [by.steps[each].suffix for each in k.tolist()]
    if by.keep_zeros:
        digits = [_decimal(int(each), by.places) for each in n.tolist()]
    else:
        digits = [f"{each:.15g}" for each in (n / powers).tolist()]
    return [a + b + c for a, b, c in zip(signs, digits, suffixes, strict=True)]


def _scaled(
    by: Ladder, data: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the row (from 0) that each number takes, the number in its unit, and that rounded."""
    size = np.abs(data)
    with np.errstate(over="ignore"):  # the last row has no end
        k = np.searchsorted([each.start for each in by.steps], size * by.nearly, side="right") - 1
    powers = np.array([each.power for each in by.steps])[k]
    y = size / np.array([each.scale for each in by.steps])[k] * powers
    return k, y, _half_even(y)


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
        digits = f'SUBSTITUTE({n}/INDEX({at.powers},{k})&"",",",".")'
    # IronCalc finds -1E-17 < 0 false, so it is asked in the unit of the smallest row.
    sign = f"{x}<0" if by.nearly < _LIFTED else f"{x}*1E30<0"
    tie = f"ABS({y}-INT({y})-0.5)<=MIN({y}*1E-12,1E-6)"
    return (
        _unless_error(x, f"MATCH(ABS({x})*{str(by.nearly).upper()},{at.starts})"),
        f"ABS({x})/INDEX({at.scales},{k})*INDEX({at.powers},{k})",
        # Not ROUND, which IronCalc takes of 15 digits, nor INT(y+0.5), which LibreOffice does.
        f"IF({tie},2*INT((INT({y})+1)/2),INT({y})+IF({y}-INT({y})>0.5,1,0))",
        f'IF(ISTEXT({k}),{k},IF(AND({sign},{n}>0),"-","")&{digits}&INDEX({at.suffixes},{k}))',
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
