"""The models say what was published: 78 cases, the book's worked case, wave by wave counts, compilers."""

import csv
import io
import itertools
import json
import re
import tomllib
from fractions import Fraction
from textwrap import dedent

import engines
import projects
import pytest

from ledger.errors import LedgerError

DATA = projects.ROOT / "tests" / "data"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CASES = {row["id"]: row for row in rows_of(DATA / "reference_cases.csv")}

# The published cases: inputs as printed become rows of one small report for each family of questions.

#: What a report asks: its models, the inputs that its rows give with their defaults, more TOML.
FAMILIES = {
    "work": (["gemm", "roofline"], {"M": 1, "N": 1, "K": 1, "machine": "h100-sxm5"}, ""),
    "ridge": (["roofline"], {"machine": "", "flop": 1, "traffic": 1}, ""),
    "waves": (
        ["waves"],
        {
            "M": 128, "N": 128, "K": 32, "block_M": 128, "block_N": 128, "block_K": 32, "sm_count": 132,
            "blocks_per_sm": 1, "splits": 1,
        },
        "",
    ),
    "smem": (
        ["smem"],
        {
            "block_M": 128, "block_N": 128, "block_K": 32, "stages": 1, "threads": 128, "dtype": "fp16",
            "backend": "tilelang-sm_90", "epilogue_element_bytes": 0,
        },
        "",
    ),
    "occupancy": (
        ["occupancy"], {"cc": "", "threads": 128, "registers_per_thread": 32, "smem_dynamic": 0}, "",
    ),
    "occupancy_amd": (["occupancy_amd"], {"arch": "", "vgprs": 1}, ""),
    "relu": (
        ["roofline"],
        {"elements": 1},
        """
        uses = ["element"]
        [columns]
        flop      = { formula = "elements", unit = "FLOP" }
        min_bytes = { formula = "2 * elements * element_bytes", unit = "B" }
        """,
    ),
    "rates": (
        [],
        {"clock": 1, "per_clock": 1, "units": 1},
        """
        [columns]
        tera = { formula = "2 * clock * per_clock * units / 1000000000000" }
        """,
    ),
    "fractions": ([], {"reached": 1, "peak": 1}, '[columns]\nfraction = { formula = "reached / peak" }'),
}  # fmt: skip
FAMILY_OF = {
    "intensity": "work", "book": "work", "ridge": "ridge", "tile quantization": "waves",
    "wave quantization": "waves", "split-k": "waves", "tile reuse": "waves", "occupancy": "occupancy",
    "occupancy AMD": "occupancy_amd", "smem AMD Triton": "smem", "smem SM90": "smem", "peak": "rates",
    "bandwidth": "rates", "measured": "fractions",
} | {"R06": "relu", "R21": "smem", "R22": "smem", "R23": "smem"}  # fmt: skip
RENAMED = {
    "BM": "block_M", "BN": "block_N", "BK": "block_K", "sms": "sm_count", "partitions": "splits",
    "regs": "registers_per_thread", "smem": "smem_dynamic", "vgpr": "vgprs", "fma": "per_clock",
    "tensor_cores": "units", "matrix_cores": "units", "mem_clock": "clock", "bus_bytes": "per_clock",
}  # fmt: skip
#: Inputs that the source tells in words.
SPELLED = {
    "R06": [{"elements": 1000}],
    "R19": [{"M": 4096, "N": 4096, "K": 4096, "machine": "teaching-100t-1t"}],
    "R20": [{"M": 4096, "N": 4096, "K": 4096, "machine": "teaching-100t-1t"}],
    "R23": [{"block_M": 128, "block_N": 128, "block_K": 32, "stages": 3}],
    "R32": [{"M": rows, "N": 256} for rows in (257, 256)],
    "R65": [{"cc": "8.6", "threads": threads} for threads in range(32, 1025, 32)],
    "R66": [{"arch": "gfx942", "vgprs": 170}],
    "R67": [{"arch": "gfx90a", "vgprs": 50}],
    "R74": [
        {"block_K": 64, "stages": stages, "dtype": "bf16", "backend": "deepgemm-sm_90"}
        | {"epilogue_element_bytes": 2}
        for stages in range(1, 17)
    ],
    "R75": [{"reached": 21779.3, "peak": 23249.6}],
    "R76": [{"reached": 309.0, "peak": 23249.6}],
    "R77": [{"reached": 794.5, "peak": 989}],
    "R78": [{"reached": 271.2, "peak": 312}],
}


def family(case):
    return FAMILY_OF.get(case["id"]) or FAMILY_OF[case["topic"]]


def asked(case):
    """Return the rows that a case asks, inputs by the names of the models."""
    if case["id"] in SPELLED:
        return SPELLED[case["id"]]
    given = {}
    for part in case["inputs"].split(";"):
        *names, value = part.split("=")
        given |= dict.fromkeys(names, re.split(" vs | then ", value))
    rows = [dict(zip(given, row, strict=True)) for row in itertools.product(*given.values())]
    return [adapted(case, row) for row in rows]


def adapted(case, given):
    """Return a row whose names are those of the family; what the family has no name for must be implied."""
    known = FAMILIES[family(case)][1]
    row = {RENAMED.get(name, name): value for name, value in given.items()}
    if "tiles" in row:
        row["M"] = 128 * int(row.pop("tiles"))
    if "slots" in row:
        row["sm_count"] = row.pop("slots")
    if family(case) == "ridge":
        return {"machine": case["id"]}
    if family(case) == "smem" and case["topic"] == "smem AMD Triton":
        row["backend"] = "triton-gfx942"
    assert row.pop("bytes", "2") == "2"
    assert row.pop("acc", "4") == "4"
    assert row.keys() <= known.keys(), case["id"]
    return row


def each(*columns):
    """Return what reads columns of the only row."""
    return lambda rows: [float(row[column]) for row in rows for column in columns]


def ratio(column):
    """Return what divides a column's first value by its second."""
    return lambda rows: [float(rows[0][column]) / float(rows[1][column])]


def least_full(rows):
    return [min(float(row["threads"]) for row in rows if float(row["occupancy"]) == 1)]


def deepest_pipeline(rows):
    fitting = [row for row in rows if float(row["block_bytes"]) <= float(row["block_limit"])]
    return [float(fitting[-1]["stages"]), float(fitting[-1]["block_bytes"])]


#: How a published quantity is read from the rows of its family.
QUANTITIES = {
    "flop_per_byte": each("ai"),
    "flop_per_byte_below_1": lambda rows: [float(float(rows[0]["ai"]) < 1)],
    "ops_per_byte": each("balance"),
    "flop": each("flop"),
    "min_bytes": each("min_bytes"),
    "t_compute_ms": each("t_compute"),
    "t_mem_ms": each("t_memory"),
    "smem_bytes": each("smem_bytes"),
    "acc_regs_per_thread": each("accum_registers"),
    "blocks_by_smem": each("blocks_by_smem"),
    "tflops": each("tera"),
    "tb_s": each("tera"),
    "tiles": each("grid"),
    "n_tiles": each("tiles_n"),
    "issued_flop_ratio": ratio("issued_flop"),
    "wasted_fraction": lambda rows: [1 - float(rows[0]["tile_efficiency"])],
    "waves": each("waves"),
    "waves_float": each("waves_exact"),
    "speedup": ratio("waves"),
    "tiles_mod_92": each("tail"),
    "k_per_partition": each("k_first"),
    "k_first;k_last": each("k_first", "k_last"),
    "flop_per_byte_per_tile": each("tile_ai"),
    "blocks": each("blocks_per_sm"),
    "occupancy": each("occupancy"),
    "blocks;occupancy": each("blocks_per_sm", "occupancy"),
    "blocks;by_smem;occupancy": each("blocks_per_sm", "blocks_by_shared", "occupancy"),
    "warps;occupancy": each("active_warps", "occupancy"),
    "threads": least_full,
    "waves_per_eu": each("waves_per_eu"),
    "lds_bytes": each("pipeline_bytes"),
    "stages;bytes": deepest_pipeline,
    "fraction": each("fraction"),
}


WHOLE = 'kind = "integer"'
#: Fields of the rows that are not whole numbers without a unit.
FIELDS = {
    "smem_dynamic": 'kind = "integer", unit = "B"',
    "epilogue_element_bytes": 'kind = "integer", unit = "B"',
    "flop": 'unit = "FLOP"',
    "traffic": 'unit = "B"',
    **dict.fromkeys(("machine", "backend", "cc", "arch"), 'kind = "text"'),
    **dict.fromkeys(("dtype", "dtype_a", "dtype_b", "dtype_c"), 'kind = "text"'),
    **dict.fromkeys(("clock", "reached", "peak", "beta"), 'kind = "number"'),
}  # fmt: skip


def add_report(root, name, rows, models, more=""):
    """Write a report on `rows`, with every column of its models, into the project at `root`."""
    fields = [f"{field} = {{ {FIELDS.get(field, WHOLE)} }}" for field in rows[0]]
    text = [f"models = {json.dumps(models)}", dedent(more), f"[tables.asked_{name}.fields]", *fields]
    text += ["[sheets.all]", f'rows = "asked_{name}"']
    (root / "reports" / f"{name}.toml").write_text("\n".join(text), encoding="utf-8")
    named = [{"id": f"r{number}", **row} for number, row in enumerate(rows)]
    projects.write_csv(root / "scenarios" / f"asked_{name}.csv", named)


def answers(report):
    """Return the rows of a report's only sheet as NumPy has them, every column by name."""
    (sheet,) = report.worked.result.sheets.values()
    values = {name: each.data.tolist() for name, each in sheet.values.items()}
    count = len(sheet.ids)
    columns = [each * (count // len(each)) for each in values.values()]
    return [dict(zip(values, row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of the project with the machines that published ridge points are about."""
    root = projects.copy_project(tmp_path_factory.mktemp("models"))
    machines = rows_of(root / "scenarios" / "machines.csv")
    peaks = rows_of(root / "scenarios" / "peaks.csv")
    for case in CASES.values():
        if case["topic"] == "ridge":
            peak, bandwidth = (float(re.search(r"[\d.]+e\d+", each)[0]) for each in case["inputs"].split(";"))
            told = {"name": case["id"], "status": "published", "source": case["source"]}
            machines.append(
                dict.fromkeys(machines[0], "") | told | {"id": case["id"], "dram_tb_s": bandwidth / 1e12}
            )
            told = {"source": case["source"], "where": case["where"]}
            peaks.append({"machine": case["id"], "dtype": "fp16", "peak_tflops": peak / 1e12} | told)
    projects.write_csv(root / "scenarios" / "machines.csv", machines)
    projects.write_csv(root / "scenarios" / "peaks.csv", peaks)
    return root


@pytest.fixture(scope="module")
def reports(root):
    """The report of each family, built, with the number of the first row of each case."""
    found = {}
    for name, (models, inputs, more) in FAMILIES.items():
        cases = {key: asked(case) for key, case in CASES.items() if family(case) == name}
        rows = [inputs | row for rows in cases.values() for row in rows]
        add_report(root, name, rows, models, more)
        found[name] = (
            projects.built(root, name),
            dict(zip(cases, itertools.accumulate(map(len, cases.values()), initial=0), strict=False)),
        )
    return found


@pytest.fixture(scope="module")
def computed(reports):
    """What the models answer to each case: its rows."""
    found = {}
    for report, starts in reports.values():
        rows = answers(report)
        found |= {key: rows[start : start + len(asked(CASES[key]))] for key, start in starts.items()}
    return found


def parsed(text):
    """Return the numbers that a published text holds; a truth is 1, a percentage its share."""
    parts = re.split(";|->", text)
    return [
        1.0 if part == "true" else float(part.rstrip("%")) / (100 if "%" in part else 1) for part in parts
    ]


def close(ours, published, tolerance):
    """Whether numbers are within `tolerance`; a source may round a whole percentage either way."""
    slack = [float(tolerance or 0) + (0.01 if "%" in part else 0) for part in re.split(";|->", published)]
    pairs = zip(ours, parsed(published), slack, strict=True)
    return all(abs(a - b) <= allowed + 1e-9 * abs(b) for a, b, allowed in pairs)


def test_there_are_78_cases():
    assert len(CASES) == 78


@pytest.mark.slow
@pytest.mark.parametrize("key", CASES)
def test_model_gives_the_published_number(key, computed):
    """Two sources are wrong; there the model must give our number and not theirs."""
    case = CASES[key]
    ours = QUANTITIES[case["quantity"]](computed[key])
    assert close(ours, case["our_value"], 1e-6)
    assert close(ours, case["expected"], case["tolerance"]) == (case["agrees"] == "yes")


@pytest.mark.slow
def test_sources_that_are_wrong_are_two(computed):
    """R48 says that 2304 mod 92 is 8, R64 forgets the KiB that every block has reserved."""
    ours = {
        key: QUANTITIES[case["quantity"]](computed[key])
        for key, case in CASES.items()
        if case["agrees"] == "NO"
    }
    assert ours == {"R48": [4], "R64": [17]}
    assert [CASES[key]["expected"] for key in ours] == ["8", "19"]


def test_ridge_of_a_sparse_peak_is_twice_that_of_the_machine(computed, root):
    """R11 is right in its arithmetic; the project's own machine has a dense peak."""
    add_report(root, "dense", [{"machine": "h100-sxm5", "flop": 1, "traffic": 1}], ["roofline"])
    (dense,) = answers(projects.built(root, "dense"))
    assert dense["balance"] == pytest.approx(295.3, abs=0.05)
    assert computed["R11"][0]["balance"] == pytest.approx(2 * dense["balance"], rel=0.001)
    assert "sparse" in CASES["R11"]["inputs"]


# Storage types, tiles, waves.


def asked_of(root, name, rows, models):
    add_report(root, name, rows, models)
    return answers(projects.built(root, name))


def gemm(**given):
    """Return one row to ask of the gemm model, of a matrix that no two sides of are alike."""
    types = {"dtype_a": "fp16", "dtype_b": "fp16", "dtype_c": "fp16", "beta": 0}
    return {"M": 130, "N": 70, "K": 129} | types | given


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "least"),
    [
        (gemm(), 2 * (130 * 129 + 129 * 70 + 130 * 70)),
        (gemm(dtype_a="fp8"), 130 * 129 + 2 * (129 * 70 + 130 * 70)),
        (gemm(dtype_b="int4"), 2 * 130 * 129 + 129 * 70 // 2 + 2 * 130 * 70),
        (gemm(dtype_c="fp32"), 2 * (130 * 129 + 129 * 70) + 4 * 130 * 70),
        (gemm(beta=0.5), 2 * (130 * 129 + 129 * 70 + 2 * 130 * 70)),
        (gemm(dtype_c="fp32", beta=-1), 2 * (130 * 129 + 129 * 70) + 8 * 130 * 70),
        (gemm(M=1, N=1, K=7, dtype_a="int4", dtype_b="fp4", dtype_c="int4"), 4 + 4 + 1),
        (gemm(M=4096, N=1, K=4096, dtype_a="fp4"), 8388608 + 2 * (4096 + 4096)),
    ],
)
def test_each_matrix_has_its_own_bytes(given, least, root):
    (found,) = asked_of(root, "bytes", [given], ["gemm", "roofline"])
    assert found["min_bytes"] == found["traffic"] == least
    assert found["ai"] == found["flop"] / least


def shape(m, n, k=64, **given):
    return {"M": m, "N": n, "K": k, "block_M": 128, "block_N": 128, "block_K": 32} | given


def test_irregular_shape_of_the_book_fills_22_percent_of_its_tiles(root):
    (found,) = asked_of(root, "tiles", [shape(130, 70, 129)], ["waves"])
    assert (found["tiles_m"], found["tiles_n"], found["k_steps"]) == (2, 1, 5)
    assert (found["edge_m"], found["edge_n"], found["edge_k"]) == (2, 70, 1)
    assert found["tile_efficiency"] == float(Fraction(130 * 70 * 129, 256 * 128 * 160))


SM_COUNTS = {"H100_SXM": 132, "H200_SXM": 132, "A100_SXM_80GB": 108, "B200": 148, "RTX_4090": 128}
GEMMS = rows_of(DATA / "l2_model_compare.csv")
#: The swizzle that nvMatmulHeuristics chose, 1 elsewhere.
SWIZZLED = {("A100_SXM_80GB", "8192"): 8, ("RTX_4090", "8192"): 8}


def counted(found):
    """Return what the model estimates, from waves walked tile by tile in raster order."""
    rows, columns, group = (int(found[name]) for name in ("tiles_m", "tiles_n", "raster_group"))
    order = [
        (row, column)
        for left in range(0, columns, group)
        for row in range(rows)
        for column in range(left, min(columns, left + group))
    ]
    slots = int(found["slots"])
    waves = [order[start : start + slots] for start in range(0, len(order), slots)]
    sides = [(len({row for row, _ in wave}), len({column for _, column in wave})) for wave in waves]
    tile = found["block_M"] * found["a_element"], found["block_N"] * found["b_element"]
    return found["K"] * sum(high * tile[0] + wide * tile[1] for high, wide in sides)


@pytest.fixture(scope="module")
def traffic(root):
    """The waves model on the 30 problems that nvMatmulHeuristics was asked, by raster group."""
    asked = [
        shape(int(row["M"]), int(row["N"]), int(row["K"]), sm_count=SM_COUNTS[row["gpu"]], raster_group=group)
        | dict(zip(("block_M", "block_N", "block_K"), map(int, row["tile"].split("x")), strict=True))
        for group in (1, 8)
        for row in GEMMS
    ]
    found = asked_of(root, "traffic", asked, ["waves"])
    return {1: found[: len(GEMMS)], 8: found[len(GEMMS) :]}


def test_traffic_without_reuse_is_that_of_nvmatmulheuristics(traffic):
    assert [row["l2_bytes"] for row in traffic[1]] == [float(row["tiled_load"]) for row in GEMMS]


@pytest.mark.parametrize("group", [1, 8])
def test_wave_footprint_is_near_waves_counted_one_by_one(group, traffic):
    """The closed form is an estimate: its note says how far from the count it may be."""
    exact = [counted(row) for row in traffic[group]]
    assert exact == [float(row[f"wave_g{group}"]) for row in GEMMS]
    ratios = [row["wave_load"] / each for row, each in zip(traffic[group], exact, strict=True)]
    assert 0.87 < min(ratios) <= max(ratios) < 1.03


def test_dram_reads_are_up_to_30_percent_below_nvmatmulheuristics(traffic):
    ratios = [
        max(found["wave_load"], found["a_bytes"] + found["b_bytes"]) / float(row["nvmmh_gmem_load"])
        for group in (1, 8)
        for found, row in zip(traffic[group], GEMMS, strict=True)
        if SWIZZLED.get((row["gpu"], row["M"]), 1) == group
    ]
    assert len(ratios) == len(GEMMS)
    assert 0.70 < min(ratios) <= max(ratios) <= 1


def test_split_k_writes_and_reads_a_partial_sum_for_each_partition(root):
    whole, split = asked_of(
        root, "split", [shape(256, 256, 4096, splits=each) for each in (1, 20)], ["waves"]
    )
    assert (whole["split_bytes"], split["split_bytes"]) == (0, 2 * 20 * 256 * 256 * 4)
    assert (whole["k_first"], whole["k_last"]) == (4096, 4096)
    assert (whole["tile_count"], split["tile_count"], split["cta_steps"]) == (4, 80, 7)
    assert split["dram_bytes"] - whole["dram_bytes"] == split["split_bytes"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tiles", "steps", "decomposition"),
    [(132, 64, "data-parallel"), (133, 65, "stream-K"), (255, 124, "data-parallel"), (4, 2, "stream-K")],
)
def test_stream_k_gives_each_cta_its_share_of_all_steps(tiles, steps, decomposition, root):
    (found,) = asked_of(root, "stream", [shape(128 * tiles, 128, 32 * 64, sm_count=132)], ["waves"])
    assert (found["stream_steps"], found["stream_steps_per_cta"]) == (64 * tiles, steps)
    assert found["decomposition"] == decomposition


def test_estimated_time_is_never_below_the_bound(root):
    sides = (1, 129, 4096)
    asked = [
        shape(m, n, k, splits=splits, sm_count=sm_count, raster_group=group)
        for m, n, k in itertools.product(sides, repeat=3)
        for splits, sm_count, group in ((1, 132, 1), (4, 7, 8))
    ]
    found = asked_of(root, "bounds", asked, ["gemm", "roofline", "waves"])
    assert [row for row in found if row["t_estimate"] < row["t_bound"]] == []
    assert [row for row in found if row["dram_bytes"] < row["min_bytes"]] == []


#: block_M, block_N, threads, and the registers that ptxas 13.0 gave TileLang 0.1.15's kernel on sm_80.
KERNELS = [
    (64, 64, 128, 91), (128, 128, 128, 226), (128, 128, 256, 145), (128, 256, 256, 218), (256, 128, 256, 204),
    (64, 128, 128, 166), (128, 64, 128, 143), (128, 128, 256, 141), (256, 256, 256, 255),
]  # fmt: skip


def test_register_estimate_holds_what_the_compiler_took(root):
    """The last kernel spills, and the estimate says so."""
    names = ("block_M", "block_N", "threads")
    asked = [shape(4096, 4096) | dict(zip(names, each[:3], strict=True)) for each in KERNELS]
    found = asked_of(root, "registers", asked, ["waves"])
    within = [
        row["register_low"] <= each[3] <= row["register_high"]
        for row, each in zip(found, KERNELS, strict=True)
    ]
    assert within == [True] * 8 + [False]
    assert found[-1]["register_low"] > 255


def columns_of(model):
    text = (projects.ROOT / "reports" / "models" / f"{model}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["columns"]


@pytest.mark.parametrize("model", ["gemm", "roofline", "host", "waves"])
def test_every_column_cites_its_source(model):
    assert [name for name, column in columns_of(model).items() if not column.get("source")] == []


@pytest.mark.parametrize("model", ["host", "waves"])
def test_every_number_says_whether_it_is_a_count_a_bound_or_an_estimate(model):
    text = {"slowest_step", "link_warning", "wave_warning"}
    said = {name: column["note"]["zh"] for name, column in columns_of(model).items() if name not in text}
    kinds = ("精确计数", "上界", "下界", "估计", "不分块时的下界")
    assert {name: note for name, note in said.items() if not note.startswith(kinds)} == {}


# The worked case of the book.


@pytest.fixture(scope="module")
def case():
    return projects.built(projects.ROOT, "gemm-case")


@pytest.mark.parametrize(
    "printed",
    [
        "M=4096，N=4096，K=4096；存储 A fp16、B fp16、C fp16，fp32 累加，beta=0",
        "算力上界 100 TFLOP/s，HBM 上界 1 TB/s",
        "F = 2*M*N*K = 137438953472 FLOP ≈ 137.44 GFLOP",
        "= 100663296 B = 96 MiB",
        "I_ideal = F/B_min ≈ 1365.33 FLOP/B",
        "计算下界 1.374 ms，最小访存下界 0.101 ms",
    ],
)
def test_case_prints_the_numbers_of_the_page(printed, case):
    assert printed in case.files["case.txt"].decode()
    assert printed in case.files["case.md"].decode()


def sheet_rows(report, view):
    return list(csv.DictReader(io.StringIO(report.files[f"{view}.csv"].decode(), newline="")))


def test_weight_baselines_stand_apart_and_differ_by_the_upload_of_b(case):
    """32 MiB over 25 GB/s each way, 64 MiB where the weights go up each call; compute takes 1.374 ms."""
    resident, uploaded = sheet_rows(case, "residency")
    assert (resident["id"], uploaded["id"]) == ("resident", "uploaded")
    piece, compute = Fraction(2**25, 25 * 10**6), Fraction(2**37, 10**11)
    steps = {"resident": (piece, compute, piece), "uploaded": (2 * piece, compute, piece)}
    for row in (resident, uploaded):
        wanted = [*steps[row["id"]], sum(steps[row["id"]]), max(steps[row["id"]])]
        names = ("t_h2d", "t_bound", "t_d2h", "t_call", "t_period")
        assert [float(row[name]) for name in names] == pytest.approx([float(each) for each in wanted])
    assert (resident["slowest_step"], uploaded["slowest_step"]) == ("GEMM", "H2D")


def test_old_c_goes_up_with_the_inputs(root):
    (found,) = asked_of(root, "uploads", [gemm(beta=2)], ["gemm", "roofline", "host"])
    assert found["h2d_bytes"] == 2 * (130 * 129 + 130 * 70)


def test_irregular_shapes_print_their_edges_and_efficiency(case):
    rows = projects.tables(case, "irregular", projects.view_number("irregular", name="gemm-case"))
    assert len({repr(table) for table in rows.values()}) == 1
    (found,) = [row for row in rows["txt"] if row[0] == "130×70×129"]
    assert found[6:] == ["2", "2", "70", "1", "22.4%"]


def test_warning_tells_what_is_left_out_and_leans_one_way(root):
    rows = asked_of(root, "warnings", [gemm(), gemm(M=8192, N=8192, K=8192)], ["gemm", "roofline"])
    assert [row["bound"] for row in rows] == ["memory-bound", "compute-bound"]
    assert ["访存受限" in row["warning"] for row in rows] == [True, False]
    assert all("未计" in row["warning"] for row in rows)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"baseline": "upload"}, "'uploaded'"),
        ({"dtype_b": "int5"}, "'int8'"),
        ({"dtype_accum": "fp31"}, "'fp32'"),
        ({"beta": "much"}, "is not a number"),
        ({"splits": "0"}, "minimum 1"),
    ],
)
def test_wrong_input_is_an_error_that_names_the_right_one(given, told, root):
    add_report(root, "wrong", [shape(130, 70)], ["gemm", "roofline", "host", "waves"])
    with pytest.raises(LedgerError) as error:
        projects.built(root, "wrong", **given)
    assert told in str(error.value)


# A new model.

SOFTMAX = """
# Softmax over the rows of a matrix, each row in one tile: max, subtract, exp, sum, divide.
title = { en = "softmax" }
uses  = ["element"]
[inputs]
rows  = { kind = "integer", min = 1, default = 4096 }
width = { kind = "integer", min = 1, default = 4096 }
per_element = { kind = "integer", unit = "FLOP", min = 1, default = 5, source = "one each of the five steps" }
[columns]
flop      = { formula = "rows * width * per_element", unit = "FLOP", display = "si 4", source = "five steps" }
min_bytes = { formula = "2 * rows * width * element_bytes", unit = "B", source = "read, write" }
"""


def test_new_model_is_one_toml_file(root):
    """Softmax gets its bounds from the roofline as it is; no line of Python knows of it."""
    (root / "reports" / "models" / "softmax.toml").write_text(SOFTMAX, encoding="utf-8")
    report = 'models = ["softmax", "roofline"]\n[sheets.one]\n'
    report += (
        '[views.one]\nkind = "record"\nsheet = "one"\ncolumns = ["flop", "traffic", "ai", "bound", "t_bound"]'
    )
    (root / "reports" / "softmax.toml").write_text(report, encoding="utf-8")
    built = projects.built(root, "softmax", machine="teaching-100t-1t")
    texts = [value for _, value in projects.html_rows(built.files["one.html"].decode())]
    assert texts == ["83.89 MFLOP", "64 MiB", "1.25", "memory-bound", "0.067 ms"]


# Engines that are not ours.


@pytest.fixture(scope="module")
def books(reports, case):
    return {name: projects.workbook(report) for name, (report, _) in reports.items()} | {
        "gemm-case": projects.workbook(case)
    }


@pytest.fixture(scope="module")
def recalculated(books):
    """Every workbook without cached values, recalculated by two engines."""
    for program in ("ironcalc", "soffice"):
        engines.require(program)
    copies = [engines.strip_cached(book.xlsx) for book in books.values()]
    return {
        "ironcalc": dict(zip(books, map(engines.ironcalc_values, copies), strict=True)),
        "soffice": dict(zip(books, engines.libreoffice_books(copies), strict=True)),
    }


@pytest.mark.engine
@pytest.mark.parametrize("program", ["ironcalc", "soffice"])
@pytest.mark.parametrize("name", [*FAMILIES, "gemm-case"])
def test_workbook_recalculates_to_its_cached_values(name, program, books, recalculated):
    assert projects.disagreements(books[name], recalculated[program][name]) == {}
