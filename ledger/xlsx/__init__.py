"""The file format, both ways: parts, cells, formula tokens and trees, Excel's limits, the published record.

It must not know ledgers: rows, columns, names and formulas are those that a workbook's own record gives.
"""
