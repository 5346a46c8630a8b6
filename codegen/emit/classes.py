"""Python classes from the schemas, by datamodel-code-generator."""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from specvino.codegen.emit.opening import open_answers
from specvino.codegen.exchanged import received, sent
from specvino.document.operations import Schema
from specvino.document.pointers import referred, resolved
from specvino.document.transforms import copied
from specvino.document.walk import all_schemas, closure, descend

COMMON = shlex.split("""
    --ignore-pyproject --input-file-type openapi --openapi-scopes schemas --schema-version-mode strict --strict-refs
    --target-python-version 3.11 --use-annotated --use-union-operator --use-standard-collections
    --enum-field-as-literal all --use-single-value-enum-as-const --strict-nullable --collapse-root-models
    --use-typed-nullable-map-values --use-typed-map-values-beside-other-types --type-mappings string+uri=string
    --use-title-as-name --naming-strategy primary-first --keep-model-order --use-schema-description
    --use-field-description --use-double-quotes --disable-timestamp --enable-generated-header-marker
    --formatters builtin
""")

# MISSING distinguishes an absent field from a null one, in requests and answers.
PYDANTIC = shlex.split("""
    --output-model-type pydantic_v2.BaseModel --target-pydantic-version 2.14 --use-missing-sentinel --use-type-alias
    --use-one-literal-as-default --extra-fields allow
""")

CLIENT = shlex.split("""
    --output-model-type pydantic_v2.BaseModel --target-pydantic-version 2.12 --use-type-alias
    --use-one-literal-as-default --type-mappings string+uri=string string+date=string string+date-time=string
""")

TYPED_DICT = ["--output-model-type", "typing.TypedDict"]


def models(document: dict[str, Any]) -> str:
    """Returns models.py: every schema as a pydantic model."""
    return _generate(for_models(document), PYDANTIC)


def wire(document: dict[str, Any]) -> str:
    """Returns wire.py: what the server sends, as TypedDicts. A handler's answers are plain dicts that mypy checks."""
    lowered = for_models(document)
    answers = sent(document)
    schemas = lowered["components"]["schemas"]
    lowered["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in answers}
    return _generate(lowered, TYPED_DICT)


def answers(document: dict[str, Any], roots: Iterable[str], module: str) -> str:
    """Returns a client's models.py: the components `roots` and what they contain, as subclasses of `Answer` in the
    module `module`, in which an absent field is None. Whatever can be null can also be absent, because servers of other
    versions leave it out.
    """
    lowered = for_models(document)
    schemas = lowered["components"]["schemas"]
    reached = closure(lowered, *roots)
    lowered["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in reached}
    for _, schema in all_schemas(lowered):
        properties = schema.get("properties", {})
        if required := schema.get("required"):
            schema["required"] = [name for name in required if not _may_be_null(lowered, properties.get(name, {}))]
    open_answers(lowered, {"type": "object", "customTypePath": f"{module}.UnknownKind"}, {"type": "string"})
    return _generate(lowered, [*CLIENT, "--base-class", f"{module}.Answer"])


def requests(document: dict[str, Any]) -> str:
    """Returns a client's params.py: what is sent, as TypedDicts for keyword arguments. They use the fields' names,
    which may begin with an underscore.
    """
    lowered = for_models(document)
    bodies = received(document)
    schemas = lowered["components"]["schemas"]
    lowered["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in bodies}
    return _generate(lowered, [*TYPED_DICT, "--special-field-name-prefix", ""])


def _may_be_null(document: dict[str, Any], schema: Schema) -> bool:
    target = resolved(document, schema)
    if "enum" in target:
        return None in target["enum"]
    return "null" in target.get("type", ()) or any(_may_be_null(document, branch) for branch in target.get("anyOf", ()))


def _generate(document: dict[str, Any], flags: list[str]) -> str:
    if not document["components"]["schemas"]:  # datamodel-code-generator 0.89 ends with an error
        return ""
    with tempfile.TemporaryDirectory() as folder:
        # The name of the input is in the header of the output.
        source, target = Path(folder, "openapi.json"), Path(folder, "classes.py")
        source.write_text(json.dumps(document), encoding="utf-8")
        paths = ["--input", str(source), "--output", str(target)]
        command = [sys.executable, "-m", "datamodel_code_generator", *paths, *COMMON, *flags]
        subprocess.run(command, check=True, cwd=folder)
        return target.read_text(encoding="utf-8")


# Keywords that only validate a value. The server has validated it by the document before a model is built, so models
# omit them: they can't contradict the document, and building is faster.
VALIDATING = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "minProperties", "maxProperties", "propertyNames", "not",
)  # fmt: skip


def for_models(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the shapes of the document, for datamodel-code-generator.

    Defaults are removed as well, so that an absent field stays absent in a model; they are a table of their own. Only
    components keep their titles: the generator would make a class of an inline branch with one. Components that are
    maps are inlined: a dict costs a tenth of an object without fields.
    """
    schemas = copied(document["components"]["schemas"])
    _strip(schemas, names=True)
    maps = {f"#/components/schemas/{name}" for name, schema in schemas.items() if _is_map(schema)}
    schemas = {name: schema for name, schema in schemas.items() if not _is_map(schema)}
    for name, schema in schemas.items():
        schema["title"] = name
        for _, child in descend(schema, name):
            if child.get("$ref") in maps:
                kind = referred(document, child.pop("$ref"))["type"]
                child |= {"type": kind, "additionalProperties": True}
    return {"openapi": "3.1.1", "info": document["info"], "paths": {}, "components": {"schemas": schemas}}


def _is_map(schema: Schema) -> bool:
    holds_objects = "object" in schema.get("type", ()) and "properties" not in schema
    return holds_objects and schema.get("additionalProperties") is True


def _strip(node: Any, names: bool = False) -> None:
    if isinstance(node, list):
        for child in node:
            _strip(child)
    elif isinstance(node, dict):
        if not names:
            for key in [
                key for key in node if key.startswith("x-") or key in (*VALIDATING, "default", "examples", "title")
            ]:
                del node[key]
            rules = node.pop("allOf", ())
            if kept := [rule for rule in rules if "if" not in rule]:
                node["allOf"] = kept
        for key, child in node.items():
            _strip(child, names=not names and key in ("properties", "patternProperties"))
