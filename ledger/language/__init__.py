"""The language of formulas: expressions, the closed vocabulary, types and units, the targets that spell it.

It must not know sheets or cells: a name is a name here, wherever its values are.
"""
