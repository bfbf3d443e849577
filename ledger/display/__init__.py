"""Printed text: display rules and what they print, the fixed words of outputs, the Answer of a command.

It must not know tables or files: it takes values and gives text.
"""
