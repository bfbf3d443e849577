"""What a view prints is one text: in every medium, in the workbook, and in it again after an edit."""

import engines
import projects
import pytest

ENGINES = {"ironcalc": engines.ironcalc_values, "soffice": engines.libreoffice_values}
WITHOUT_LOSS = [
    ["id", "price", "double_price", "energy", "double_energy"],
    ["a", "0.0004 USD", "0.0008 USD", "2.5 pJ", "5 pJ"],
    ["b", "0.00015 USD", "0.0003 USD", "600 nJ", "1.2 µJ"],
]
EDITS = {"a/price": -1.25e-9, "b/price": 0.0000123456, "a/energy": 3.3e-300, "b/energy": 1.5e19}
EDITED = [
    ["id", "price", "double_price", "energy", "double_energy"],
    ["a", "-1.25e-9 USD", "-2.5e-9 USD", "3.3e-300 J", "6.6e-300 J"],
    ["b", "0.00001235 USD", "0.00002469 USD", "15 EJ", "30 EJ"],
]


@pytest.mark.parametrize("medium", ["md", "html", "txt", "xlsx"], ids=lambda each: f"edges-8 {each}")
def test_small_numbers_keep_their_digits_in_every_medium(medium, tmp_path):
    report = projects.built(projects.edge("08-small-prints-zero", tmp_path), "r")
    assert projects.tables(report, "v")[medium] == WITHOUT_LOSS


@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES, ids=lambda each: f"edges-8 {each}")
def test_small_numbers_keep_their_digits_when_inputs_are_edited(engine, tmp_path):
    engines.require(engine)
    book = projects.workbook(projects.built(projects.edge("08-small-prints-zero", tmp_path), "r"))
    got = ENGINES[engine](engines.strip_cached(book.xlsx))
    assert projects.printed(got["Printed"], 0) == WITHOUT_LOSS
    changes = {book.place(f"s/{name}"): value for name, value in EDITS.items()}
    got = ENGINES[engine](projects.edited(book.xlsx, changes))
    assert projects.printed(got["Printed"], 0) == EDITED
