"""The options of other systems' servers, as `specvino serve --dialect` accepts them.

A YAML file per system maps its options to ours; `README.md` describes the format.
"""
