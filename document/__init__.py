"""Reading of OpenAPI documents for all packages: loading, pointers, references, operations, unions, validation and
rewriting.

Documents are plain dicts, as `json.loads` returns them. `__all__` is public; the modules are private. The package
imports no other package of this project, so codegen, which creates the documents, can use it, too. Only `loading` reads
codegen's output, generated/; codegen doesn't use it.
"""

from specvino.document.beyond_bounds import beyond_bounds
from specvino.document.conditions import Conditions, Refusal, value_at
from specvino.document.loading import conditions_of, dialect_file, load, lowered, systems, whole
from specvino.document.operations import Operation, Schema, base_paths, by_endpoint, event_of, name_of, operations
from specvino.document.pointers import at, component_name, escape, referred, resolved, schema_reference, unescape
from specvino.document.transforms import folded, to_31, to_32
from specvino.document.unions import Union
from specvino.document.validator import Validator, Validators
from specvino.document.walk import all_schemas, closure, descend, followed, reached, references, subschemas

__all__ = [
    "Conditions",
    "Operation",
    "Refusal",
    "Schema",
    "Union",
    "Validator",
    "Validators",
    "all_schemas",
    "at",
    "base_paths",
    "beyond_bounds",
    "by_endpoint",
    "closure",
    "component_name",
    "conditions_of",
    "descend",
    "dialect_file",
    "escape",
    "event_of",
    "folded",
    "followed",
    "load",
    "lowered",
    "name_of",
    "operations",
    "reached",
    "references",
    "referred",
    "resolved",
    "schema_reference",
    "subschemas",
    "systems",
    "to_31",
    "to_32",
    "unescape",
    "value_at",
    "whole",
]
