"""The options of other systems' servers, as `specvino serve --dialect` understands them.

A file for each system says what its options are here; `README.md` says how to read one.
"""
