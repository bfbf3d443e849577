"""`audit`: a workbook read, and what is wrong with it told in a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.answer import Answer
from ledger.auditing.audit import audit
from ledger.auditing.audittold import audit_json, audit_text
from ledger.publish import content

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ledger.auditing.audit import Audited

TEXT, JSON = "text", "json"
_FORMS: Mapping[str, Callable[[Audited], str]] = {TEXT: audit_text, JSON: audit_json}


def answer(workbook: Path, form: str) -> Answer:
    """Return what is wrong with a workbook; nothing is written."""
    found = audit(str(workbook), content(workbook))
    return Answer(_FORMS[form](found), bool(found.findings))
