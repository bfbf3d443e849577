"""How things are shown: display rules and the text they print, the words that outputs say, what an Answer is.

It must not know tables or files: it takes values and gives text.
"""
