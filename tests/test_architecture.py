"""The shape of the engine: layers, doors, sizes, and the words it must not know."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "ledger"

# Each module imports only from the lines above its own.
LAYERS = (
    (
        *("errors", "values", "expr", "positions", "words", "packaged", "markers", "usage"),
        *("answer", "auditing.rules"),
    ),
    ("visible", "differing.gitfiles"),
    (
        *("stamp", "root", "workbook.drawing", "units", "parse", "model", "records", "targets"),
        *("publish", "returned.cellformula"),
    ),
    ("returned.parts",),
    (
        *("ladders", "validation", "scenario", "workbook.sheetdata", "workbook.package"),
        *("chapter", "starter", "meaning"),
    ),
    ("returned.places", "returned.cells", "returned.formulatree", "auditing.reads"),
    (
        *("targets.numpy", "targets.excel", "targets.latex", "targets.language", "display"),
        *("kinds", "declarations", "inject"),
    ),
    ("returned.received", "returned.readback", "auditing.shell"),
    ("plan", "library", "nodes", "returned.record"),
    ("sheetscope", "printed", "plotted", "findings", "misses", "returned.reading", "pins"),
    ("given", "remarks", "returned.changes", "auditing.precedents", "differing.gitconfig"),
    ("returned.edits", "auditing.cellrules", "differing.pairs", "differing.booktext"),
    ("verifying.outside", "verifying.engine"),
    ("verifying.cellcopy", "verifying.byironcalc", "verifying.bylibreoffice"),
    ("verifying.stripped", "verifying.engines"),
    ("verifying.verify",),
    ("verifying.verifytold",),
    ("verifying.verifier",),
    ("returned.snapshot", "reviewing.outdated", "auditing.likeness", "auditing.formularules"),
    ("auditing.printedrules", "auditing.bookrules"),
    ("auditing.audit",),
    ("auditing.audittold",),
    ("auditing.auditor",),
    ("evaluate",),
    ("tables", "names", "views", "trace", "reviewing.fields"),
    ("claims",),
    ("resolve", "render", "workbook.layout", "workbook.pages", "workbook.styles"),
    ("workbook.looks",),
    ("workbook.formulas", "workbook.displaypage", "workbook.choices", "workbook.compared"),
    ("workbook.ledgerpage", "workbook.checklines"),
    (
        *("workbook.tablepage", "workbook.chartspage", "workbook.charts", "workbook.printedpage"),
        *("workbook.definitionspage", "workbook.publishedpage", "workbook.checkspage"),
    ),
    ("workbook.aboutpage",),
    ("workbook.write", "work"),
    ("build", "explain", "frames", "question", "shown", "reviewing.sources"),
    ("book", "calc", "moved", "reviewing.whatif"),
    ("reviewing.review",),
    ("edition",),
    ("causes",),
    ("drift",),
    ("told", "reviewing.reviewtold", "differing.difftold"),
    ("reviewing.reviewer",),
    ("cli",),
    ("__main__",),
)
# Where a library may be imported; everyone else goes through these.
DOORS = {
    "jinja2": {"render"},
    "markdown_it": {"markers"},
    "openpyxl": {"workbook.write", "workbook.charts", "workbook.styles"},
    "pandas": {"frames"},
    "pydantic": {"model", "validation"},
    "tomllib": {"declarations", "positions"},
    "argparse": {"cli", "usage"},
    "fcntl": {"publish"},
    "ironcalc": {"verifying.byironcalc"},
    "multiprocessing": {"verifying.byironcalc"},
    "subprocess": {"differing.gitfiles", "verifying.bylibreoffice"},
}
GPU_WORDS = re.compile(
    r"(?i)\b(gemm|cuda|gpu|nvidia|amd|warps?|occupancy|smem|sm_\w+|block_[mnk]|roofline|fp\d+|bf16|h100|tensor|hbm)\b"
)
LONGEST_MODULE, LONGEST_FUNCTION, MOST_PARAMETERS = 300, 30, 6


def modules():
    for path in sorted(ENGINE.rglob("*.py")):
        name = ".".join(path.relative_to(ENGINE).with_suffix("").parts)
        name = name.removesuffix(".__init__").removesuffix("__init__")
        # A package that only says what it holds is no module.
        if len(ast.parse(path.read_text(encoding="utf-8")).body) > 1:
            yield name, path


MODULES = {name: path for name, path in modules() if name}


def imports(path):
    """Yield every dotted name that a module imports, those for type checking too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def engine_imports(path):
    """Yield the engine's modules that a module imports: itself, or something that stands in it."""
    for name in imports(path):
        if name.startswith("ledger."):
            inner = name.removeprefix("ledger.")
            yield inner if inner in MODULES else inner.rpartition(".")[0]


def test_every_module_has_a_layer():
    assert sorted(MODULES) == sorted(name for layer in LAYERS for name in layer)


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_one_way(name):
    height = {module: number for number, layer in enumerate(LAYERS) for module in layer}
    wrong = {other for other in engine_imports(MODULES[name]) if height[other] >= height[name]}
    assert wrong == set()


@pytest.mark.parametrize("name", MODULES)
def test_a_library_has_one_door(name):
    used = {each.split(".")[0] for each in imports(MODULES[name])}
    assert {library for library in used if name not in DOORS.get(library, {name})} == set()


@pytest.mark.parametrize("name", MODULES)
def test_modules_and_functions_are_short(name):
    text = MODULES[name].read_text(encoding="utf-8")
    long = [f"{name}: {len(text.splitlines())} lines"] if len(text.splitlines()) > LONGEST_MODULE else []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (body[-1].end_lineno - body[0].lineno + 1) if body else 0
            many = len(node.args.args) - (node.args.args[:1] != [] and node.args.args[0].arg == "self")
            if lines > LONGEST_FUNCTION or many > MOST_PARAMETERS:
                long.append(f"{name}.{node.name}: {lines} lines, {many} parameters")
    assert long == []


@pytest.mark.parametrize("name", MODULES)
def test_the_engine_knows_no_gpu_word(name):
    found = [
        line for line in MODULES[name].read_text(encoding="utf-8").splitlines() if GPU_WORDS.search(line)
    ]
    assert found == []


def test_only_the_command_line_prints_or_exits():
    calls = {
        f"{name}: {node.func.id}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"print", "exit"}
    }
    assert {call.split(":")[0] for call in calls} <= {"cli"}


def test_an_import_of_the_command_line_is_light():
    """`--help` must not wait for pandas."""
    heavy = {"pandas", "numpy", "openpyxl", "jinja2", "pydantic"}
    top = {
        node.module or ""
        for node in ast.parse((ENGINE / "cli.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    }
    assert not heavy & {name.split(".")[0] for name in top}
    # `ledger` itself, for `usage`, which is data.
    assert {name for name in top if name.startswith("ledger")} == {"ledger"}


def test_templates_hold_no_number_and_no_arithmetic():
    """Numbers are formatted by display rules; a template only places text."""
    arithmetic = re.compile(r"\{[{%][^}]*(?<![\w\"'.])\d+(?:\.\d+)?\s*[-+*/]|\|\s*(round|int|float|format)\b")
    wrong = [
        f"{path.name}: {line}"
        for path in sorted((ROOT / "templates").glob("*.j2"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if arithmetic.search(line)
    ]
    assert wrong == []
