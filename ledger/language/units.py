"""The dimension and the exact scale of a unit, by fractions.

A bit is 1/8 B, an hour is 3600 s, `%` is 1/100 of a count; nothing is converted unless `factor` is asked for.
A library was measured and refused: it makes the byte dimensionless and turns exact factors into floats.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem, Problems, near

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Decimal prefixes of B, bit, FLOP and Hz.
DECIMAL_PREFIXES = tuple((Fraction(10) ** (3 * i), name) for i, name in enumerate(("", *"kMGTPE")))
#: Binary prefixes of B and bit.
BINARY_PREFIXES = tuple(
    (Fraction(2) ** (10 * i), name) for i, name in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi"))
)
#: Prefixes of the second, the smallest first.
TIME_PREFIXES = tuple((Fraction(10) ** (3 * i), name) for i, name in enumerate((*"fpnµm", ""), -5))

_OPERATOR = re.compile(r"\s*([*·/])\s*")
_FACTOR = re.compile(r"([^\s^]+)(?:\^(-?\d{1,2}))?")
_NAME = re.compile(r"[^\W\d_]\w*")
_RATE = re.compile(r"([kKMGTPE]?)FLOP[sS]", re.IGNORECASE)
_SMALL_B = re.compile(r"([kKMGTPE]i?)?b")
_WORDS = {
    "KB": "kB (1000 B) or KiB (1024 B)",
    **dict.fromkeys(("byte", "bytes", "Byte", "Bytes"), "B"),
    **dict.fromkeys(("bits", "Bit", "Bits"), "bit"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("hour", "hours", "hr"), "h"),
}
_MAX_EXPONENT = 99


@dataclass(frozen=True, slots=True)
class Unit:
    """A product of base units (name and power, sorted, no power 0) times an exact scale."""

    dimension: tuple[tuple[str, int], ...]
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Factor:
    """One atom of a unit's text, with its written exponent and whether it comes behind a `/`."""

    name: str
    exponent: int
    divides: bool


COUNT = Unit(())


def multiply(a: Unit, b: Unit) -> Unit:
    """Return the unit of a product."""
    powers = Counter(dict(a.dimension))
    powers.update(dict(b.dimension))
    return Unit(tuple(sorted((name, n) for name, n in powers.items() if n)), a.scale * b.scale)


def divide(a: Unit, b: Unit) -> Unit:
    """Return the unit of a quotient."""
    return multiply(a, power(b, -1))


def power(unit: Unit, exponent: int) -> Unit:
    """Return the unit of an integer power, which is COUNT for 0."""
    if abs(exponent) > _MAX_EXPONENT:
        raise LedgerError(Problem(f"{spell(unit)} to the power {exponent} is no unit"))
    powers = tuple((name, n * exponent) for name, n in unit.dimension if exponent)
    return Unit(powers, unit.scale**exponent)


def root(unit: Unit) -> Unit:
    """Return the unit of a square root."""
    above, below = (math.isqrt(part) for part in unit.scale.as_integer_ratio())
    half = Unit(tuple((name, n // 2) for name, n in unit.dimension), Fraction(above, below))
    if power(half, 2) != unit:
        raise LedgerError(Problem(f"{spell(unit)} has no square root that is a unit"))
    return half


def factor(source: Unit, target: Unit) -> Fraction | None:
    """Return by what a number in `source` is multiplied to be in `target`, None if the dimensions differ.

    >>> factor(parse("KiB"), parse("bit"))
    Fraction(8192, 1)
    """
    return source.scale / target.scale if source.dimension == target.dimension else None


def same(a: Unit, b: Unit) -> bool:
    """Whether numbers in `a` and in `b` can be added as they are."""
    return a == b


def _prefixed(stem: str, unit: Unit, prefixes: tuple[tuple[Fraction, str], ...]) -> dict[str, Unit]:
    return {prefix + stem: Unit(unit.dimension, unit.scale * scale) for scale, prefix in prefixes}


def _families() -> Iterator[tuple[str, dict[str, Unit]]]:
    """Yield each stem, an atom without a prefix, and the atoms that are counted in it."""
    byte, second, bit = Unit((("B", 1),)), Unit((("s", 1),)), Unit((("B", 1),), Fraction(1, 8))
    yield "B", _prefixed("B", byte, DECIMAL_PREFIXES + BINARY_PREFIXES)
    yield "bit", _prefixed("bit", bit, DECIMAL_PREFIXES + BINARY_PREFIXES)
    yield "FLOP", _prefixed("FLOP", Unit((("FLOP", 1),)), DECIMAL_PREFIXES)
    yield "Hz", _prefixed("Hz", Unit((("s", -1),)), DECIMAL_PREFIXES)
    micro = Fraction(1, 10**6)
    small = (*TIME_PREFIXES, (micro, "u"), (micro, "μ"))
    long = {"min": Unit(second.dimension, Fraction(60)), "h": Unit(second.dimension, Fraction(3600))}
    yield "s", _prefixed("s", second, small) | long
    yield "1", {"1": COUNT, "%": Unit((), Fraction(1, 100))}


#: The built-in atoms, and the atom without a prefix that each is counted in (`TB` in `B`, `h` in `s`).
ATOMS: Mapping[str, Unit] = MappingProxyType({name: u for _, each in _families() for name, u in each.items()})
STEMS: Mapping[str, str] = MappingProxyType({name: stem for stem, each in _families() for name in each})


def factors(text: str) -> tuple[Factor, ...]:
    """Return the atoms of a unit's text as they are written, none for the text of a count.

    >>> [(each.name, each.exponent, each.divides) for each in factors("FLOP/B^2")]
    [('FLOP', 1, False), ('B', 2, True)]
    """
    if not text.strip():
        return ()
    operator, found = "*", []
    for index, part in enumerate(_OPERATOR.split(text.strip())):
        if index % 2:
            operator = part
        elif match := _FACTOR.fullmatch(part):
            found.append(Factor(match[1], int(match[2] or 1), operator == "/"))
        else:
            what = f"{text!r} is no unit: {part!r} is not a name with an optional exponent"
            raise LedgerError(Problem(what, hint="write it like 'FLOP/s' or 'B^2*s'"))
    return tuple(found)


def parse(text: str, atoms: Mapping[str, Unit] = ATOMS) -> Unit:
    """Return the unit that `text` spells; a LedgerError with one problem if it spells none.

    >>> spell(parse("TFLOP/s"))
    'TFLOP/s'
    """
    unit = COUNT
    for each in factors(text):
        if each.name not in atoms:
            raise LedgerError(_unknown(each.name, text, atoms))
        unit = multiply(unit, power(atoms[each.name], -each.exponent if each.divides else each.exponent))
    return unit


def _unknown(name: str, text: str, atoms: Mapping[str, Unit]) -> Problem:
    what = f"{name!r} is not a unit" + (f" (in {text!r})" if text != name else "")
    return Problem(what, hint=_right_word(name) or near(name, atoms))


def _right_word(name: str) -> str:
    """Return the hint for a unit that is often written wrongly, such as FLOPS or Gb; empty for others."""
    if rate := _RATE.fullmatch(name):
        stem = rate[1].replace("K", "k") + "FLOP"
        return f"write {stem}/s for a rate, {stem} for work"
    if small := _SMALL_B.fullmatch(name):
        prefix = re.sub("^[kK](?!i)", "k", small[1] or "")
        return f"write {prefix}bit or {prefix}B"
    return f"write {_WORDS[name]}" if name in _WORDS else ""


def declare(declared: Mapping[str, str]) -> Mapping[str, Unit]:
    """Return the built-in atoms and an author's own: `base`, or a positive fraction of another unit.

    >>> spell(declare({"year": "12 month", "month": "base"})["year"])
    '12 month'
    """
    if not declared:
        return ATOMS
    problems = Problems()
    atoms, waiting = dict(ATOMS), {}
    for name, text in declared.items():
        if name in ATOMS or _right_word(name) or not _NAME.fullmatch(name):
            hint = "choose a name of letters and digits that no built-in unit has"
            problems.add(f"unit {name!r} cannot be declared", hint=_right_word(name) or hint)
        elif text.strip() == "base":
            atoms[name] = Unit(((name, 1),))
        else:
            waiting[name] = text
    # A derived unit may be declared before the one that it is a part of.
    while ready := [name for name, text in waiting.items() if _is_known(text, atoms)]:
        for name in ready:
            _derive(name, waiting.pop(name), atoms, problems)
    for name, text in waiting.items():
        _derive(name, text, atoms, problems)
    problems.raise_any()
    return MappingProxyType(atoms)


def _is_known(text: str, atoms: Mapping[str, Unit]) -> bool:
    try:
        parse(text.strip().partition(" ")[2], atoms)
    except LedgerError:
        return False
    return True


def _derive(name: str, text: str, atoms: dict[str, Unit], problems: Problems) -> None:
    """Add an author's unit to `atoms`, a number of another unit; what is wrong with it is a problem."""
    number, _, rest = text.strip().partition(" ")
    try:
        scale = Fraction(number)
        unit = parse(rest, atoms)
    except (ValueError, ZeroDivisionError):
        scale = Fraction(0)
    except LedgerError as error:
        for each in error.problems:
            problems.add(f"unit {name!r}: {each.what}", hint=each.hint)
        return
    if scale <= 0:
        hint = "write 'base', or a positive number and a unit, such as '1/12 year'"
        problems.add(f"unit {name!r}: {text!r} does not declare a unit", hint=hint)
        return
    atoms[name] = Unit(unit.dimension, scale * unit.scale)


def spell(unit: Unit) -> str:
    """Return a unit as a message writes it, with the scale in a prefix or in front.

    >>> spell(divide(parse("FLOP"), parse("B"))), spell(Unit((("FLOP", 2),), Fraction(10**12)))
    ('FLOP/B', '10^12 FLOP^2')
    """
    above = [_raised(name, n) for name, n in unit.dimension if n > 0]
    below = [_raised(name, -n) for name, n in unit.dimension if n < 0]
    scaled = Unit(((above[0], 1),), unit.scale) if above and unit.scale != 1 else None
    if prefixed := [name for name, atom in ATOMS.items() if atom == scaled]:
        above[0] = prefixed[0]
    elif unit.scale != 1 or not above:
        lead = _number(unit.scale)
        if not above and not below:
            return {"1": "count", "1/100": "%"}.get(lead, lead)
        return " ".join([lead, "·".join(above)] if above else [lead]) + "".join(f"/{each}" for each in below)
    return "·".join(above) + "".join(f"/{each}" for each in below)


def _raised(name: str, exponent: int) -> str:
    return name if exponent == 1 else f"{name}^{exponent}"


def _number(scale: Fraction) -> str:
    for sign, whole in (("", scale), ("-", 1 / scale)):
        digits = str(whole)
        if len(digits) > len("1000") and re.fullmatch("10+", digits):
            return f"10^{sign}{len(digits) - 1}"
    return str(scale)
