"""Every mistake that an author can make, and the one error that tells it.

The cases stand in `cases/bad/*.txt`: edits of the project in `cases/bad/project`, and what is told of them.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ledger.cli import main
from ledger.errors import LedgerError
from ledger.project.build import build

ROOT = Path(__file__).parent.parent
BAD = Path(__file__).parent / "cases" / "bad"
#: Where an error is expected; it is no part of the file.
MARK = "‸"


@dataclass(frozen=True)
class Case:
    """One mistake: what is edited, how the build is called, what is told."""

    edits: tuple[tuple[str, tuple[str, ...]], ...]
    arguments: tuple[str, ...]
    told: str


def cases():
    """Return every case of every file as a parameter of its own name."""
    for file in sorted(BAD.glob("*.txt")):
        for text in re.split(r"^== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, *lines = text.rstrip("\n").split("\n")
            yield pytest.param(case(lines), id=f"{file.stem}: {name}")


def case(lines):
    """Return the case that `lines` describe."""
    edits: list[tuple[str, tuple[str, ...]]] = []
    arguments: tuple[str, ...] = ()
    told = []
    for line in lines:
        sign, rest = line[:1], line[2:]
        if sign in {"@", "x"}:
            edits.append((rest, () if sign == "@" else ("x",)))
        elif sign in {"-", "+"}:
            edits[-1] = (edits[-1][0], (*edits[-1][1], sign + rest))
        elif sign == "$":
            arguments = tuple(rest.split())
        elif sign == ">":
            told.append(rest)
    return Case(tuple(edits), arguments, "\n".join(told))


def project_at(folder):
    """Return `folder`, made the project that every case starts from."""
    shutil.copytree(BAD / "project", folder)
    shutil.copytree(ROOT / "templates", folder / "templates")
    return folder


def hunks(lines):
    """Yield what is replaced and what by, in the order of the file."""
    old: list[str] = []
    new: list[str] = []
    for line in lines:
        if line.startswith("-") and new:
            yield "\n".join(old), "\n".join(new)
            old, new = [], []
        (old if line.startswith("-") else new).append(line[1:])
    yield "\n".join(old), "\n".join(new)


def edit(root, file, lines):
    """Replace each `-` by its `+`, append a `+` alone, delete the file at `x`; return where marks stood."""
    path = root / file
    if lines == ("x",):
        path.unlink()
        return []
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    at = 0
    for old, new in hunks(lines):
        if old:
            at = text.index(old, at)
            text = text[:at] + new + text[at + len(old) :]
            at += len(new)
        else:
            text += new + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace(MARK, ""), encoding="utf-8")
    return places(file, text)


def places(file, text):
    """Return where each mark of `text` stands, as `file:line:column` in the text without marks."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        pieces = line.split(MARK)
        found += [f"{file}:{number}:{len(''.join(pieces[: i + 1])) + 1}" for i in range(len(pieces) - 1)]
    return found


def digest(folder):
    """Return what stands in a folder: every path with its bytes and its time."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder",
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
    }


def expected(told, marks):
    """Return `told` with a place for each mark, and the line that ends it."""
    for place in marks:
        told = told.replace(MARK, place, 1)
    count = sum(not line.startswith("  ") for line in told.split("\n"))
    return f"{told}\n{count} error{'s'[: count != 1]}, nothing written\n"


@pytest.mark.slow
@pytest.mark.parametrize("bad", list(cases()))
def test_mistake_is_told_once_at_its_place_and_nothing_is_written(bad, tmp_path, monkeypatch, capsys):
    root = project_at(tmp_path / "project")
    marks = [place for file, lines in bad.edits for place in edit(root, file, lines)]
    before = digest(root)
    monkeypatch.chdir(root)
    code = main(["build", *bad.arguments])
    out, err = capsys.readouterr()
    assert err == expected(bad.told, marks)
    assert (code, out, digest(root)) == (2, "", before)


GBK = "计算量".encode("gbk")


@pytest.mark.parametrize(
    ("file", "data", "told"),
    [
        (
            "reports/second.toml",
            b'title = "' + GBK + b'"\n',
            "reports/second.toml:1:10: byte 0xBC at offset 9 is not valid UTF-8\n  save the file as UTF-8",
        ),
        (
            "ledger.toml",
            b'\xef\xbb\xbflanguage = "zh"\nmodels = "' + GBK + b'"\n',
            "ledger.toml:2:11: byte 0xBC at offset 29 is not valid UTF-8\n  save the file as UTF-8",
        ),
        (
            "scenarios/machines.csv",
            b"id,name,dram_tb_s\nbig," + GBK + b",3\n",
            """scenarios/machines.csv:2:5: byte 0xBC at offset 22 is not valid UTF-8
  save the file as CSV UTF-8, or declare encoding = "gb18030" if a Chinese Excel wrote it""",
        ),
        (
            "scenarios/machines.csv",
            "id,name,dram_tb_s\nbig,Big,3\n".encode("utf-16"),
            """scenarios/machines.csv:1:1: byte 0xFF at offset 0 is not valid UTF-8
  save the file as CSV UTF-8, or declare encoding = "utf-16\"""",
        ),
        ("ledger.toml", b"a = " + b"9" * 5000, "ledger.toml: not TOML that can be read: …"),
        ("ledger.toml", b"a = " + b"[" * 5000 + b"]" * 5000, "ledger.toml: not TOML that can be read: …"),
        (
            "templates/table.txt.j2",
            GBK,
            "templates/table.txt.j2: template is not UTF-8: byte 0xBC at offset 0\n  save the file as UTF-8",
        ),
    ],
    ids=["report", "project", "table", "table of Excel", "digits", "depth", "template"],
)
def test_file_that_cannot_be_read_is_told(file, data, told, tmp_path, monkeypatch, capsys):
    root = project_at(tmp_path / "project")
    (root / file).write_bytes(data)
    before = digest(root)
    monkeypatch.chdir(root)
    code = main(["build"])
    out, err = capsys.readouterr()
    assert re.sub(r"(?<=can be read: ).*", "…", err) == expected(told, ())
    assert (code, out, digest(root)) == (2, "", before)


#: Mistakes in several files and reports, told in the order of their places.
MANY = """
@ reports/fifth.toml
+ models = ["work"]
+ [sheets.one]
+ columns = ["verdict"]
+ [views.one]
+ kind = "record"
+ sheet = "one"
+ columns = ["verdict"]
+ template = "‸recrod.md.j2"
@ reports/first.toml
- columns = ["flop", "ai", "bound"]
+ columns = ["flop", "‸aii", "bound"]
- set = { M = 1024 }
+ set = { ‸m = 1024, wait = ‸inf }
- options = { m = "M" }
+ options = { ‸m = "MM" }
@ reports/fourth.toml
+ [sheets.a]
+ rows = ‸7
@ reports/models/roofline.toml
- formula = "flop / reuse"
+ formula = "flop / (‸reuse + copy)"
- formula = "peak.rate / machine.bandwidth"
+ formula = "peak.rate / ‸machine.bandwith"
@ reports/models/work.toml
- display = "si 4"
+ display = "‸si"
@ reports/second.toml
- columns = ["label", "flop", "traffic"]
+ columns = ["label", "‸flops", "traffic"]
@ reports/third.toml
+ models = ["‸wrok"]
@ scenarios/machines.csv
- small,Small One,0.5
+ small,Small One,‸0x5
@ scenarios/shapes.csv
- b,乙,4096,4096
+ ‸A,乙,4096,4096
- c,丙,128,64
+ c,丙,‸-128,64
> ‸: no template 'recrod.md.j2'
>   did you mean 'record.md.j2'?
> ‸: unknown name 'aii'
>   did you mean 'ai'?
> ‸: 'm' is no input of this report
>   did you mean 'M'?
> ‸: 'wait' is a finite number, not inf
> ‸: option 'm' stands for 'MM', which is no input
>   did you mean 'M'?
> ‸: 7 should be a text or a list
> ‸: units differ: B and ms
>   a number with a unit is an input with that unit, not a literal
> ‸: table 'machines' has no field 'bandwith'
>   did you mean 'bandwidth'?
> ‸: display 'si': 'si' needs a number of digits from 1 to 9
>   write 'si 2'
> ‸: unknown name 'flops'
>   did you mean 'flop'?
> ‸: unknown model 'wrok'
>   did you mean 'work'?
> ‸: '0x5' is not a number
>   write it in decimal: 5
> ‸: keys 'a' and 'A' are one key to a spreadsheet, lines 2 and 3
>   each row needs a key of its own
> ‸: '-128' is below the minimum 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_all_mistakes_of_a_run_are_told_at_once_and_always_alike(seed, tmp_path):
    many = case(MANY.strip().split("\n"))
    root = project_at(tmp_path / "project")
    marks = [place for file, lines in many.edits for place in edit(root, file, lines)]
    before = digest(root)
    run = subprocess.run(
        [sys.executable, "-m", "ledger", "build"],
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.stderr == expected(many.told, marks)
    assert (run.returncode, run.stdout, digest(root)) == (2, "", before)


def positions(count):
    """Return some characters of the project's declarations and tables, the same on every run."""
    files = sorted(
        path.relative_to(BAD / "project")
        for path in (BAD / "project").rglob("*")
        if path.suffix in {".toml", ".csv"}
    )
    all_of_them = [
        (file, at)
        for file in files
        for at in range(len((BAD / "project" / file).read_text(encoding="utf-8")))
    ]
    return random.Random(14).sample(all_of_them, count)  # noqa: S311  # any sample will do


@pytest.mark.slow
def test_lost_character_never_ends_in_a_traceback(tmp_path):
    """Each of a sample of characters is deleted; the build works, or tells mistakes that all have a place."""
    root = project_at(tmp_path / "project")
    for file, at in positions(int(os.environ.get("LEDGER_RANDOM", "120"))):
        path = root / file
        text = path.read_text(encoding="utf-8")
        path.write_text(text[:at] + text[at + 1 :], encoding="utf-8")
        try:
            build(root, [], {})
        except LedgerError as error:
            for problem in error.problems:
                assert problem.place, (file, at, str(problem))
                assert problem.place.line, (file, at, str(problem))
        finally:
            path.write_text(text, encoding="utf-8")
