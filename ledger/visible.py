"""Text of a stranger's workbook on one line, so that a terminal shows it and obeys nothing in it."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Return text with what does not print, such as a line's end or an escape, as Python writes it.

    >>> visible("a\nb\x1b[2J 性能")
    'a\\nb\\x1b[2J 性能'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
