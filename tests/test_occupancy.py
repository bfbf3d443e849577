"""The occupancy model says what NVIDIA's calculator says, in NumPy and in a recalculated workbook."""

import csv
import hashlib
import io
import os
import random
import shutil
import subprocess
import sys
import zipfile

import engines
import projects
import pytest

from ledger.errors import LedgerError

DATA = projects.ROOT / "tests" / "data"
REPORT = """
models = ["occupancy"]
[tables.asked]
documents = ["blocks", "factors", "lim_*"]
[tables.asked.fields]
cc                   = { kind = "text" }
threads              = { kind = "integer" }
registers_per_thread = { kind = "integer", column = "regs" }
smem_static          = { kind = "integer", unit = "B" }
smem_dynamic         = { kind = "integer", unit = "B" }
barriers             = { kind = "integer" }
[sheets.all]
rows = "asked"
[views.all]
sheet = "all"
columns = [
    "blocks_per_sm", "limited_by", "blocks_by_warps", "blocks_by_registers", "blocks_by_shared",
    "blocks_by_slots", "blocks_by_barriers", "active_warps", "occupancy", "needs_opt_in", "launch_note",
]
"""
#: The header's factor for each answer of `limited_by`.
FACTORS = {
    "registers": "regs", "shared memory": "smem", "warps": "warps", "block slots": "blocks",
    "barriers": "barriers", "does not launch: threads per block": "warps",
    "does not launch: registers per thread": "regs", "does not launch: registers per block": "regs",
    "does not launch: shared memory per block": "smem", "does not launch: barriers per block": "barriers",
}  # fmt: skip
LIMITS = {
    "blocks_by_warps": "lim_warps", "blocks_by_registers": "lim_regs", "blocks_by_shared": "lim_smem",
    "blocks_by_slots": "lim_blocks", "blocks_by_barriers": "lim_barriers",
}  # fmt: skip
UNLIMITED = "2147483647"
WHEEL, HEADER = "nvidia-cuda-runtime==13.0.96", "nvidia/cu13/include/cuda_occupancy.h"
HEADER_SHA256 = "163b8f29"
DRIVER = r"""
#include <stdio.h>
#include "cuda_occupancy.h"

int main(void) {
    int major, minor, threads, registers, barriers, max_threads;
    long fixed, dynamic, per_sm, per_block, optin, reserved;
    while (scanf("%d.%d %d %d %ld %ld %d %d %ld %ld %ld %ld", &major, &minor, &threads, &registers, &fixed,
                 &dynamic, &barriers, &max_threads, &per_sm, &per_block, &optin, &reserved) == 12) {
        struct cudaOccDeviceProp device = {0};
        struct cudaOccFuncAttributes function = {0};
        struct cudaOccDeviceState state = {CACHE_PREFER_NONE, SHAREDMEM_CARVEOUT_DEFAULT};
        struct cudaOccResult result = {0};
        device.computeMajor = major;
        device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = max_threads;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.numSms = 1;
        device.sharedMemPerBlock = per_block;
        device.sharedMemPerMultiprocessor = per_sm;
        device.sharedMemPerBlockOptin = optin;
        device.reservedSharedMemPerBlock = reserved;
        function.maxThreadsPerBlock = 1024;
        function.numRegs = registers;
        function.sharedSizeBytes = fixed;
        function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        function.maxDynamicSharedSizeBytes = dynamic;
        function.numBlockBarriers = barriers;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, threads, dynamic))
            return 1;
        printf("%d %u %d %d %d %d %d\n", result.activeBlocksPerMultiprocessor, result.limitingFactors,
               result.blockLimitWarps, result.blockLimitRegs, result.blockLimitSharedMem,
               result.blockLimitBlocks, result.blockLimitBarriers);
    }
    return 0;
}
"""
FLAGS = {"warps": 1, "regs": 2, "smem": 4, "blocks": 8, "barriers": 16}


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


VECTORS = rows_of(DATA / "occupancy_vectors.csv")
CASES = {row["id"]: row for row in rows_of(DATA / "occupancy_cases.csv")}
CAPABILITIES = {row["cc"]: row for row in rows_of(projects.ROOT / "scenarios" / "capabilities.csv")}


def launch(cc, threads, regs=32, smem_static=0, smem_dynamic=0, barriers=1):
    """Return one row to ask."""
    return {
        "cc": cc, "threads": threads, "regs": regs, "smem_static": smem_static, "smem_dynamic": smem_dynamic,
        "barriers": barriers,
    }  # fmt: skip


def asked(folder, rows):
    """Return the report of a project whose rows are `rows`, each with an id."""
    root = projects.copy_project(folder)
    (root / "reports" / "asked.toml").write_text(REPORT, encoding="utf-8")
    rows = [{"id": f"r{i}", "smem_static": 0, "barriers": 1, **row} for i, row in enumerate(rows)]
    projects.write_csv(root / "scenarios" / "asked.csv", rows)
    return projects.built(root, "asked")


def answers(report, view="all"):
    """Return a view's rows with every digit, a dict each."""
    return list(csv.DictReader(io.StringIO(report.files[f"{view}.csv"].decode(), newline="")))


def answer(folder, **given):
    (found,) = answers(asked(folder, [launch(**given)]))
    return found


def missing(reason):
    """Skip the test for `reason`; fail it under CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


# The 3,000 rows that NVIDIA's calculator answered.


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return asked(tmp_path_factory.mktemp("vectors"), VECTORS)


def test_blocks_are_those_of_the_calculator_in_3000_of_3000_rows(vectors):
    found = answers(vectors)
    assert len(found) == 3000
    assert [row["blocks_per_sm"] for row in found] == [row["blocks"] for row in VECTORS]


def test_binding_limit_is_one_of_the_calculators_in_3000_of_3000_rows(vectors):
    pairs = zip(answers(vectors), VECTORS, strict=True)
    assert [row for row, told in pairs if FACTORS[row["limited_by"]] not in told["factors"].split("+")] == []


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_is_the_calculators_in_3000_of_3000_rows(limit, vectors):
    told = [row[LIMITS[limit]].replace("inf", UNLIMITED) for row in VECTORS]
    assert [row[limit] for row in answers(vectors)] == told


def test_launch_fails_exactly_where_there_is_no_block(vectors):
    found = answers(vectors)
    refused = [row["limited_by"].startswith("does not launch: ") for row in found]
    assert refused == [row["blocks_per_sm"] == "0" for row in found]
    assert sum(refused) == 1410


@pytest.mark.engine
@pytest.mark.parametrize(
    ("program", "recalculated"),
    [("ironcalc", engines.ironcalc_values), ("soffice", engines.libreoffice_values)],
)
def test_recalculated_workbook_is_the_calculator_in_3000_of_3000_rows(program, recalculated, vectors):
    engines.require(program)
    book = projects.workbook(vectors)
    sheet = recalculated(engines.strip_cached(book.xlsx))["all"]
    letters, first, last = book.columns("all")
    blocks, limits = (
        [sheet[f"{letters[name]}{number}"] for number in range(first, last + 1)]
        for name in ("blocks_per_sm", "limited_by")
    )
    assert blocks == [float(row["blocks"]) for row in VECTORS]
    assert limits == [row["limited_by"] for row in answers(vectors)]


# NVIDIA's own header, fetched for the test and never kept.


@pytest.fixture(scope="module")
def calculator(tmp_path_factory):
    """The program that answers rows with NVIDIA's header, compiled here."""
    folder = tmp_path_factory.mktemp("header")
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        missing("no C compiler is installed here")
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    fetch += ["--only-binary=:all:", "--timeout=10", "--retries=1", f"--dest={folder}", WHEEL]
    done = subprocess.run(fetch, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        missing(f"{WHEEL} cannot be fetched: {done.stderr.strip()[-200:]}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        header = wheel.read(HEADER)
    assert hashlib.sha256(header).hexdigest().startswith(HEADER_SHA256)
    (folder / "cuda_occupancy.h").write_bytes(header)
    (folder / "driver.c").write_text(DRIVER, encoding="utf-8")
    subprocess.run([compiler, "-o", folder / "driver", folder / "driver.c"], check=True)
    return folder / "driver"


def random_rows(count):
    """Return launches of every capability, plausible and not."""
    choose = random.Random(20251129)  # noqa: S311  # the same rows every time
    smallest = (0, 0, 48, 1024, 4096, 49152)
    return [
        launch(
            choose.choice(list(CAPABILITIES)),
            choose.choice((choose.randint(1, 1100), 32 * choose.randint(1, 33))),
            choose.randint(0, 255),
            choose.choice(smallest),
            choose.choice((0, choose.randint(0, 16384), choose.randint(0, 240 * 1024))),
            choose.randint(0, 16),
        )
        for _ in range(count)
    ]


def device(cc):
    """Return what the header must be told of a device."""
    row = CAPABILITIES[cc]
    kib = ("smem_per_sm_kib", "smem_default_per_block_kib", "smem_per_block_optin_kib")
    sizes = [int(row[name]) * 1024 for name in (*kib, "smem_reserved_per_block_kib")]
    return [row["max_threads_sm"], *sizes]


@pytest.mark.engine
def test_model_is_nvidias_header_on_2000_random_rows(calculator, tmp_path):
    rows = random_rows(2000)
    lines = [" ".join(map(str, [*row.values(), *device(row["cc"])])) for row in rows]
    done = subprocess.run([calculator], input="\n".join(lines), capture_output=True, text=True, check=True)
    told = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    found = answers(asked(tmp_path, rows))
    names = ("blocks_per_sm", *LIMITS)
    assert [[int(row[name]) for name in names] for row in found] == [[each[0], *each[2:]] for each in told]
    flags = [FLAGS[FACTORS[row["limited_by"]]] for row in found]
    assert [row for row, flag, each in zip(found, flags, told, strict=True) if not flag & each[1]] == []


# Published cases.


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    names = ("cc", "threads", "regs", "smem_dynamic")
    rows = [{name: row[name] for name in names} for row in CASES.values()]
    return dict(zip(CASES, answers(asked(tmp_path_factory.mktemp("cases"), rows)), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_published_case(name, cases):
    told, found = CASES[name], cases[name]
    for column, published in (("blocks_per_sm", "blocks"), ("blocks_by_shared", "by_smem")):
        assert told[published] in {"", found[column]}
    if told["occupancy_pct"]:
        assert 100 * float(found["occupancy"]) == pytest.approx(float(told["occupancy_pct"]), abs=0.005)
    if told["factors"]:
        assert FACTORS[found["limited_by"]] in told["factors"].split("+")


def test_the_only_published_number_that_disagrees_is_19_blocks_without_the_reserve(cases):
    """R64 divides 228 KiB by 12 KiB; each block also takes the KiB that the driver reserves."""
    wrong = {
        name: (row["published"], cases[name]["blocks_per_sm"])
        for name, row in CASES.items()
        if row["published"] not in {"", cases[name]["blocks_per_sm"]}
    }
    assert wrong == {"R64": ("19", "17")}


@pytest.mark.parametrize(
    ("full", "less"),
    [
        (launch("7.0", 256, 32), launch("7.0", 256, 33)),  # R55
        (launch("8.6", 96), launch("8.6", 64)),  # R65
    ],
)
def test_full_occupancy_ends_where_it_was_published(full, less, tmp_path):
    shares = [float(row["occupancy"]) for row in answers(asked(tmp_path, [full, less]))]
    assert shares[0] == 1
    assert shares[1] < 1


# What the model says beside the numbers.


@pytest.mark.parametrize(
    ("given", "limit", "reason"),
    [
        ({"threads": 1056}, "blocks_by_warps", "does not launch: threads per block"),
        ({"regs": 256}, "blocks_by_registers", "does not launch: registers per thread"),
        ({"threads": 288, "regs": 200}, "blocks_by_registers", "does not launch: registers per block"),
        ({"smem_dynamic": 232449}, "blocks_by_shared", "does not launch: shared memory per block"),
        ({"barriers": 65}, "blocks_by_barriers", "does not launch: barriers per block"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_no_block_is_an_answer_with_its_reason(given, limit, reason, tmp_path):
    found = answer(tmp_path, **{"cc": "9.0", "threads": 32, **given})
    assert (found["blocks_per_sm"], found[limit], found["limited_by"]) == ("0", "0", reason)
    assert found["occupancy"] == "0"


@pytest.mark.parametrize(
    ("given", "unlimited", "limited_by"),
    [
        (launch("7.5", 32), {"blocks_by_shared", "blocks_by_barriers"}, "block slots"),
        (launch("7.5", 1024, 0), {"blocks_by_registers", "blocks_by_shared", "blocks_by_barriers"}, "warps"),
        (launch("9.0", 32, barriers=0), {"blocks_by_barriers"}, "block slots"),
        (launch("9.0", 32, barriers=16), set(), "barriers"),
    ],
)
def test_limit_that_does_not_exist_never_binds(given, unlimited, limited_by, tmp_path):
    found = answer(tmp_path, **given)
    assert {name for name in LIMITS if found[name] == UNLIMITED} == unlimited
    assert found["limited_by"] == limited_by


@pytest.mark.parametrize(
    ("smem_static", "smem_dynamic", "needs"), [(0, 49152, "no"), (1, 49152, "yes"), (0, 49153, "yes")]
)
def test_opt_in_is_needed_above_48_kib_of_both_kinds(smem_static, smem_dynamic, needs, tmp_path):
    found = answer(tmp_path, cc="8.0", threads=128, smem_static=smem_static, smem_dynamic=smem_dynamic)
    assert found["needs_opt_in"] == needs


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ({"threads": 128}, "none"),
        ({"threads": 100}, "last warp partly idle"),
        ({"threads": 1056}, "more threads than a block may have"),
        ({"threads": 128, "smem_dynamic": 49153}, "none"),
        ({"threads": 128, "smem_static": 49153}, "static shared memory too large to compile"),
    ],
)
def test_note_tells_what_is_odd_about_a_launch(given, note, tmp_path):
    assert answer(tmp_path, cc="8.0", **given)["launch_note"] == note


@pytest.mark.parametrize(
    ("cc", "hint"),
    [
        ("9.1", "did you mean '9.0'"),
        ("8.1", "did you mean '8."),
        ("5.2", "known: 10.0, 10.3"),
        ("sm_90", "known: 10.0, 10.3"),
        ("gfx942", "known: 10.0, 10.3"),
    ],
)
def test_unknown_capability_is_an_error_with_its_place_and_the_known_ones(cc, hint, tmp_path):
    with pytest.raises(LedgerError) as caught:
        asked(tmp_path, [launch(cc, 128)])
    assert f"scenarios/capabilities.csv has no row {cc!r}" in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize("machine", ["mi300x", "ascend-910b"])
def test_machine_of_another_maker_is_refused_not_guessed(machine, tmp_path):
    with pytest.raises(LedgerError, match=r"scenarios/capabilities\.csv has no row"):
        projects.built(projects.copy_project(tmp_path), "occupancy", machine=machine)


# The report.


@pytest.fixture(scope="module")
def report():
    return projects.built(projects.ROOT, "occupancy")


@pytest.mark.slow
def test_default_tile_has_room_in_shared_memory_that_its_registers_do_not_use(report):
    """The book's surprise: 4 and 3 blocks by shared memory, 1 and 2 by the registers TileLang takes."""
    found = {row["cc"]: row for row in answers(report, "default_tile")}
    names = ("threads", "registers_per_thread", "blocks_by_shared", "blocks_per_sm", "limited_by")
    assert {cc: tuple(row[name] for name in names) for cc, row in found.items()} == {
        "8.0": ("128", "226", "3", "2", "registers"),
        "9.0": ("256", "240", "4", "1", "registers"),
    }


@pytest.mark.slow
def test_every_nvidia_machine_meets_every_tile(report):
    machines = rows_of(projects.ROOT / "scenarios" / "machines.csv")
    tiles = rows_of(projects.ROOT / "scenarios" / "tiles.csv")
    _, *rows = projects.tables(report, "blocks", projects.view_number("blocks", name="occupancy"))["md"]
    assert [row[0] for row in rows] == [row["name"] for row in machines if row["vendor"] == "NVIDIA"]
    assert {len(row) for row in rows} == {len(tiles) + 1}
    assert all(each.isdigit() for row in rows for each in row[1:])


def test_printed_limit_that_does_not_exist_is_infinite(report):
    shown = {row["cc"]: row["by_barriers"] for row in answers(report, "compiled")}
    assert shown == {"8.0": "∞", "9.0": "64"}


def test_machines_have_the_limits_of_their_capability():
    names = {
        "max_threads_sm", "max_blocks_sm", "smem_per_sm_kib", "smem_per_block_optin_kib",
        "smem_reserved_per_block_kib", "regs_per_sm", "max_regs_per_thread",
    }  # fmt: skip
    machines = rows_of(projects.ROOT / "scenarios" / "machines.csv")
    wrong = [
        (row["id"], name)
        for row in machines
        if row["vendor"] == "NVIDIA"
        for name in names
        if row[name] != CAPABILITIES[row["cc_or_arch"]][name]
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ["capabilities", "compute_units"])
def test_every_limit_names_documents_that_are_listed(name):
    known = {row["id"] for row in rows_of(projects.ROOT / "scenarios" / "sources.csv")}
    rows = rows_of(projects.ROOT / "scenarios" / f"{name}.csv")
    assert {code for row in rows for code in row["source"].split("; ")} <= known
    assert all(row["source"] for row in rows)


# AMD.


@pytest.mark.parametrize(
    ("arch", "vgprs", "waves"),
    [("gfx942", "170", "2"), ("gfx90a", "50", "8")],  # R66, R67
)
def test_published_waves_per_execution_unit(arch, vgprs, waves, report):
    found = {(row["arch"], row["vgprs"]): row["waves_per_eu"] for row in answers(report, "amd")}
    assert found[arch, vgprs] == waves


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "groups", "limited_by"),
    [
        ({"threads": "256", "vgprs": "64"}, "8", "waves"),
        ({"threads": "256", "vgprs": "128"}, "4", "vector registers"),
        ({"threads": "256", "vgprs": "64", "lds": "32768"}, "2", "LDS"),
        ({"threads": "256", "vgprs": "64", "lds": "65537"}, "0", "does not launch: LDS"),
        ({"threads": "256", "vgprs": "513"}, "0", "does not launch: vector registers"),
        ({"threads": "1024", "vgprs": "256"}, "0", "does not launch: work-group too large"),
    ],
)
def test_work_groups_of_a_compute_unit(given, groups, limited_by, tmp_path):
    found = answers(projects.built(projects.copy_project(tmp_path), "occupancy", **given), "amd")
    assert {(row["groups_per_cu"], row["groups_limited_by"]) for row in found} == {(groups, limited_by)}


def test_architecture_without_sourced_numbers_is_an_error(tmp_path):
    with pytest.raises(LedgerError, match=r"scenarios/compute_units\.csv has no row 'gfx950'"):
        projects.built(projects.copy_project(tmp_path), "occupancy", arch="gfx950")
