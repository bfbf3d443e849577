"""README and help say what is true."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import projects
import pytest

from ledger import Project, cli
from ledger.display.rules import parse as parse_rule
from ledger.language.expr import FUNCTIONS, VOCABULARY

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", FUNCTIONS)
def test_every_word_is_in_the_table_of_the_language(word):
    table = README.partition("## The language")[2].partition("\n## ")[0]
    written = re.findall(r"^\| (.*?) \| ", table, re.MULTILINE)
    assert [cell for cell in written if re.search(rf"`[^`]*\b{word}\b[^`]*`", cell)] != []


@pytest.mark.parametrize("word", VOCABULARY)
def test_every_word_has_a_meaning(word):
    assert VOCABULARY[word].meaning


def test_every_command_is_documented(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    commands = re.findall(r"^    (\w[\w-]*)(?= |$)", capsys.readouterr().out, re.MULTILINE)
    assert commands
    assert [each for each in commands if f"tile-ledger {each}" not in README] == []


@pytest.mark.parametrize("rule", ["integer", "fixed 2", "percent 1", "scientific 3", "si 4", "iec 4", "text"])
def test_every_display_rule_is_documented(rule):
    parse_rule(rule)
    assert f"`{rule.split()[0]}" in README


def test_the_table_in_the_readme_is_the_one_that_is_built():
    built = (ROOT / "reports/gemm-ledger/sweep.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in built.splitlines() if line.startswith("|"))
    assert table in README


def test_every_picture_and_file_the_readme_names_exists():
    named = re.findall(r"\]\(([^)#]+)\)", README) + re.findall(
        r"`((?:scenarios|reports)/[\w./-]+\.\w+)`", README
    )
    assert [name for name in named if not (ROOT / name).exists() and not re.search("loans|NAME", name)] == []


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE)
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [each for each in targets if f"make {each}" not in done.stdout] == []
    assert (done.stderr, len(targets)) == ("", len(set(targets)))


def test_the_ledger_in_the_readme_builds(tmp_path, monkeypatch, capsys):
    toml = re.search(r"```toml\n(.*?)```", README, re.DOTALL)[1]
    (tmp_path / "reports").mkdir()
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "ledger.toml").write_text(
        f'templates = "{(ROOT / "templates").as_posix()}"\n', encoding="utf-8"
    )
    (tmp_path / "reports/loans.toml").write_text(toml, encoding="utf-8")
    (tmp_path / "scenarios/loans.csv").write_text(
        "id,principal,rate,months\ncar,20000,0.06,60\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    assert cli.main(["build"]) == cli.OK, capsys.readouterr().err
    printed = (tmp_path / "reports/loans/costs.md").read_text(encoding="utf-8")
    assert "386.66 EUR" in printed
    assert "6.00%" in printed


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "ledger", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "tile-ledger" in done.stdout


# The script and the calls under "From Python".

FROM_PYTHON = README.partition("## From Python")[2].partition("\n## ")[0]
SCRIPT = re.search(r"```python\n(.*?)```", FROM_PYTHON, re.DOTALL)[1]
TOLD = "\nimport json; print(json.dumps([line.get_xydata().tolist() for line in plt.gca().lines]))\n"


@pytest.mark.slow
def test_the_script_plots_the_points_and_roofs_of_the_workbook(tmp_path):
    """Its first machine is the one that the committed workbook shows."""
    root = projects.copy_project(tmp_path / "book")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + TOLD],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    roof, points, *other = json.loads(done.stdout)
    book = projects.opened((ROOT / "reports/gemm-ledger/gemm-ledger.xlsx").read_bytes())
    rows = ("4096^3", "512^3", "128^3", "256x256x16384", "8192^3")
    cells = [[book.value(book.at("sweep", row, name)) for name in ("ai", "attainable")] for row in rows]
    block = {name: book.value(book.named("sweep", name)) for name in ("balance", "peak.rate", "roof_start")}
    assert (points, roof[1]) == (cells, [block["balance"], block["peak.rate"]])
    assert (roof[0][1], len(other)) == (block["roof_start"], 2)
    assert (root / "roofline.png").read_bytes().startswith(b"\x89PNG")


def test_the_script_has_about_ten_lines():
    assert len([line for line in SCRIPT.splitlines() if line]) <= 11


@pytest.mark.slow
@pytest.mark.parametrize("call", re.findall(r"^\| `(.*?)`", FROM_PYTHON, re.MULTILINE))
def test_every_call_that_the_readme_shows_answers(call, tmp_path):
    project = Project(projects.write_book(tmp_path / "book")) if "project." in call else Project(ROOT)
    report = Project(ROOT).report("gemm-ledger")
    sheet = report.sheet("sweep")
    known = {"project": project, "report": report, "frame": sheet.frame()[list(sheet.inputs)]}
    for each in re.split("`, `", call):
        assert eval(each, known) is not None  # noqa: S307  # our own page
