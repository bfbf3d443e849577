"""Books and workbooks changed at random: every command ends, soon, in little memory, without a traceback.

    python tests/fuzz.py [SECONDS [SEED]]

Each round changes one kind of file of a small book and runs a few commands.  What went wrong is printed with
its seed, which makes it again: python tests/fuzz.py 0 SEED
"""

from __future__ import annotations

import io
import random
import resource
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from projects import ledger, write_book

MOST_S, MOST_BYTES = 20, 3 << 29
NEVER = ("a mistake of Tile Ledger", "not enough memory", "Traceback")
WORKBOOK = "reports/first/first.xlsx"
BUILDS = (("check", "--full"), ("build",))
CALC = ("calc", "first", "--machine", "two")
TOML = (
    "[", "]", "[[", "{", "}", '"', "'''", "=", "= {}", "= []", "= 1e400", "= -0", "= nan", "= true",
    "= 1979-05-27", "kind = 'integer'", "rows = ['shapes', 'machines']", "set = { m = [1, 2] }",
    "where = '1 / 0 > 0'", "[sheets.x]", "[views.x]", "[[claims]]", "[charts.x]", "[lookups]",
    "min = 5", "optional = true", "#", "\\u0000", "\n", "columns = []", "row = 'a'", "unit = 'm/s'",
    "display = 'fixed 400'", "default = '= m'", "key = ['a', 'b']",
)  # fmt: skip
CSV = (
    ",", '"', '""', "\n", "\r", "\r\n", ";", "\t", "id", "1e999", "-0", "NaN", "1,5", "1 000", "０",
    "\ufeff", "\u202e", "=1+1", "𝒳", "a" * 300, "\u0000", "# x", "1e-310", "9" * 400, "'",
)  # fmt: skip
FORMULA = (
    "(", ")", "**", "%", "//", "/ 0", "+", "- ", "not ", " and ", "if", " else ", "m", "time",
    "machine.speed", "'a'", "f'{m}'", "f'{time:fixed 1}'", "1e308", "sqrt(", "log2(", "ceil(",
    "to(m, 's')", "min(m, k)", "max(", "round(m, 9)", "0.1", "== 'a'", "x", "{", "lambda: 0",
    "m if m > 1 else", "[1]", "m.m", "** 400", "((((((((((", "9" * 30,
)  # fmt: skip
CHAPTER = (
    "<!-- ledger:begin first/grid -->", "<!-- ledger:end first/grid -->",
    "<!-- ledger:value first/one/time -->", "<!-- ledger:end -->", "<!--", "-->", "```", "~~~",
    "    ", "> ", "- ", "| a |", "{/* ledger:begin first/grid */}", "as=html", "sum=000", "<div>",
    "\\", "\r", "\u2028", "<!-- ledger:x -->", "first/steps", "`", "$", "\n\n",
)  # fmt: skip
TEMPLATE = (
    "{{", "}}", "{%", "%}", "{% for x in view.rows %}", "{% endfor %}", "{% if %}", "{{ view }}",
    "{{ view.rows }}", "{{ x.y.z }}", "{% set x = range(99999) %}", "{{ 'x' * 99999999 }}",
    "{{ record }}", "| join", "| center(9999999)", "{% include 'said.txt.j2' %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{#", "{{ ''.__class__ }}",
    "{{ 9 ** 9 ** 9 }}", "{% raw %}", "{{ cells.rows[9] }}", "{{ 1 / 0 }}",
)  # fmt: skip
XML = (
    "<", ">", "/>", "<c>", "</c>", '<c r="A1" t="s"><v>9</v></c>', "<f>", "</f>", "<v>", "1e999",
    "nan", "-1", "A1:XFD1048576", "SUM(A:XFD)", "#REF!", "_x0000_", "&#0;", "&amp;",
    't="shared" si="0"', 'r="XFD1048577"', "<row>", '<row r="7">', "<r><r><r>", "'", "]]>",
    "<!DOCTYPE x>", "xml:space", "[1]x!A1", "IF(" * 99, "+1" * 999, "", "\u0001", '"',
)  # fmt: skip
#: Of each kind: the files that are changed, what is put into them, the commands.
KINDS = {
    "toml": (("ledger.toml", "reports/*.toml", "reports/models/*.toml"), TOML, (*BUILDS, CALC)),
    "csv": (("scenarios/*.csv",), CSV, (*BUILDS, CALC)),
    "formula": (("reports/models/*.toml",), FORMULA, (*BUILDS, CALC)),
    "chapter": (("chapters/*.md",), CHAPTER, BUILDS),
    "template": (("templates/said.txt.j2", "templates/table.md.j2"), TEMPLATE, (("build",),)),
    "workbook": (
        (WORKBOOK,),
        XML,
        (
            ("audit", WORKBOOK),
            ("review", WORKBOOK),
            ("diff", "clean.xlsx", WORKBOOK),
            ("diff", "--text", WORKBOOK),
        ),
    ),
}


def changed(text, tokens, rng):
    """Return a text with a few pieces taken out, doubled, moved or put in."""
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice([0, 1, 1, 3, 10, 60, 400]))
        piece = rng.choice(tokens)
        match rng.randrange(6):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:end] + text[at:end] * rng.choice([1, 1, 2, 50]) + text[end:]
            case 2:
                to = rng.randrange(len(text) + 1)
                text = text[:to] + text[at:end] + text[to:]
            case 3:
                text = text[:at] + piece + text[end:]
            case _:
                text = text[:at] + piece * rng.choice([1, 1, 1, 2, 40]) + text[at:]
    return text


def changed_workbook(data, tokens, rng):
    """Return a workbook with one of its parts changed so."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = rng.choice([*names, *(name for name in names if "sheet" in name)])
        for name in names:
            part = old.read(name)
            if name == chosen:
                part = changed(part.decode(), tokens, rng).encode("utf-8", "replace")
            if name != chosen or rng.random() > 0.02:
                new.writestr(name, part)
    return out.getvalue()


def spoil(book, kind, rng):
    """Change a file of a book, and return the commands to run."""
    patterns, tokens, commands = KINDS[kind]
    path = rng.choice(sorted(each for pattern in patterns for each in book.glob(pattern)))
    if path.suffix == ".xlsx":
        path.write_bytes(changed_workbook(path.read_bytes(), tokens, rng))
    else:
        text = changed(path.read_bytes().decode(), tokens, rng)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return commands


def round_of(seed, base, folder):
    """Return what a round does that no command should do; the seed says which kind of file it changes."""
    rng = random.Random(seed)  # noqa: S311  # the same round each time
    kind = sorted(KINDS)[seed % len(KINDS)]
    book = shutil.copytree(base, folder)
    wrong = []
    try:
        for command in spoil(book, kind, rng):
            start = time.process_time()
            ran = ledger(book, *command)
            seconds = time.process_time() - start
            if (
                ran.code not in (0, 1, 2)
                or "a mistake of Tile Ledger" in ran.err
                or "not enough memory" in ran.err
            ):
                wrong.append((seed, kind, command, ran.code, ran.err[-400:]))
            if seconds > MOST_S:
                wrong.append((seed, kind, command, f"{seconds:.0f} s"))
    finally:
        shutil.rmtree(book)
    return wrong


def made_base(folder):
    """Return a book that is built, with a copy of its workbook."""
    book = write_book(folder)
    shutil.copy(book / WORKBOOK, book / "clean.xlsx")
    return book


def main():
    """Run rounds until the time is over, or the one of a seed, and print what went wrong."""
    seconds, seed = (*map(float, sys.argv[1:]), *(600.0, 0.0)[len(sys.argv) - 1 :])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    end, number, found = time.monotonic() + seconds, int(seed), 0
    with tempfile.TemporaryDirectory() as name:
        base = made_base(Path(name) / "base")
        while True:
            for wrong in round_of(number, base, Path(name) / "book"):
                found += 1
                print(*wrong, flush=True)  # noqa: T201  # a program, too
            number += 1
            if time.monotonic() > end:
                break
    print(f"{number - int(seed)} rounds from seed {int(seed)}: {found} went wrong")  # noqa: T201
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
