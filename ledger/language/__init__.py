"""What a formula can say: expressions, the closed vocabulary, types and units, the targets it is spelled in.

It must not know sheets or cells: a name is a name here, wherever its values are.
"""
