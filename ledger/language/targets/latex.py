r"""The mathematics of a formula for a book, in LaTeX that MathJax, KaTeX and MyST read alike.

Magnitude is `\lvert x\rvert`: a bare bar splits a table's cell, and two mean a norm.
"""

from __future__ import annotations

from ledger.language.expr import ATOM, Fragment, Spelling, Target, function, infix

_OPEN, _OR, _AND, _NOT, _COMPARE, _MOD, _ADD, _MUL, _POW, _FRACTION = 0, 5, 10, 15, 20, 25, 30, 40, 50, 60
_BRACKETS = r"\left({}\right)".format
_ESCAPED = {each: f"\\{each}" for each in "_%&#${}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def _escape(text: str) -> str:
    return "".join(_ESCAPED.get(each, each) for each in text)


def symbol(name: str) -> str:
    r"""Return a name as a symbol: one letter is italic, a word is upright.

    >>> print(symbol("loan.rate"))
    \mathrm{loan.rate}
    """
    return name if len(name) == 1 else rf"\mathrm{{{_escape(name)}}}"


def _literal(value: float | str) -> Fragment:
    """Return a text in upright letters, or a number, with a power of ten for its exponent."""
    if isinstance(value, str):
        return Fragment(rf"\text{{{_escape(value)}}}")
    digits, _, exponent = repr(value).removesuffix(".0").partition("e")
    if not exponent:
        return Fragment(digits)
    power = f"10^{{{int(exponent)}}}"
    return Fragment(power, _POW) if digits == "1" else Fragment(rf"{digits} \cdot {power}", _MUL)


def _cases(test: str, yes: str, no: str) -> str:
    return rf"\begin{{cases}}{yes} & {test} \\ {no} & \text{{otherwise}}\end{{cases}}"


LATEX = Target(
    "latex",
    {
        "add": infix(" + ", _ADD),
        "sub": infix(" - ", _ADD),
        "mul": infix(r" \cdot ", _MUL),
        "div": Spelling(lambda a, b: rf"\frac{{{a}}}{{{b}}}", _FRACTION, (0,)),
        "neg": Spelling(lambda a: f"-{a}", _ADD, (_MUL,)),
        "pow": Spelling(lambda a, b: f"{{{a}}}^{{{b}}}", _POW, (ATOM, 0)),
        "floordiv": Spelling(lambda a, b: rf"\left\lfloor \frac{{{a}}}{{{b}}} \right\rfloor"),
        "mod": Spelling(lambda a, b: rf"{a} \bmod {b}", _MOD, (_POW,)),
        "eq": infix(" = ", _COMPARE, right=_ADD),
        "ne": infix(r" \ne ", _COMPARE, right=_ADD),
        "lt": infix(" < ", _COMPARE, right=_ADD),
        "le": infix(r" \le ", _COMPARE, right=_ADD),
        "gt": infix(" > ", _COMPARE, right=_ADD),
        "ge": infix(r" \ge ", _COMPARE, right=_ADD),
        "same": infix(" = ", _COMPARE, right=_ADD),
        "in": Spelling(lambda a, *options: rf"{a} \in \{{{', '.join(options)}\}}", _COMPARE, (_ADD, 0)),
        "and": infix(r" \land ", _AND, right=_AND),
        "or": infix(r" \lor ", _OR, right=_OR),
        "not": Spelling(lambda a: rf"\lnot {a}", _NOT, (_COMPARE + 1,)),
        "if": Spelling(_cases, _OPEN),
        "min": function(r"\min", ", ", _BRACKETS),
        "max": function(r"\max", ", ", _BRACKETS),
        "abs": Spelling(lambda a: rf"\left\lvert {a} \right\rvert"),
        "floor": Spelling(lambda a: rf"\left\lfloor {a} \right\rfloor"),
        "ceil": Spelling(lambda a: rf"\left\lceil {a} \right\rceil"),
        "sqrt": Spelling(lambda a: rf"\sqrt{{{a}}}"),
        "log2": function(r"\log_2", ", ", _BRACKETS),
        "align_up": Spelling(lambda x, unit: rf"\left\lceil {x} \right\rceil_{{{unit}}}"),
        "align_down": Spelling(lambda x, unit: rf"\left\lfloor {x} \right\rfloor_{{{unit}}}"),
        # A quantity is the same in any unit; the rule of a printed number is no mathematics.
        "to": Spelling(lambda x, _unit: x, _FRACTION, (_FRACTION, 0)),
        "show": Spelling(lambda x, _rule: x),
        "join": Spelling(lambda *parts: r"\,".join(parts), _ADD),
    },
    _literal,
    _BRACKETS,
)
