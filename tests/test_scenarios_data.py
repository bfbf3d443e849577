"""The facts in scenarios/: every peak is dense, sourced and that of its machine and dtype."""

import csv
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parent.parent / "scenarios"


def read(name):
    with (SCENARIOS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


MACHINES = {row["id"]: row for row in read("machines")}
DTYPES = {row["id"]: row for row in read("dtypes")}
PEAKS = {(row["machine"], row["dtype"]): row for row in read("peaks")}
RATE_COLUMNS = {
    dtype: "peak_fp16_bf16_tflops" if dtype in {"fp16", "bf16"} else f"peak_{dtype}_tflops"
    for dtype in DTYPES
}
# Volta and Turing have no bf16 unit; the teaching case is stated for fp16.
WITHOUT_BF16 = {"v100-sxm2", "t4", "teaching-100t-1t"}

# Rates published "with sparsity", twice those of a dense GEMM.
SPARSE = {
    ("h100-sxm5-prelim", "fp16"): 2000,
    ("h100-sxm5", "tf32"): 989.4,
    ("h100-sxm5", "fp16"): 1978.9,
    ("h100-sxm5", "bf16"): 1978.9,
    ("h100-sxm5", "fp8"): 3957.8,
    ("h100-sxm5", "int8"): 3957.8,
    ("h100-pcie", "fp16"): 1513,
    ("h100-pcie", "fp8"): 3026,
    ("h200-sxm", "fp16"): 1979,
    ("h200-sxm", "fp8"): 3958,
    ("a100-sxm-40gb", "tf32"): 312,
    ("a100-sxm-40gb", "fp16"): 624,
    ("a100-sxm-40gb", "bf16"): 624,
    ("a100-sxm-40gb", "int8"): 1248,
    ("a100-sxm-80gb", "tf32"): 312,
    ("a100-sxm-80gb", "fp16"): 624,
    ("a100-sxm-80gb", "bf16"): 624,
    ("a100-sxm-80gb", "int8"): 1248,
    ("a10", "fp16"): 250,
    ("a10", "int8"): 500,
    ("l4", "tf32"): 120,
    ("l4", "fp16"): 242,
    ("l4", "int8"): 485,
    ("l40s", "tf32"): 366,
    ("l40s", "fp16"): 733,
    ("l40s", "fp8"): 1466,
    ("rtx-3090", "fp16"): 142,
    ("rtx-3090", "int8"): 568,
    ("rtx-4090", "fp16"): 330.3,
    ("rtx-4090", "fp8"): 660.6,
    ("rtx-4090", "int8"): 1321.2,
    ("rtx-5090", "fp16"): 419,
    ("rtx-5090", "fp8"): 838,
    ("rtx-5090", "fp4"): 3352,
    ("b200-sxm", "fp16"): 4500,
    ("b200-sxm", "fp8"): 9000,
    ("b200-sxm", "fp4"): 18000,
    ("gb200-gpu", "fp16"): 5000,
    ("gb200-gpu", "fp8"): 10000,
    ("gb200-gpu", "fp4"): 20000,
    ("b300-sxm", "fp16"): 4500,
    ("mi300x", "fp16"): 2614.9,
    ("mi300x", "fp8"): 5229.8,
}


@pytest.mark.parametrize("name", ["machines", "peaks", "dtypes", "tiles", "shapes"])
def test_files_are_plain(name):
    text = (SCENARIOS / f"{name}.csv").read_bytes()
    assert not text.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in text
    assert text.endswith(b"\n")
    assert not text.endswith(b"\n\n")


@pytest.mark.parametrize("name", ["machines", "dtypes", "tiles", "shapes"])
def test_ids_are_unique_and_can_be_named(name):
    ids = [row["id"] for row in read(name)]
    assert len(ids) == len({each.casefold() for each in ids})
    for each in ids:
        assert each
        assert not any(mark in each for mark in (" ", "\t", "--", "*/", "|", "*", "?", "~", "[", "]"))


@pytest.mark.parametrize("name", ["machines", "peaks", "dtypes", "tiles"])
def test_every_row_has_a_source(name):
    assert [row for row in read(name) if not row["source"].strip()] == []


def test_no_row_is_short_or_long():
    for name in ("machines", "peaks", "dtypes", "tiles", "shapes"):
        for row in read(name):
            assert None not in row, row
            assert None not in row.values(), row


def test_the_first_machine_is_the_one_of_the_page():
    first = next(iter(MACHINES.values()))
    assert (
        first["id"],
        first["dram_tb_s"],
        first["peak_fp16_bf16_tflops"],
    ) == ("h100-sxm5-prelim", "3.0", "1000")


def test_a_peak_is_given_once_per_machine_and_dtype():
    assert len(PEAKS) == len(read("peaks"))


def test_peaks_stand_in_the_order_of_machines_and_dtypes():
    order = [(machine, dtype) for machine in MACHINES for dtype in DTYPES]
    assert sorted(PEAKS, key=order.index) == list(PEAKS)


def test_peaks_are_the_numbers_of_the_machines():
    """As text: every rate that a machine has, none that it has not."""
    expected = {
        (machine, dtype): row[column]
        for machine, row in MACHINES.items()
        for dtype, column in RATE_COLUMNS.items()
        if row.get(column) and not (dtype == "bf16" and machine in WITHOUT_BF16)
    }
    assert expected == {key: row["peak_tflops"] for key, row in PEAKS.items()}


def test_every_peak_says_where_it_was_read():
    assert [key for key, row in PEAKS.items() if not row["where"].strip()] == []


def test_integer_rates_say_that_they_are_counted_as_flop():
    assert [
        key for key, row in PEAKS.items() if ("counted as FLOP" in row["where"]) != (key[1] == "int8")
    ] == []


@pytest.mark.parametrize(("key", "sparse"), SPARSE.items())
def test_no_peak_is_a_sparse_rate(key, sparse):
    assert float(PEAKS[key]["peak_tflops"]) == pytest.approx(sparse / 2, rel=0.025)


@pytest.mark.parametrize(("narrow", "wide"), [("fp8", "fp16"), ("fp16", "tf32")])
def test_half_the_bits_are_twice_the_rate(narrow, wide):
    """A sparse rate among dense ones would be four times."""
    ratios = {
        machine: float(PEAKS[machine, narrow]["peak_tflops"]) / float(PEAKS[machine, wide]["peak_tflops"])
        for machine in MACHINES
        if (machine, narrow) in PEAKS and (machine, wide) in PEAKS
    }
    assert ratios == dict.fromkeys(ratios, pytest.approx(2, rel=0.025))


def test_bits_are_those_stored():
    expected = {
        "fp64": 64,
        "fp32": 32,
        "tf32": 32,
        "fp16": 16,
        "bf16": 16,
        "fp8": 8,
        "int8": 8,
        "fp4": 4,
        "int4": 4,
    }
    assert expected == {dtype: int(row["bits"]) for dtype, row in DTYPES.items()}


def test_a_kind_is_float_or_integer():
    assert {dtype: "integer" if dtype.startswith("int") else "float" for dtype in DTYPES} == {
        dtype: row["kind"] for dtype, row in DTYPES.items()
    }


def test_a_tile_is_named_by_its_blocks():
    for row in read("tiles"):
        assert row["id"] == f"{row['block_M']}x{row['block_N']}x{row['block_K']}"


def test_tiles_are_the_sweep_of_the_page_with_its_defaults():
    blocks = [(64, 64), (128, 128), (128, 256), (256, 128), (256, 256)]
    expected = [
        (block_m, block_n, block_k, 2 if (block_m, block_n, block_k) == (256, 128, 64) else 3, 128)
        for block_m, block_n in blocks
        for block_k in (16, 32, 64)
    ]
    columns = ("block_M", "block_N", "block_K", "stages", "threads")
    assert expected == [tuple(int(row[column]) for column in columns) for row in read("tiles")]


def test_shapes_are_those_of_the_page():
    assert [tuple(row.values())[:-1] for row in read("shapes")] == [
        ("4096^3", "4096³", "4096", "4096", "4096"),
        ("512^3", "512³", "512", "512", "512"),
        ("128^3", "128³", "128", "128", "128"),
        ("256x256x16384", "256×256×16384", "256", "256", "16384"),
        ("8192^3", "8192³", "8192", "8192", "8192"),
    ]


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.csv")), ids=lambda path: path.stem)
def test_every_row_names_its_source(path):
    """Remarks on cells, and the sources themselves, say where they are from in other columns."""
    rows = read(path.stem)
    told = next((name for name in ("source", "evidence", "note", "document") if name in rows[0]), "")
    assert told
    assert [row for row in rows if not row[told].strip()] == []


def test_every_source_code_is_explained():
    known = {row["id"] for row in read("sources")}
    rows = (*MACHINES.values(), *PEAKS.values())
    used = {code.strip() for row in rows for code in row["source"].split(";")}
    assert {code.split(".txt")[0] for code in used} <= {code.split(".txt")[0] for code in known}
