"""Measure what checks and builds cost: of 300 chapters, 30 MB and 2,000 blocks, and of this project.

    python benchmarks/check_book.py

CPU seconds of whole processes, the best of a few runs; exit code 1 if one is over its limit.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS, BLOCKS, CHAPTER_BYTES = 300, 2000, 100_000
VIEWS = 40
RUNS = 5
BASE = "import argparse, json, hashlib, tomllib, csv"
FULL_S, FRESH_S, RATIO = 3.0, 0.5, 2.0

MODEL = """\
[tables.shapes.fields]
label = { kind = "text" }
m = { kind = "integer" }
k = { kind = "integer" }
[inputs]
scale = { kind = "integer", default = 1 }
[columns.work]
formula = "2 * m * k * scale"
display = "si 4"
[columns.ratio]
formula = "work / (m + k)"
display = "fixed 2"
[columns.verdict]
formula = "'large' if ratio > 100 else 'small'"
"""
SHEET = """\
[sheets.s{0}]
rows = "shapes"
set = {{ scale = {1} }}
[views.v{0}]
sheet = "s{0}"
columns = ["label", "m", "k", "work", "ratio", "verdict"]
"""
PROSE = """\
这一段说明 text 2*M*N 与 `x` 的关系，平衡点是 <!-- ledger:value {path} fixed 1 --><!-- ledger:end --> FLOP/B。

1. 步骤

   ```sh
   make reports
   ```

| a | b |
| - | - |
| 4096³ | 1.5 |

"""
CODE = "```python\n" + "def kernel(x, y):\n    return x @ y  # [a](b) *c*\n\n" * 30 + "```\n\n"


def main() -> int:
    """Measure, print and judge."""
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        book = made_book(Path(folder))
        run(book, "build")
        size = sum(path.stat().st_size for path in book.glob("chapters/*.md"))
        print(f"{CHAPTERS} chapters, {size / 1e6:.1f} MB, {BLOCKS} blocks, {CHAPTERS} values")
        measured.append(("full check", cpu_s(book, "-m", "ledger", "check", "--full"), FULL_S))
        measured.append(("fresh check", cpu_s(book, "-m", "ledger", "check"), FRESH_S))
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        names = ("ledger.toml", "README.md", "reports", "scenarios", "templates")
        project.mkdir()
        for name in names:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, project / name)
        run(project, "build")
        fresh, base = cpu_s(project, "-m", "ledger", "check"), cpu_s(project, "-c", BASE)
        built = cpu_s(project, "-m", "ledger", "build")
        measured.append(("build with nothing changed over a fresh check", built / fresh, RATIO))
        measured.append(
            (f"fresh check of this project over {base * 1000:.0f} ms of imports", fresh / base, RATIO)
        )
    for what, value, limit in measured:
        print(f"{what:52} {value:6.3f}  limit {limit:.1f}{'' if value <= limit else '  OVER'}")
    return int(any(value > limit for _, value, limit in measured))


def made_book(folder: Path) -> Path:
    """Return a book without anything generated in it yet."""
    for name in ("reports/models", "scenarios", "chapters"):
        (folder / name).mkdir(parents=True)
    sheets = "".join(SHEET.format(i, i + 1) for i in range(VIEWS))
    rows = "".join(f"r{i},{256 * i + 256}³,{256 * i + 256},{64 * i + 64}\n" for i in range(12))
    files = {
        "ledger.toml": 'language = "zh"\nchapters = ["chapters/*.md"]\n',
        "reports/models/work.toml": MODEL,
        "reports/book.toml": f'models = ["work"]\n{sheets}',
        "scenarios/shapes.csv": f"id,label,m,k\n{rows}",
        **{f"chapters/{i:03}.md": chapter(i) for i in range(CHAPTERS)},
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def chapter(number: int) -> str:
    """Return a chapter of prose, code and markers."""
    count = BLOCKS * (number + 1) // CHAPTERS - BLOCKS * number // CHAPTERS
    views = [f"book/v{(number * 7 + i) % VIEWS}" for i in range(count)]
    part = PROSE.format(path="").split("<!--")[0] + "\n\n" + PROSE.split("FLOP/B。\n\n")[1] + CODE
    filler = part * (CHAPTER_BYTES // count // len(part.encode()))
    blocks = [f"<!-- ledger:begin {view} -->\n<!-- ledger:end {view} -->\n\n" for view in views]
    first = PROSE.format(path=f"book/s{number % VIEWS}/r3/ratio")
    return f"# 第 {number} 章\n\n{first}" + "".join(filler + block for block in blocks)


def run(folder: Path, *arguments: str) -> None:
    """Run a command of the program in a folder."""
    subprocess.run(
        [sys.executable, "-m", "ledger", *arguments],
        cwd=folder,
        env=environment(),
        check=True,
        capture_output=True,
    )


def environment() -> dict[str, str]:
    """Return an environment in which a process finds the program."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def cpu_s(folder: Path, *arguments: str) -> float:
    """Return the CPU seconds of a Python process, the least of a few runs."""
    found = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environment(), check=True, capture_output=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
