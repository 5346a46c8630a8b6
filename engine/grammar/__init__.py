"""JSON Schemas and regular expressions as grammars (EBNF) that constrain a model's answer.

The pipeline's own reading of JSON Schemas allows white space without end, ignores keywords silently and gets some
wrong (a tab inside of a string with `maxLength`, numbers below a fractional `minimum`). So schemas become grammars
here, and the pipeline gets those. Nothing in this package knows OpenVINO.
"""
