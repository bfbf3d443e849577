"""What is printed, in exact decimals and from the words of the display rules: no ladder, no float."""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

DECIMAL = ["", "k", "M", "G", "T", "P", "E"]
BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"]
SMALL = ["f", "p", "n", "µ", "m"]
PREFIXES = {
    "si": [(Fraction(1000) ** i, name) for i, name in enumerate(DECIMAL)],
    "iec": [(Fraction(1024) ** i, name) for i, name in enumerate(BINARY)],
    "time": [(Fraction(1000) ** (i - 5), name) for i, name in enumerate([*SMALL, ""])],
    "energy": [(Fraction(1000) ** (i - 5), name) for i, name in enumerate([*SMALL, *DECIMAL])],
    "plain": [(Fraction(1), "")],
}
#: The unit that each kind is tried with, and that unit's prefixes; J is a unit that an author declares.
TRIED = {
    "si": ("B", "si"),
    "iec": ("B", "iec"),
    "time": ("s", "time"),
    "energy": ("J", "energy"),
    "plain": ("B^2", "plain"),
}
#: Below this a number without a smaller prefix is scientific.
SMALLEST_DECIMAL = Fraction(1, 10**6)
#: Exponents beyond this are multiples of three.
SINGLE = 36


def half_even(y: Fraction) -> int:
    with localcontext() as context:
        context.prec = 2000
        exact = Decimal(y.numerator) / Decimal(y.denominator)
        whole = exact.to_integral_value(ROUND_FLOOR)
        if abs(exact - whole - Decimal("0.5")) <= min(exact * Decimal("1e-12"), Decimal("1e-6")):
            exact = whole + Decimal("0.5")
        return int(exact.to_integral_value(ROUND_HALF_EVEN))


def fixed_text(n: int, places: int) -> str:
    return f"{Decimal(n).scaleb(-places):.{places}f}"


def short_text(value: Fraction) -> str:
    text = format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def decade(value: Fraction) -> int:
    """The e of the largest 10^e that is at most `value`."""
    e = len(str(value.numerator)) - len(str(value.denominator))
    return e if Fraction(10) ** e <= value else e - 1


def rounded(size: Fraction, places: int) -> tuple[int, int]:
    """The digits of a number and its power of ten, one digit before the point."""
    e = decade(size)
    n = half_even(size / Fraction(10) ** e * 10**places)
    return (n, e) if n < 10 ** (places + 1) else (n // 10, e + 1)


def scientific(size: Fraction, places: int) -> tuple[int, int]:
    """The same with up to three digits before the point where exponents are multiples of three."""
    e = decade(size)
    while abs(e) > SINGLE and e % 3:
        e -= 1
    width = 1 if -SINGLE <= e < SINGLE else 3
    n = half_even(size / Fraction(10) ** e * 10**places)
    return (n, e) if n < 10 ** (places + width) else (10**places, e + width)


def plain_text(kind: str, digits: int, size: Fraction) -> tuple[int, str]:
    if kind == "scientific":
        n, e = scientific(size, digits) if size else (0, "")
        return n, fixed_text(n, digits) + (f"e{e}" if size else "")
    if kind == "integer":
        if size < 10**15 - 500:
            n = half_even(size)
            return n, str(n)
        n, e = scientific(size, 3)
        return n, f"{short_text(Fraction(n, 1000))}e{e}"
    times, suffix = (100, "%") if kind == "percent" else (1, "")
    if size * times > 10 ** min(12, 14 - digits) * (1 + Fraction(5, 10**13)):
        n, e = scientific(size * times, digits)
        return n, f"{fixed_text(n, digits)}e{e}{suffix}"
    n = half_even(size * times * 10**digits)
    return n, fixed_text(n, digits) + suffix


def prefixed_text(kind: str, digits: int, size: Fraction, unit: str) -> tuple[int, str]:
    _, family = TRIED[kind]
    prefixes = PREFIXES[family]
    if not size:
        return 0, f"0 {unit}"
    n, e = rounded(size, digits - 1)
    value, smallest = n * Fraction(10) ** (e - digits + 1), prefixes[0][0]
    is_huge = size > prefixes[-1][0] * 10**12 * (1 + Fraction(5, 10**13))
    if is_huge or value < min(smallest, SMALLEST_DECIMAL):
        n, e = scientific(size, digits - 1)
        return n, f"{short_text(Fraction(n, 10 ** (digits - 1)))}e{e} {unit}"
    if value < smallest:
        return n, f"{short_text(value)} {unit}"
    for (scale, name), above in zip(prefixes, [*prefixes[1:], None], strict=True):
        value = size / scale
        places = max(digits - 1 - max(decade(value), 0), 0)
        n = half_even(value * 10**places)
        if above is None or n * scale < above[0] * 10**places:
            return n, f"{short_text(Fraction(n, 10**places))} {name}{unit}"
    raise AssertionError(size)


def printed_texts(kind: str, digits: int, x: float | Fraction, unit: str = "") -> set[str]:
    """The exact text of x, in `unit` if the kind takes one; two texts where x is all but at a threshold."""
    found = set()
    for moved in (Fraction(0), Fraction(-3, 10**14), Fraction(3, 10**14)):
        size = abs(Fraction(x)) * (1 + moved)
        if kind in TRIED:
            n, text = prefixed_text(kind, digits, size, unit or TRIED[kind][0])
        else:
            n, text = plain_text(kind, digits, size)
        found.add("-" + text if x < 0 and n else text)
    return found
