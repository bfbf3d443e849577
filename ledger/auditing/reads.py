"""What the formula of a cell reads, whatever is in it: cells, names, functions, other files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.returned.cellformula import UnreadableError, column_number, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.returned.cellformula import Reference, Token

_OWN_ROW = re.compile(
    r"""
    "(?:[^"]|"")*" | '(?:[^']|'')*'
    | (?<![\w.!:$])(\$?[A-Za-z]{1,3}\$?)([0-9]+)(?![\w.(:])
    """,
    re.VERBOSE,
)
_TEXT = re.compile(r"""('(?:[^']|'')*')|"(?:[^"]|"")*\"""")
_QUOTED_SHEET = re.compile(r"'((?:[^']|'')*)'!")
_OF_A_FILE = re.compile(r"[\[\\/]")
_PLAIN_SHEET = re.compile(r"(\[[^\[\]]+\][\w.]*)!")
_EXCHANGE = re.compile(r"[\w.]+\|\s*'?[^'!]*'?![^,)]*")
_WHOLE_COLUMN = re.compile(r"\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}(?![\w(])")
_LINK = re.compile(r'(?i)\bHYPERLINK\(\s*("?)([^"&,)]*)')
_SHORT = 3


@dataclass(frozen=True, slots=True)
class Reads:
    """What a formula reads; `links` are other files, `exchanges` other programs, `targets` of hyperlinks."""

    references: tuple[Reference, ...]
    names: tuple[str, ...]
    functions: tuple[str, ...]
    errors: tuple[str, ...]
    links: tuple[str, ...] = ()
    exchanges: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


def reads(formula: str) -> Reads:
    """Return what a formula reads; what stands in a text literal is no reference.

    >>> reads('"A1"&B2').references[0].column
    2
    """
    pieces = list(_pieces(formula))
    without = _TEXT.sub(lambda found: found[1] or '""', formula)
    exchanges = tuple(_EXCHANGE.findall(without)) if "|" in without else ()
    return Reads(
        tuple(piece.reference for piece in pieces if piece.reference),
        () if exchanges else tuple(_names(pieces, without)),
        tuple(piece.text.upper() for piece in pieces if piece.kind == "function"),
        tuple(piece.text for piece in pieces if piece.kind == "error"),
        () if exchanges else tuple(_links(without)),
        exchanges,
        tuple(quote + target for quote, target in _LINK.findall(formula)),
    )


def _pieces(formula: str) -> Iterator[Token]:
    """Yield the pieces of a formula; what is none, such as an array's brace, is passed over."""
    while formula:
        try:
            yield from tokens(formula)
        except UnreadableError as error:
            formula = str(error)[1:]
        else:
            return


def _links(formula: str) -> Iterator[str]:
    """Yield the sheets of other files: none of ours can have a bracket or a slash in its title."""
    yield from _PLAIN_SHEET.findall(formula)
    yield from (found[0][:-1] for found in _QUOTED_SHEET.finditer(formula) if _OF_A_FILE.search(found[1]))


def _names(pieces: list[Token], formula: str) -> Iterator[str]:
    whole = _WHOLE_COLUMN.search(formula)
    for piece in pieces:
        plain = piece.text.rpartition("!")[2]
        if piece.kind == "name" and not (whole and len(plain) <= _SHORT):
            yield piece.text


def shape(formula: str, row: int) -> str:
    """Return a formula with its own row left out, so that those of a column can be compared.

    >>> shape("$A5+B$1", 5) == shape("$A6+B$1", 6)
    True
    """
    own = str(row)
    return _OWN_ROW.sub(lambda found: f"{found[1]}\0" if found[2] == own else found[0], formula)


def beside(formula: str) -> Iterator[tuple[int, int]]:
    """Yield row and column of each single cell of its own sheet that a formula reads, six times faster.

    >>> list(beside('INDEX(x!$B$1:$B$9,$C$4)&"D5"'))
    [(4, 3)]
    """
    for found in _OWN_ROW.finditer(formula):
        if found[1]:
            yield int(found[2]), column_number(found[1].replace("$", ""))
