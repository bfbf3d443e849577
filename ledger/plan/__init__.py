"""What is to be computed: every name of every sheet resolved, with views, charts, claims and settings.

It must not know values or rows of a scenario: those are read and computed by the plan, not for it.
"""
