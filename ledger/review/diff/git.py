"""What git keeps, the files of a revision and of the working tree, and what it does with workbooks.

It shows them as lines, and compares them in its difftool.  The commands for that name this machine's Python,
so they are set in the repository's own configuration alone, which is never committed; `.gitattributes`,
which is, names the files that they are for.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.declarations.files import content
from ledger.display.answer import Answer
from ledger.errors import LedgerError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIX = ".xlsx"
_FILE_MODES = ("100644 ", "100755 ")
# A spreadsheet that has a workbook open keeps its lock beside it, under the workbook's name.
_LOCK = "~$"
_ENABLE, _DISABLE = "enable", "disable"
_DRIVER = "tile-ledger"
_HINTS = {
    "not a git repository": "run it in a git repository, or name two workbooks",
    "dubious ownership": "git says how to trust it: git status",
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository: the folder of its working tree, and the folder in which paths are named."""

    top: Path
    here: Path


def repository(here: Path) -> Repository:
    """Return the repository that a folder lies in; raise a LedgerError if there is none."""
    top = _git(here, "rev-parse", "--show-toplevel").decode().rstrip("\n")
    return Repository(Path(top).resolve(), here.resolve())


def commit(inside: Repository, revision: str) -> str:
    """Return the commit that a revision means; raise a LedgerError if it means none."""
    if revision.startswith("-"):
        raise _refused(f"{revision!r} is not a revision: it begins with a dash")
    done = _run(inside.top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if done.returncode:
        raise _refused(f"unknown revision {revision!r}", "git log --oneline lists them; paths stand after --")
    return done.stdout.decode().strip()


def committed(inside: Repository, commit_: str, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the workbooks of a commit under some paths, by name; a link or a submodule is none."""
    listed = _git(inside.top, "ls-tree", "-r", "-z", commit_, "--", *_from_top(inside, paths))
    found = {}
    for about, _, name in sorted((line.partition("\t") for line in _texts(listed)), key=lambda each: each[2]):
        if _is_workbook(name) and about.startswith(_FILE_MODES):
            found[name] = _git(inside.top, "cat-file", "blob", about.split(" ")[2])
    return found


def present(inside: Repository, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the same of the working tree, with files that git does not know yet but would not ignore."""
    options = ("--cached", "--others", "--exclude-standard", "-z")
    listed = _git(inside.top, "ls-files", *options, "--", *_from_top(inside, paths))
    files = {name: inside.top / name for name in sorted({*_texts(listed)}) if _is_workbook(name)}
    files = {name: path for name, path in files.items() if path.is_file() and not path.is_symlink()}
    return {name: content(path, path.name) for name, path in files.items()}


def switched(here: Path, switch: str | None) -> Answer:
    """Return the settings for workbooks: set by "enable", taken out by "disable", without a switch as is."""
    inside = repository(here)
    before, wanted = _settings(inside), _wanted()
    became = dict.fromkeys(wanted, "unchanged" if switch else "is set")
    for key, value in wanted.items():
        if switch == _ENABLE and before.get(key) != value:
            _git(inside.top, "config", "--local", "--replace-all", key, value)
            became[key] = "set"
        elif switch == _DISABLE and key in before:
            _git(inside.top, "config", "--local", "--unset-all", key)
            became[key] = "taken out"
    after = _settings(inside)
    lines = []
    for key, word in became.items():
        known = word if key in after or word == "taken out" else "not set"
        lines.append(f"{known:9}  {key}" + (f" = {after[key]}" if key in after else ""))
    attribute = _texts(_git(inside.top, "check-attr", "-z", "diff", "--", "any.xlsx"))[2]
    line = f"add the line: *.xlsx diff={_DRIVER}"
    talk = "" if attribute == _DRIVER else f".gitattributes does not say which files it is for; {line}"
    return Answer("\n".join(lines), found=False, talk=talk)


def _settings(inside: Repository) -> dict[str, str]:
    """Return what the repository's own configuration sets in the sections for workbooks."""
    sections = rf"^(diff|difftool)\.{_DRIVER}\."
    done = _run(inside.top, "config", "--local", "-z", "--get-regexp", sections)
    lines = (line.partition("\n") for line in _texts(done.stdout))
    return {key: value for key, _, value in lines if key}


def _wanted() -> dict[str, str]:
    """Return the settings: git runs the commands by a shell, from the top of the working tree.

    `-P` keeps Python from running a `ledger` that lies there, which may be a stranger's.
    """
    package = shlex.quote(str(Path(__file__).resolve().parents[3]))
    program = f"PYTHONPATH={package} {shlex.quote(sys.executable)} -P -m ledger diff"
    return {
        f"diff.{_DRIVER}.textconv": f"{program} --text",
        f"diff.{_DRIVER}.xfuncname": r"^\[.*\]$",
        f"difftool.{_DRIVER}.cmd": f'{program} "$LOCAL" "$REMOTE"',
    }


def _texts(output: bytes) -> list[str]:
    """Return the texts of git's output with option -z; a name need not be UTF-8."""
    return output.decode("utf-8", "surrogateescape").split("\0")


def _is_workbook(name: str) -> bool:
    return name.lower().endswith(SUFFIX) and not Path(name).name.startswith(_LOCK)


def _from_top(inside: Repository, paths: Sequence[str]) -> list[str]:
    """Return paths as they are called in the repository: `ls-tree` knows no `..`."""
    found = []
    for path in paths:
        full = Path(os.path.abspath(inside.here / path))  # noqa: PTH100  # a link is a file of its own in git
        if not full.is_relative_to(inside.top):
            raise _refused(f"{path!r} is outside the repository")
        # An empty path is refused, and a point is no path in a commit.
        found += [full.relative_to(inside.top).as_posix()] if full != inside.top else []
    return found


def _git(folder: Path, *arguments: str) -> bytes:
    done = _run(folder, *arguments)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        what = lines[0].removeprefix("fatal: ").removeprefix("error: ")
        raise _refused(f"git: {what}", next((hint for sign, hint in _HINTS.items() if sign in what), ""))
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git without a shell; its messages are read, so they are asked for in English."""
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    command = ("git", "--literal-pathspecs", *arguments)
    try:
        return subprocess.run(  # noqa: S603  # revisions are checked, and paths stand after --
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise _refused("git is missing", "install git, or name two workbooks") from None


def _refused(what: str, hint: str = "") -> LedgerError:
    return LedgerError(Problem(what, hint=hint))
