"""README and help say what is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ledger import cli
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
