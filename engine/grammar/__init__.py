"""JSON Schemas and regular expressions as grammars (EBNF) that constrain a model's answer.

The own reading of JSON Schemas of GenAI 2026.4.1 (XGrammar 0.1.31) allows white space without end, ignores keywords
silently and gets some wrong (a tab inside of a string with `maxLength`, numbers below a fractional `minimum`). So
schemas become grammars here, and the pipeline gets those. Nothing in this package knows OpenVINO.
"""
