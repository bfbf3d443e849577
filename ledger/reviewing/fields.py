"""Single fields of a CSV replaced in its bytes; everything else stays as its author wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Problem
from ledger.scenario import place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.scenario import Scenario

_NEEDS_QUOTES = re.compile(r'[,"\r\n]|\A\s|\s\Z')
_BYTE_ORDER = "\ufeff"


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """What a field becomes: the row (from 0), the header, the new text."""

    row: int
    header: str
    text: str


def edited(scenario: Scenario, data: bytes, edits: Iterable[FieldEdit]) -> bytes:
    """Return the bytes of a scenario's file with fields replaced, their quotes and blanks kept.

    `data` are the bytes that it was read from; raise a LedgerError if its encoding does not give them back.
    """
    text = _text(scenario, data)
    shift = len(_BYTE_ORDER) if text.startswith(_BYTE_ORDER) else 0
    found = []
    for edit in edits:
        cell = scenario.csv.cell(scenario.starts[edit.row], scenario.columns[edit.header])
        found.append((cell.start() + shift, cell.end() + shift, _written(cell, edit.text)))
    for start, end, new in sorted(found, reverse=True):
        text = text[:start] + new + text[end:]
    try:
        return text.encode(scenario.source.encoding)
    except UnicodeEncodeError as error:
        what = f"{error.object[error.start]!r} cannot be written as {scenario.source.encoding}"
        raise LedgerError(Problem(what, place(scenario, 0, next(iter(scenario.columns))))) from None


def _text(scenario: Scenario, data: bytes) -> str:
    encoding = scenario.source.encoding
    text = data.decode(encoding)
    if text.removeprefix(_BYTE_ORDER) != scenario.csv.text or text.encode(encoding) != data:
        what = f"cannot be edited in place: its bytes are not those that {encoding} gives"
        raise LedgerError(Problem(what, place(scenario, 0, next(iter(scenario.columns)))))
    return text


def _written(cell: re.Match[str], text: str) -> str:
    """Return a field as its author would write it: in quotes where it was, or where it must be."""
    doubled = text.replace('"', '""')
    if cell["quoted"] is not None:
        return f'{cell["blank"]}"{doubled}"{cell["after"]}'
    plain = cell["plain"]
    before = plain[: len(plain) - len(plain.lstrip())]
    after = plain[len(plain.rstrip()) :] if plain.strip() else ""
    inner = f'"{doubled}"' if _NEEDS_QUOTES.search(text) else text
    # A quote after a blank would be a part of the text.
    return inner if inner.startswith('"') else f"{before}{inner}{after}"
