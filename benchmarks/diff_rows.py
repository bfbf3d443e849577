"""Measure what comparing two workbooks of 20,000 rows and 20 columns costs, one row inserted in the middle.

    python benchmarks/diff_rows.py

CPU seconds and peak memory of whole processes, the best of a few runs; exit code 1 if one is over its limit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROWS, INPUTS, FORMULAS = 20_000, 7, 12
RUNS = 3
DIFF_S, TEXT_S, MEMORY_MB = 10.0, 10.0, 500.0


def main() -> int:
    """Measure, print and judge."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = list(range(ROWS))
        old = made_workbook(folder / "old", rows)
        new = made_workbook(folder / "new", [*rows[: ROWS // 2], ROWS, *rows[ROWS // 2 :]])
        found, diff_s, memory_mb = best(folder, "diff", str(old), str(new))
        told, text_s, _ = best(folder, "diff", "--text", str(new))
    lines = found.splitlines()
    if f"  sheet/r{ROWS}  a new row" not in lines or "structure 1" not in lines[0] or len(lines) != 5:  # noqa: PLR2004  # head, section, row, blank, rule
        sys.exit(f"it found something else than the new row:\n{found}")
    print(f"{ROWS:,} rows x {1 + INPUTS + FORMULAS} columns, {len(told.splitlines()):,} lines of text")
    measured = [
        ("CPU seconds of a diff", diff_s, DIFF_S),
        ("CPU seconds of the text of one", text_s, TEXT_S),
        ("MB of memory of a diff", memory_mb, MEMORY_MB),
    ]
    for what, value, limit in measured:
        ratio = value / limit
        over = "" if ratio <= 1 else "  OVER"
        print(f"{what:32} {value:6.1f}  limit {limit:5.1f}  ratio {ratio:.2f}{over}")
    return int(any(value > limit for _, value, limit in measured))


def made_workbook(folder: Path, rows: list[int]) -> Path:
    """Return the workbook of a report with one row for each number."""
    names = [f"i{number}" for number in range(INPUTS)]
    fields = "".join(f'{name} = {{ kind = "integer" }}\n' for name in names)
    inputs = "".join(f'{name} = {{ kind = "integer", default = 1 }}\n' for name in names)
    columns = "".join(
        f'[columns.c{i}]\nformula = "i{i % INPUTS} * {i + 2} + i{(i + 1) % INPUTS} / {i + 1}"\n'
        for i in range(FORMULAS)
    )
    lines = [f"r{row}," + ",".join(str((row * 31 + i * 17) % 997 + 1) for i in range(INPUTS)) for row in rows]
    files = {
        "ledger.toml": "",
        "reports/models/m.toml": f"[tables.rows.fields]\n{fields}[inputs]\n{inputs}{columns}",
        "reports/large.toml": 'models = ["m"]\n[sheets.sheet]\nrows = "rows"\n',
        "scenarios/rows.csv": "\n".join(["id," + ",".join(names), *lines, ""]),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    measured(folder, "build")
    return folder / "reports/large/large.xlsx"


def best(folder: Path, *arguments: str) -> tuple[str, float, float]:
    """Return what a command says, its least CPU seconds and its least peak memory in MB."""
    runs = [measured(folder, *arguments) for _ in range(RUNS)]
    return runs[0][0], min(seconds for _, seconds, _ in runs), min(memory for _, _, memory in runs)


def measured(folder: Path, *arguments: str) -> tuple[str, float, float]:
    """Return what a command says, its CPU seconds and its peak memory in MB."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "ledger", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=out,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, 1}:
            sys.exit(f"{arguments[0]} failed")
        out.seek(0)
        # Linux counts memory in KiB.
        return out.read().decode(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
