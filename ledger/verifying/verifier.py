"""`verify`: a workbook file recalculated by an engine, what it finds told in a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.answer import Answer
from ledger.errors import LedgerError, Place, Problem
from ledger.verifying.verify import verified
from ledger.verifying.verifytold import verified_json, verified_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ledger.verifying.verify import Verification

TEXT, JSON = "text", "json"
_FORMS: Mapping[str, Callable[[Verification], str]] = {TEXT: verified_text, JSON: verified_json}


def answer(workbook: Path, engine: str, form: str) -> Answer:
    """Return what an engine says of a workbook; nothing is written."""
    try:
        data = workbook.read_bytes()
    except OSError as error:
        raise LedgerError(Problem(f"cannot be read: {error.strerror}", Place(str(workbook)))) from None
    found = verified(str(workbook), data, engine)
    return Answer(_FORMS[form](found), not found.agrees)
