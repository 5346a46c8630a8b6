"""Grammars that constrain a language model's output: JSON Schemas, Lark grammars and structural tags as EBNF for
XGrammar.

`lower_json_schema` and `lower_structural_tag` return the grammar that XGrammar compiles; the builders (`constant`,
`regex`, `tag` and others) make structural tags. A grammar never allows what a schema forbids, except for the keywords
that the result lists. The package depends on jsonschema-rs and lark, and on nothing else of Specvino. Names outside
`__all__` are private. README.md has the rules, the limits and an example.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from specvino.engine.grammar._errors import GrammarError, Path
from specvino.engine.grammar._from_schema.keywords import LARK
from specvino.engine.grammar._json_schema import (
    JSON_TYPES,
    Members,
    admitted_types,
    members,
    types_of_value,
)
from specvino.engine.grammar._lowered import LoweredConstraint
from specvino.engine.grammar._structural_tags.builders import (
    ANY_TEXT,
    NO_ARGUMENTS,
    NOTHING,
    TagFormat,
    admits_any_value,
    argument_elements,
    argument_list,
    arguments_object,
    constant,
    ebnf,
    either,
    json_schema,
    lark,
    plain_string,
    regex,
    sequence,
    tag,
    tags,
    triggered,
)

if TYPE_CHECKING:
    from specvino.engine.grammar._lowering import (
        json_schema_example,
        lower_json_schema,
        lower_structural_tag,
        structural_tag_example,
    )

__all__ = [
    "ANY_TEXT",
    "JSON_TYPES",
    "LARK",
    "NOTHING",
    "NO_ARGUMENTS",
    "GrammarError",
    "LoweredConstraint",
    "Members",
    "Path",
    "TagFormat",
    "admits_any_value",
    "admitted_types",
    "argument_elements",
    "argument_list",
    "arguments_object",
    "constant",
    "ebnf",
    "either",
    "json_schema",
    "json_schema_example",
    "lark",
    "lower_json_schema",
    "lower_structural_tag",
    "members",
    "plain_string",
    "regex",
    "sequence",
    "structural_tag_example",
    "tag",
    "tags",
    "triggered",
    "types_of_value",
]


def __getattr__(name: str) -> Any:
    """Imports what makes grammars when it is asked for: most processes of the engine only pass grammars on."""
    if name in __all__:
        return getattr(import_module("specvino.engine.grammar._lowering"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
