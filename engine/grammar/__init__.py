"""JSON Schemas and regular expressions as grammars (EBNF) that constrain a model's answer.

XGrammar 0.1.31, inside of GenAI 2026.4.1, allows white space without end (decision 007), numbers below a fractional
`minimum` (decision 008), and ignores keywords silently (decision 009). So schemas become grammars here, and the
pipeline gets those. Nothing in this package knows OpenVINO.
"""
