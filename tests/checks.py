"""What stands on `Checks` of a workbook, line by line."""

from dataclasses import dataclass

import projects

from ledger.display.words import said

STATUS = "I"


@dataclass(frozen=True)
class Line:
    """A line of `Checks`."""

    sheet: str
    name: str
    count: float
    errors: object
    differ: object
    largest: object
    first: object
    status: str


def lines(book, got):
    """Return every line of `Checks` that has a status, by section: the order of rows, claims, names."""
    title = said("status", "zh"), said("status", "en")
    sheet = got["Checks"]
    found = []
    for number in range(1, book.formulas["Checks"].max_row + 1):
        status = sheet.get(f"{STATUS}{number}")
        if status in title:
            found.append([])
        elif status:
            cells = [sheet.get(f"{letter}{number}") for letter in "ABDEFGHI"]
            found[-1].append(Line(*cells))
    return found


def cached(book):
    """Return the cached values by sheet and address, as an engine would."""
    return {sheet.title: dict(projects.cells(sheet)) for sheet in book.cached}


def red(book, got):
    """Return the names whose line is red, by sheet and name."""
    words = {said(word, language) for word in ("differs", "errors") for language in ("zh", "en")}
    return {(line.sheet, line.name) for line in lines(book, got)[-1] if line.status in words}
