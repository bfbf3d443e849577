"""Measure whether time grows with the number of mistakes, edits, blocks and names, and not with its square.

    python benchmarks/linear.py [NAME…]

CPU seconds of whole processes for n and 10 n of each, without what a command takes that has nothing to do;
exit code 1 if ten times as many take more than 12 times as long.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 12.0
SMALL = 100
#: A tenth of what is measured cannot be told from nothing below this.
LEAST_S = 0.05
REPORT = """
[tables.rows.fields]
a = {}
b = {}
[columns.c]
formula = "a * b"
[sheets.s]
rows = "rows"
[views.v]
sheet = "s"
columns = ["a", "b", "c"]
"""
LOOKUP = """
[tables.parts.fields]
price = { kind = "text" }
[tables.prices.fields]
eur = {}
[lookups]
price = { table = "prices" }
[columns.cost]
formula = "2 * price.eur"
[sheets.s]
rows = "parts"
[views.v]
sheet = "s"
columns = ["cost"]
"""
ONE = """
[inputs]
x = { default = 1 }
[sheets.one]
[views.one]
kind = "record"
sheet = "one"
columns = ["c0"]
"""

Command = Sequence[str]


def write(root: Path, files: dict[str, str]) -> None:
    """Write the files of a project."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def run(root: Path, *arguments: str) -> float:
    """Return the CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "ledger", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def table(count: int, a: str = "{0}", b: str = "{0}", id_: str = "r{0}") -> str:
    """Return the CSV of a table, each cell as it is spelled for the number of its row."""
    rows = "".join(f"{id_},{a},{b}\n".format(number) for number in range(count))
    return f"id,a,b\n{rows}"


def rows(root: Path, count: int) -> None:
    """Write a project of so many rows."""
    write(root, {"ledger.toml": "", "reports/r.toml": REPORT, "scenarios/rows.csv": table(count)})


def wrong_keys(root: Path, count: int) -> Command:
    """Every key of a table is in another one with another sign."""
    parts = "".join(f"p{number},item_{number:06}\n" for number in range(count))
    prices = "".join(f"element-{number:06},{number}\n" for number in range(count))
    files = {"scenarios/parts.csv": f"id,price\n{parts}", "scenarios/prices.csv": f"id,eur\n{prices}"}
    write(root, {"ledger.toml": "", "reports/r.toml": LOOKUP, **files})
    return ("build",)


def wrong_cells(root: Path, count: int) -> Command:
    """Every number of a field is a word."""
    rows(root, count)
    write(root, {"scenarios/rows.csv": table(count, a="x{0}")})
    return ("build",)


def same_ids(root: Path, count: int) -> Command:
    """All rows have one id."""
    rows(root, count)
    write(root, {"scenarios/rows.csv": table(count, id_="same")})
    return ("build",)


def unknown_columns(root: Path, count: int) -> Command:
    """Every column of a CSV but three is one that nothing declares."""
    rows(root, 1)
    more = "".join(f",q{number}" for number in range(count))
    write(root, {"scenarios/rows.csv": f"id,a,b{more}\nr,1,2{',3' * count}\n"})
    return ("build",)


def unknown_names(root: Path, count: int) -> Command:
    """Every formula reads a name that there is not."""
    columns = "".join(f"[columns.c{number}]\nformula = 'y{number} * 2'\n" for number in range(count))
    write(root, {"ledger.toml": "", "reports/r.toml": f"{columns}{ONE}"})
    return ("build",)


def chained_names(root: Path, count: int) -> Command:
    """Every formula reads the one before."""
    names = ["x", *(f"c{number}" for number in range(count - 1))]
    columns = (f"[columns.c{number}]\nformula = '{name} + 1'\n" for number, name in enumerate(names))
    write(root, {"ledger.toml": "", "reports/r.toml": f"{''.join(columns)}{ONE}"})
    return ("build",)


def edited_row(root: Path, count: int) -> Command:
    """One number of a table was edited since the build."""
    rows(root, count)
    run(root, "build")
    text = table(count).replace("r7,7,7\n", "r7,7,8\n")
    write(root, {"scenarios/rows.csv": text})
    return ("check",)


def edited_rows(root: Path, count: int) -> Command:
    """Every number of a field was edited since the build."""
    rows(root, count)
    run(root, "build")
    write(root, {"scenarios/rows.csv": table(count, b="1{0}")})
    return ("check",)


def renamed_rows(root: Path, count: int) -> Command:
    """Every row has another id since the build."""
    rows(root, count)
    run(root, "build")
    write(root, {"scenarios/rows.csv": table(count, id_="s{0}")})
    return ("check",)


def values(root: Path, count: int) -> Command:
    """Many values stand in a chapter, and one of their numbers was edited since the build."""
    rows(root, 10)
    value = "It is <!-- ledger:value r/s/r{0}/c --><!-- ledger:end --> now.\n\n"
    text = "".join(value.format(number % 10) for number in range(count))
    write(root, {"ledger.toml": 'chapters = ["c.md"]\n', "c.md": f"# C\n\n{text}"})
    run(root, "build")
    write(root, {"scenarios/rows.csv": table(10).replace("r7,7,7\n", "r7,7,8\n")})
    return ("check",)


def blocks(root: Path, count: int) -> Command:
    """Many blocks stand in a chapter, each of a view that there is not, and values between them."""
    rows(root, 10)
    block = "<!-- ledger:begin r/w{0} -->\n<!-- ledger:end r/w{0} -->\n\n"
    value = "It is <!-- ledger:value r/s/r1/c --><!-- ledger:end --> now.\n\n"
    text = "".join(block.format(number) + value for number in range(count))
    write(root, {"ledger.toml": 'chapters = ["c.md"]\n', "c.md": f"# C\n\n{text}"})
    return ("build",)


def notes(root: Path, count: int) -> Command:
    """Every row has a remark."""
    rows(root, count)
    remarks = "".join(f"r{number},a,remark {number}\n" for number in range(count))
    report = f"[tables.rows]\nnotes = 'notes.csv'\n{REPORT}"
    write(root, {"reports/r.toml": report, "scenarios/notes.csv": f"row,field,note\n{remarks}"})
    return ("build",)


def compared(root: Path, count: int) -> Command:
    """Two workbooks differ in every row."""
    edited_rows(root, count)
    (root / "reports/r/r.xlsx").rename(root / "old.xlsx")
    run(root, "build")
    return ("diff", "old.xlsx", "reports/r/r.xlsx")


#: What there is many of, and how many take some tenths of a second.
SITUATIONS: dict[str, tuple[Callable[[Path, int], Command], int]] = {
    "wrong keys": (wrong_keys, 1_500),
    "wrong cells": (wrong_cells, 20_000),
    "rows of one id": (same_ids, 20_000),
    "unknown columns of a CSV": (unknown_columns, 1_000),
    "unknown names": (unknown_names, 1_500),
    "names that read each other": (chained_names, 300),
    "rows, one edited": (edited_row, 4_000),
    "rows, all edited": (edited_rows, 4_000),
    "rows, all renamed": (renamed_rows, 4_000),
    "values of a chapter": (values, 1_500),
    "blocks of a chapter": (blocks, 4_000),
    "remarks": (notes, 1_000),
    "rows of two workbooks": (compared, 8_000),
}


def measured(made: Callable[[Path, int], Command], count: int) -> float:
    """Return the CPU seconds of a command on so many of something; of a few, the least of three runs."""
    with tempfile.TemporaryDirectory() as folder:
        command = made(Path(folder), count)
        return min(run(Path(folder), *command) for _ in range(3 if count < SMALL else 1))


def main() -> int:
    """Measure, print and judge."""
    over = 0
    print(f"{'':28} {'n':>6} {'s':>7} {'10 n':>7} {'s':>7} {'ratio':>6}  limit {LIMIT:g}")
    for name in sys.argv[1:] or SITUATIONS:
        made, count = SITUATIONS[name]
        start, *found = (measured(made, size) for size in (10, count, 10 * count))
        found = [max(each - start, 0.0) for each in found]
        ratio = found[1] / max(found[0], LEAST_S)
        over += ratio > LIMIT
        word = "  OVER" if ratio > LIMIT else ""
        print(
            f"{name:28} {count:6} {found[0]:7.2f} {10 * count:7} {found[1]:7.2f} {ratio:6.1f}{word}",
            flush=True,
        )
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
