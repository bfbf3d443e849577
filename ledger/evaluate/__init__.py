"""A plan evaluated over its scenarios: values, error codes, lookups, findings, printed views, cells traced.

It must not know the disk or a medium: it takes scenarios that were read, and gives values and printed text.
"""
