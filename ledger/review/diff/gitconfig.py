"""What git does with workbooks in one repository: shows them as lines, compares them in its difftool.

The commands name this machine's Python, so they stand in the repository's own configuration alone, which is
never committed; `.gitattributes`, which is, says which files they are for.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.display.answer import Answer
from ledger.review.diff import git

if TYPE_CHECKING:
    from ledger.review.diff.git import Repository

ENABLE, DISABLE = "enable", "disable"
DRIVER = "tile-ledger"
ATTRIBUTE = f"*.xlsx diff={DRIVER}"
_SECTIONS = rf"^(diff|difftool)\.{DRIVER}\."


def switched(here: Path, switch: str | None) -> Answer:
    """Return what is set after setting it or taking it out, or as it is if `switch` is None."""
    inside = git.repository(here)
    before, wanted = git.settings(inside, _SECTIONS), _wanted()
    became = dict.fromkeys(wanted, "unchanged" if switch else "is set")
    if switch == ENABLE:
        differ = {key: text for key, text in wanted.items() if before.get(key) != text}
        git.set_(inside, differ)
        became.update(dict.fromkeys(differ, "set"))
    elif switch == DISABLE:
        there = [key for key in wanted if key in before]
        git.unset(inside, there)
        became.update(dict.fromkeys(there, "taken out"))
    after = git.settings(inside, _SECTIONS)
    lines = (_line(key, became[key], after.get(key)) for key in wanted)
    return Answer("\n".join(lines), found=False, talk=_talk(inside))


def _wanted() -> dict[str, str]:
    """Return the settings: git runs the commands by a shell, from the top of the working tree.

    `-P` keeps Python from running a `ledger` that lies there, which may be a stranger's.
    """
    package = shlex.quote(str(Path(__file__).resolve().parents[3]))
    program = f"PYTHONPATH={package} {shlex.quote(sys.executable)} -P -m ledger diff"
    return {
        f"diff.{DRIVER}.textconv": f"{program} --text",
        f"diff.{DRIVER}.xfuncname": r"^\[.*\]$",
        f"difftool.{DRIVER}.cmd": f'{program} "$LOCAL" "$REMOTE"',
    }


def _line(key: str, became: str, value: str | None) -> str:
    if value is None:
        return f"{became if became == 'taken out' else 'not set':9}  {key}"
    return f"{became:9}  {key} = {value}"


def _talk(inside: Repository) -> str:
    if git.attribute(inside, "diff", "any.xlsx") == DRIVER:
        return ""
    return f".gitattributes does not say which files it is for; add the line: {ATTRIBUTE}"
