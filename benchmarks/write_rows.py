"""Time streamed rows with cached values against openpyxl's cells without, on one workload, in turn.

The workload is n rows of 20 columns: 3 of text, 5 of integers and 12 of formulas.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from openpyxl import Workbook

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ledger.values import Values, texts
from ledger.xlsx.package import assemble
from ledger.xlsx.sheetdata import ROW, Band, Cells, check_bands, dimension, sheet_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from openpyxl.worksheet.worksheet import Worksheet

_HEADERS = (
    *("id", "machine", "dtype", "M", "N", "K", "block_M", "block_N"),
    *(
        "MN",
        "MNK2",
        "bytes",
        "ai",
        "rate",
        "bound",
        "blocks_M",
        "blocks_N",
        "blocks",
        "rest",
        "least",
        "share",
    ),
)
_MACHINES = ("h100", "a100", "l4", "b200")
_RATES = (989.5, 312.0, 121.0, 2250.0)
_DTYPES = ("fp16", "bf16", "fp8 & <e4m3>")
_FORMULAS = (
    "$D#*$E#",
    "2*$I#*$F#",
    "2*($D#*$F#+$F#*$E#+$I#)",
    "$J#/$K#",
    "INDEX(machines!$B$1:$B$4,MATCH($B#,machines!$A$1:$A$4,0))",
    'IF($L#>=1000,"compute-bound",IF($L#>=300,"near the ridge","memory-bound"))',
    "CEILING($D#/$G#,1)",
    "CEILING($E#/$H#,1)",
    "$O#*$P#",
    "$Q#-INT($Q#/132)*132",
    "MIN($D#,$E#,$F#)",
    "$J#/($M#*1000000000000)",
)
_FIRST_ROW = 2
_TARGET = 0.1


def workload(count: int) -> tuple[Values, ...]:
    """Return the 20 columns, computed."""
    random = np.random.default_rng(14)
    machine, dtype = random.integers(0, 4, count), random.integers(0, 3, count)
    m, n, k = (random.integers(1, 513, count) * 64.0 for _ in range(3))
    block_m, block_n = (2.0 ** random.integers(4, 9, count) for _ in range(2))
    flop, traffic = 2 * (m * n) * k, 2 * (m * k + k * n + m * n)
    rate, ai = np.array(_RATES)[machine], flop / traffic
    bound = np.where(ai >= 1000, "compute-bound", np.where(ai >= 300, "near the ridge", "memory-bound"))  # noqa: PLR2004 - as in the formula
    down, across = np.ceil(m / block_m), np.ceil(n / block_n)
    blocks = down * across
    numbers = (m * n, flop, traffic, ai, rate), (down, across, blocks, blocks % 132)
    return (
        texts([f"row {row}" for row in range(count)]),
        texts([_MACHINES[each] for each in machine.tolist()]),
        texts([_DTYPES[each] for each in dtype.tolist()]),
        *(Values(each) for each in (m, n, k, block_m, block_n, *numbers[0])),
        texts(bound.tolist()),
        *(Values(each) for each in (*numbers[1], np.minimum(np.minimum(m, n), k), flop / (rate * 1e12))),
    )


def streamed(columns: tuple[Values, ...]) -> int:
    """Return the size of the workbook written by us, with cached values."""
    workbook, _ = _shell()
    constants = len(columns) - len(_FORMULAS)
    formulas = (*[None] * constants, *(each.replace("#", ROW) for each in _FORMULAS))
    cells = (
        Cells(number, 0, values, formula)
        for number, (values, formula) in enumerate(zip(columns, formulas, strict=True), 1)
    )
    header = tuple(Cells(number, 0, texts([each])) for number, each in enumerate(_HEADERS, 1))
    bands = (Band(1, header), Band(_FIRST_ROW, tuple(cells)))
    check_bands("sweep", bands)
    file = io.BytesIO()
    workbook.save(file)
    return len(assemble(file.getvalue(), {"sweep": sheet_data(bands)}, {"sweep": dimension(bands)}))


def by_openpyxl(columns: tuple[Values, ...]) -> int:
    """Return the size of the workbook written by openpyxl, without cached values."""
    workbook, sheet = _shell()
    sheet.append(_HEADERS)
    constants = zip(*(values.data.tolist() for values in columns[: -len(_FORMULAS)]), strict=True)
    formulas = [f"={each}" for each in _FORMULAS]
    for number, row in enumerate(constants, _FIRST_ROW):
        sheet.append([*row, *(each.replace("#", str(number)) for each in formulas)])
    file = io.BytesIO()
    workbook.save(file)
    return len(file.getvalue())


def _shell() -> tuple[Workbook, Worksheet]:
    """Return a workbook with an empty sheet `sweep`, and that sheet."""
    workbook = Workbook()
    machines = workbook.create_sheet("machines")
    for row in zip(_MACHINES, _RATES, strict=True):
        machines.append(row)
    sheet = workbook.worksheets[0]
    sheet.title = "sweep"
    return workbook, sheet


def main() -> int:
    """Print the medians and their ratio; 1 when ours takes more than a tenth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    columns = workload(options.rows)
    writers: dict[str, Callable[[tuple[Values, ...]], int]] = {"streamed": streamed, "openpyxl": by_openpyxl}
    seconds: dict[str, list[float]] = {name: [] for name in writers}
    sizes: dict[str, int] = {}
    for _ in range(options.rounds):
        for name, write in writers.items():
            start = time.perf_counter()
            sizes[name] = write(columns)
            seconds[name].append(time.perf_counter() - start)
    print(f"{options.rows:,} rows x {len(columns)} columns, median of {options.rounds} rounds in turn")
    for name, times in seconds.items():
        print(f"{name:9} {statistics.median(times):7.2f} s {sizes[name] / 1e6:6.1f} MB")
    ratio = statistics.median(
        ours / theirs for ours, theirs in zip(seconds["streamed"], seconds["openpyxl"], strict=True)
    )
    print(f"ratio     {ratio:7.3f}, must be below {_TARGET}")
    return int(ratio >= _TARGET)


if __name__ == "__main__":
    sys.exit(main())
