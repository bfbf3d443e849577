"""The worksheets that we write: ledgers, tables, Printed, Checks, Charts, Definitions, About, the record.

It must not know how a formula is spelled: it says which cell each name is, a target does the rest.
"""
