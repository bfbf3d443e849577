"""Formulas that Excel, LibreOffice and IronCalc compute alike; one spelling per word.

Measured: `-2^2` is 4 in spreadsheets and `2^3^2` is 64 in one and 512 in another, so powers and minus
signs always have brackets; CEILING(x,1) rounds a negative number up in all three; LOG(2^29,2) is not 29 in
IronCalc, so a logarithm that is whole is written as the whole number.
"""

from __future__ import annotations

import math
import re

from ledger.language.expr import ATOM, Fragment, Spelling, Target, Unsupported, function, infix
from ledger.values import EXACT, number_text

_COMPARE, _JOIN, _ADD, _MUL = 10, 20, 30, 40
_LONGEST = 15
_HALF_WORD = 2**27
#: Excel takes 255 UTF-16 units of text in a formula, and a character is two of them at most.
_LONGEST_TEXT = 127
_POSITIVE = re.compile(r"[0-9.]*[1-9][0-9.]*(E-?[0-9]+)?")
#: IronCalc reads `-(a*b)` wrongly in some places; a reference or a number is safe.
_SAFE_TO_NEGATE = re.compile(r"[$A-Z0-9.]+")


def _number(value: float) -> Fragment:
    """Return a literal of at most 15 digits, or powers of two that make up the same double."""
    digits = number_text(value).upper().replace("E+", "E")
    if len(re.sub(r"E.*|[-.]", "", digits).strip("0")) <= _LONGEST:
        return Fragment(digits)
    mantissa, exponent = math.frexp(value)
    whole, shift = int(mantissa * EXACT), exponent - 53
    while whole % 2 == 0:
        whole, shift = whole // 2, shift + 1
    high, low = divmod(whole, _HALF_WORD)
    text = f"({high}*{_HALF_WORD}+{low})" if high else f"{low}"
    scale = f"*2^{shift}" if shift >= 0 else f"/2^{-shift}"
    return Fragment(text + scale, _MUL) if shift else Fragment(text)


def _literal(value: float | str) -> Fragment:
    return _text(value) if isinstance(value, str) else _number(value)


def _text(value: str) -> Fragment:
    """Return a text in quotes, in joined pieces where it is longer than Excel takes in a formula."""
    starts = range(0, max(len(value), 1), _LONGEST_TEXT)
    parts = ['"' + value[i : i + _LONGEST_TEXT].replace('"', '""') + '"' for i in starts]
    return Fragment("&".join(parts), ATOM if len(parts) == 1 else _JOIN)


def _negate(text: str) -> str:
    """Return a minus sign in brackets of its own, as a difference where an engine reads the sign wrongly."""
    return f"(-{text})" if _SAFE_TO_NEGATE.fullmatch(text) else f"(0-{text})"


def _power(base: str, exponent: str) -> str:
    """Return a power that is #NUM! for 0^0 and for a fractional power below 0, which engines differ on."""
    if _POSITIVE.fullmatch(base) or re.fullmatch(r"[1-9][0-9]*", exponent):
        return f"({base}^{exponent})"
    # IronCalc takes 1E-17 for equal to 0; SIGN does not.
    of_zero = f"IF(SIGN({exponent})<0,1/0,IF(SIGN({exponent})=0,SQRT(-1),0))"
    of_negative = f"IF({exponent}=INT({exponent}),{base}^{exponent},SQRT(-1))"
    return f"IF(SIGN({base})=0,{of_zero},IF(SIGN({base})<0,{of_negative},{base}^{exponent}))"


def _log2(x: str) -> str:
    """Return a logarithm that is the whole number where 2 to its power is exactly `x`."""
    rounded = f"ROUND(LOG({x},2),0)"
    return f"IF({x}/2^{rounded}=1,{rounded},LOG({x},2))"


#: The characters of a formula, and the rows of a sheet, that a spreadsheet takes.
LONGEST, MOST_ROWS = 8_192, 1_048_576

EXCEL = Target(
    "excel",
    {
        "add": infix("+", _ADD),
        "sub": infix("-", _ADD),
        "mul": infix("*", _MUL),
        "div": infix("/", _MUL),
        "neg": Spelling(_negate, needs=(ATOM,)),
        "pow": Spelling(_power, needs=(ATOM,)),
        "eq": infix("=", _COMPARE, right=_JOIN),
        "ne": infix("<>", _COMPARE, right=_JOIN),
        "lt": infix("<", _COMPARE, right=_JOIN),
        "le": infix("<=", _COMPARE, right=_JOIN),
        "gt": infix(">", _COMPARE, right=_JOIN),
        "ge": infix(">=", _COMPARE, right=_JOIN),
        "same": function("EXACT"),
        "and": Spelling(lambda a, b: f"IF({a},{b},FALSE)"),
        "or": Spelling(lambda a, b: f"IF({a},TRUE,{b})"),
        "not": function("NOT"),
        "if": function("IF"),
        "min": function("MIN"),
        "max": function("MAX"),
        "abs": function("ABS"),
        "floor": function("INT"),
        "ceil": Spelling(lambda a: f"CEILING({a},1)"),
        "sqrt": function("SQRT"),
        "log2": Spelling(_log2, needs=(_MUL,)),
        "to": Unsupported("a conversion is a factor before it gets here"),
        "show": Unsupported("a printed number has cells of its own"),
        "join": infix("&", _JOIN, right=_JOIN),
    },
    _literal,
)
