"""Reports: committed outputs are fresh, the book's text is printed, unseen rows print exact decimals."""

import csv
import io
import os
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import engines
import projects
import pytest
from decimals import printed_texts

from ledger.errors import LedgerError

REPORTS = projects.report_names()
GOLDEN = projects.ROOT / "tests" / "golden"
BOOK_TABLE = [
    ["shape（fp16）", "计算量", "最小访存", "算术强度", "判定"],
    ["4096³", "137.4 GFLOP", "96 MiB", "1365.33", "compute-bound"],
    ["512³", "268.4 MFLOP", "1.5 MiB", "170.67", "memory-bound"],
    ["128³", "4.194 MFLOP", "96 KiB", "42.67", "memory-bound"],
    ["256×256×16384", "2.147 GFLOP", "16.12 MiB", "127.01", "memory-bound"],
    ["8192³", "1.1 TFLOP", "384 MiB", "2730.67", "compute-bound"],
]
#: Rows that no scenario of the project has: smallest, no power of two, near 2^53 with the widest numbers.
SHAPES = [(1, 1, 1), (130, 70, 129), (65536, 65536, 8191), (3, 5, 7), (1, 16384, 53248), (99991, 99989, 13)]
TILES = [
    {"block_M": 128, "block_N": 128, "block_K": 32, "stages": 3, "threads": 128},
    {"block_M": 96, "block_N": 80, "block_K": 48, "stages": 5, "threads": 96},
    {"block_M": 17, "block_N": 19, "block_K": 23, "stages": 1, "threads": 7},
]
#: A machine and a data type that the committed report does not use, and the number of a tile.
CASES = [
    ("a100-sxm-80gb", "fp16", 1), ("a100-sxm-80gb", "tf32", 2), ("rtx-4090", "fp8", 1),
    ("rtx-4090", "tf32", 0), ("rtx-5090", "fp4", 2), ("mi300x", "int8", 1),
]  # fmt: skip
SWEEP, RECORD = projects.view_number("sweep"), projects.view_number("record")
ULPS = Fraction(4, 2**53)


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_committed_outputs_are_a_fresh_build(name):
    built = projects.built(projects.ROOT, name)
    folder = projects.ROOT / "reports" / name
    stale = [each for each, data in built.files.items() if not same_bytes(folder / each, data)]
    assert sorted(path.name for path in folder.iterdir()) == sorted(built.files)
    assert stale == [], "run python -m ledger build"


def same_bytes(path, data):
    return path.is_file() and path.read_bytes() == data


# The book's own text.


def golden(name, text):
    """Return the committed text of `name`; LEDGER_GOLDEN=1 writes what there is now."""
    path = GOLDEN / name
    if os.environ.get("LEDGER_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def book_report():
    return projects.built(projects.ROOT, "gemm-ledger")


def test_table_of_the_book_is_printed_character_for_character(book_report):
    table, _, _ = book_report.files["sweep.md"].decode().partition("\n\n")
    assert golden("gemm-ledger-sweep.md", table + "\n") == table + "\n"


def test_record_of_the_book_is_printed_character_for_character(book_report):
    record = book_report.files["record.txt"].decode()
    assert golden("gemm-ledger-record.txt", record) == record
    assert f"```text\n{record}```\n" in book_report.files["record.md"].decode()


@pytest.mark.engine
@pytest.mark.parametrize("program", ["ironcalc", "soffice"])
def test_table_of_the_book_is_in_every_output(program, book_report):
    engines.require(program)
    xlsx = engines.strip_cached(book_report.files["gemm-ledger.xlsx"])
    recalculate = {"ironcalc": engines.ironcalc_values, "soffice": engines.libreoffice_values}[program]
    tables = projects.tables(book_report, "sweep", SWEEP) | {
        program: projects.printed(recalculate(xlsx)["Printed"], SWEEP)
    }
    assert {name: rows for name, rows in tables.items() if rows != BOOK_TABLE} == {}


# Rows that nobody has seen, against exact fractions of what the CSV files say.


@dataclass(frozen=True)
class Cell:
    """An expected number with the rule it is printed by, or an expected text."""

    exact: Fraction | str
    rule: tuple[str, int] = ("", 0)
    unit: str = ""
    after: str = ""

    def texts(self):
        """The texts that may be printed."""
        if isinstance(self.exact, str):
            return {self.exact}
        return {text + self.after for text in printed_texts(*self.rule, self.exact, self.unit)}


def rows_of(file):
    with (projects.ROOT / "scenarios" / f"{file}.csv").open(encoding="utf-8", newline="") as source:
        return list(csv.DictReader(source))


def fact(file, wanted, **key):
    (found,) = [row for row in rows_of(file) if key.items() <= row.items()]
    return Fraction(found[wanted])


def expected_row(shape, machine, dtype):
    """Return what the sweep must print of one shape, by column."""
    m, n, k = map(Fraction, shape)
    bits = fact("dtypes", "bits", id=dtype)
    flop, traffic = 2 * m * n * k, sum(ceil(each * bits / 8) for each in (m * k, k * n, m * n))
    balance = fact("peaks", "peak_tflops", machine=machine, dtype=dtype) / fact(
        "machines", "dram_tb_s", id=machine
    )
    return {
        "label": Cell("×".join(map(str, shape))),
        "flop": Cell(flop, ("si", 4), "FLOP"),
        "min_bytes": Cell(traffic, ("iec", 4), "B"),
        "ai": Cell(flop / traffic, ("fixed", 2)),
        "bound": Cell("compute-bound" if flop / traffic >= balance else "memory-bound"),
    }


def expected_record(shape, machine, dtype, tile):
    """Return what the record must print, by name."""
    row = expected_row(shape, machine, dtype)
    rate, bits = fact("peaks", "peak_tflops", machine=machine, dtype=dtype), fact("dtypes", "bits", id=dtype)
    bandwidth = fact("machines", "dram_tb_s", id=machine)
    a, b, c, stages, threads = map(Fraction, tile.values())
    stage = bits / 8 * (a * c + c * b)
    smem = fact("machines", "smem_per_sm_kib", id=machine) * 1024
    numbers = dict(zip("MNK", shape, strict=True)) | tile | {"dtype.bits": bits}
    return {
        "peak.rate": Cell(rate, ("fixed", 1)),
        "machine.bandwidth": Cell(bandwidth, ("fixed", 1), after=" TB/s"),
        "balance_short": Cell(rate / bandwidth, ("fixed", 1)),
        "balance": Cell(rate / bandwidth, ("fixed", 2)),
        **{name: Cell(Fraction(number), ("integer", 0)) for name, number in numbers.items()},
        **{name: row[name] for name in ("flop", "min_bytes", "ai", "bound")},
        "stage_bytes": Cell(stage, ("iec", 4), "B"),
        "smem_bytes": Cell(stages * stage, ("iec", 4), "B"),
        "accum_registers": Cell(a * b / threads, ("fixed", 0)),
        "blocks_by_smem": Cell(Fraction(smem // (stages * stage)), ("integer", 0)),
    }


@pytest.fixture(scope="module", params=CASES, ids=["/".join(map(str, case)) for case in CASES])
def case(request):
    return request.param


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    """The report of every case, from a copy of the project whose shapes are the unseen ones."""
    root = projects.copy_project(tmp_path_factory.mktemp("unseen"))
    rows = [{"id": "x".join(map(str, each)), "label": "×".join(map(str, each))} for each in SHAPES]
    rows = [row | dict(zip("MNK", each, strict=True)) for row, each in zip(rows, SHAPES, strict=True)]
    projects.write_csv(root / "scenarios" / "shapes.csv", rows)
    found = {}
    for number, (machine, dtype, tile) in enumerate(CASES):
        given = (
            {"machine": machine, "dtype": dtype}
            | dict(zip("MNK", shape_of(number), strict=True))
            | TILES[tile]
        )
        found[CASES[number]] = projects.built(
            root, "gemm-ledger", **{name: str(value) for name, value in given.items()}
        )
    return found


def shape_of(number):
    return SHAPES[number % len(SHAPES)]


@pytest.fixture(scope="module")
def recalculated(rebuilt):
    """The workbook of every case, recalculated by two engines from a copy without values."""
    copies = [engines.strip_cached(each.files["gemm-ledger.xlsx"]) for each in rebuilt.values()]
    for program in ("ironcalc", "soffice"):
        engines.require(program)
    return {
        "ironcalc": dict(zip(rebuilt, map(engines.ironcalc_values, copies), strict=True)),
        "soffice": dict(zip(rebuilt, engines.libreoffice_books(copies), strict=True)),
    }


def unlike(rows, wanted):
    """Return the printed cells that are not what exact decimals print."""
    assert [len(row) for row in rows] == [len(row) for row in wanted]
    pairs = [pair for row, cells in zip(rows, wanted, strict=True) for pair in zip(row, cells, strict=True)]
    return [(text, cell.texts()) for text, cell in pairs if text not in cell.texts()]


@pytest.mark.slow
def test_unseen_shapes_print_exact_decimals_in_every_text(case, rebuilt):
    machine, dtype, _ = case
    wanted = [list(expected_row(shape, machine, dtype).values()) for shape in SHAPES]
    for name, (heading, *rows) in projects.tables(rebuilt[case], "sweep", SWEEP).items():
        assert heading == [f"shape（{dtype}）", *BOOK_TABLE[0][1:]]
        assert unlike(rows, wanted) == [], name


@pytest.mark.engine
@pytest.mark.parametrize("program", ["ironcalc", "soffice"])
def test_unseen_shapes_print_exact_decimals_in_a_recalculated_workbook(program, case, recalculated):
    machine, dtype, tile = case
    printed = recalculated[program][case]["Printed"]
    heading, *rows = projects.printed(printed, SWEEP)
    assert heading == [f"shape（{dtype}）", *BOOK_TABLE[0][1:]]
    assert unlike(rows, [list(expected_row(shape, machine, dtype).values()) for shape in SHAPES]) == []
    wanted = expected_record(shape_of(CASES.index(case)), machine, dtype, TILES[tile])
    record = [text for _, text in projects.printed(printed, RECORD)]
    names = [name for name in record_names() if name in wanted]
    assert unlike([record[1:]], [[wanted[name] for name in names]]) == []


def record_names():
    with (projects.ROOT / "reports" / "gemm-ledger" / "record.csv").open(encoding="utf-8") as file:
        return next(csv.reader(file))


@pytest.mark.slow
def test_unseen_numbers_have_every_digit_in_csv(case, rebuilt):
    machine, dtype, tile = case
    files = rebuilt[case].files
    wanted = [expected_row(shape, machine, dtype) for shape in SHAPES]
    wanted.append(expected_record(shape_of(CASES.index(case)), machine, dtype, TILES[tile]))
    for file, expected in (("sweep.csv", wanted[:-1]), ("record.csv", wanted[-1:])):
        rows = csv.DictReader(io.StringIO(files[file].decode(), newline=""))
        for row, cells in zip(rows, expected, strict=True):
            wrong = [name for name, cell in cells.items() if not close(row[name], cell.exact)]
            assert wrong == [], row


def close(text, exact):
    if isinstance(exact, str):
        return text == exact
    return abs(Fraction(text) - exact) <= ULPS * abs(exact)


def test_record_prints_exact_decimals_in_the_block_of_the_book(case, rebuilt):
    machine, dtype, tile = case
    lines = rebuilt[case].files["record.txt"].decode().splitlines()
    wanted = expected_record(shape_of(CASES.index(case)), machine, dtype, TILES[tile])
    numbers = {name: next(iter(cell.texts())) for name, cell in wanted.items()}
    assert all(len(cell.texts()) == 1 for cell in wanted.values())
    name = next(row["name"] for row in rows_of("machines") if row["id"] == machine)
    rate, bandwidth, balance = (numbers[each] for each in ("peak.rate", "machine.bandwidth", "balance_short"))
    assert lines[1] == f"机器模型：{name} peak={rate} TFLOPS bw={bandwidth} balance={balance} F/B"
    assert lines[3] == "GEMM {M} x {N} x {K} (dtype {bits} bit)".format(bits=numbers["dtype.bits"], **numbers)
    assert lines[4:9] == [
        f"计算量 : {numbers['flop']}",
        f"最小 DRAM 访存 : {numbers['min_bytes']}",
        f"算术强度 : {numbers['ai']} FLOP/Byte",
        f"机器平衡点 : {numbers['balance']} FLOP/Byte",
        f"判定 : {numbers['bound']}",
    ]
    assert lines[10:] == [
        f"单级 shared memory : {numbers['stage_bytes']}",
        f"多级 shared memory : {numbers['smem_bytes']}",
        f"每线程累加寄存器 : {numbers['accum_registers']}",
        f"受 shared 限制的 block 数 : {numbers['blocks_by_smem']}",
    ]


def test_missing_number_is_a_dash_and_a_finding(tmp_path):
    """The fictional device of the book has no shared memory: what needs it has no value either."""
    built = projects.built(
        projects.copy_project(tmp_path), "gemm-ledger", machine="teaching-100t-1t", dtype="fp16"
    )
    assert "受 shared 限制的 block 数 : —" in built.files["record.txt"].decode()
    assert [str(finding) for finding in built.findings] == [
        "#N/A: default/blocks_by_smem",
        "#N/A: default/tile_fits",
        "#N/A: default/two_blocks",
    ]


def test_pair_without_a_peak_stops_the_build(tmp_path):
    root = projects.copy_project(tmp_path)
    with pytest.raises(LedgerError, match=r"scenarios/peaks\.csv has no row 'a100-sxm-80gb, fp8'"):
        projects.built(root, "gemm-ledger", machine="a100-sxm-80gb", dtype="fp8")
