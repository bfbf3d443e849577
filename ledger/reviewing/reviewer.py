"""`review`: a workbook read, told in a form, and its inputs written into their CSVs when asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.answer import Answer
from ledger.edition import name_of
from ledger.publish import content, locked, publish
from ledger.reviewing.review import Review, review, to_write
from ledger.reviewing.reviewtold import review_json, review_markdown, review_text
from ledger.root import PROJECT_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TEXT, MARKDOWN, JSON = "text", "md", "json"
_FORMS: Mapping[str, Callable[[Review], str]] = {
    TEXT: review_text, MARKDOWN: review_markdown, JSON: review_json,
}  # fmt: skip


def reviewed(root: Path, workbook: Path, form: str) -> Answer:
    """Return what was changed in a workbook; nothing is written."""
    found = review(root, str(workbook), content(workbook))
    return Answer(_FORMS[form](found), not found.is_empty())


def applied(root: Path, workbook: Path, form: str) -> Answer:
    """Write the changed inputs of a workbook into their CSVs, all or none, and return what was changed."""
    with locked(root / PROJECT_FILE):
        found = review(root, str(workbook), content(workbook))
        files = to_write(found)
        became = publish(files, {path: path.read_bytes() for path in files})
    written = [f"{what:9}  {name_of(root, path)}" for path, what in sorted(became.items())]
    told = (
        [*written, "now: tile-ledger build"]
        if written
        else ["no changed input stands in a CSV: nothing written"]
    )
    done = replace(found, files={})  # nothing is left to apply
    return Answer(_FORMS[form](done), found=False, talk="\n".join(told))
