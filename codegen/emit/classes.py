"""Python classes from the schemas, by datamodel-code-generator."""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from specvino.codegen.lint.walk import received, sent
from specvino.codegen.lower import for_models
from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.walk import all_schemas

COMMON = shlex.split("""
    --ignore-pyproject --input-file-type openapi --openapi-scopes schemas --schema-version-mode strict --strict-refs
    --target-python-version 3.11 --use-annotated --use-union-operator --use-standard-collections
    --enum-field-as-literal all --use-single-value-enum-as-const --strict-nullable --collapse-root-models
    --use-typed-nullable-map-values --use-typed-map-values-beside-other-types --type-mappings string+uri=string
    --use-title-as-name --naming-strategy primary-first --keep-model-order --use-schema-description
    --use-field-description --use-double-quotes --disable-timestamp --enable-generated-header-marker
    --formatters builtin
""")

# MISSING keeps an absent field apart from a null one, in and out.
PYDANTIC = shlex.split("""
    --output-model-type pydantic_v2.BaseModel --target-pydantic-version 2.14 --use-missing-sentinel --use-type-alias
    --use-one-literal-as-default --extra-fields allow
""")

CLIENT = shlex.split("""
    --output-model-type pydantic_v2.BaseModel --target-pydantic-version 2.12 --use-type-alias
    --use-one-literal-as-default --extra-fields allow
""")

TYPED_DICT = ["--output-model-type", "typing.TypedDict"]


def models(document: dict[str, Any]) -> str:
    """Returns models.py: every schema as a pydantic model."""
    return _generate(for_models(document), PYDANTIC)


def wire(document: dict[str, Any]) -> str:
    """Returns wire.py: what the server sends, as TypedDicts: a handler's answers are plain dicts that mypy checks."""
    lowered = for_models(document)
    answers = sent(document)
    schemas = lowered["components"]["schemas"]
    lowered["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in answers}
    return _generate(lowered, TYPED_DICT)


def answers(document: dict[str, Any]) -> str:
    """Returns a client's models.py: every schema as a pydantic model, in which what is absent is None.

    What may be null may be absent, too: servers of other versions leave it out.
    """
    lowered = for_models(document)
    for _, schema in all_schemas(lowered):
        properties = schema.get("properties", {})
        if required := schema.get("required"):
            schema["required"] = [name for name in required if not _may_be_null(lowered, properties.get(name, {}))]
    return _generate(lowered, CLIENT)


def requests(document: dict[str, Any]) -> str:
    """Returns a client's params.py: what is sent, as TypedDicts for keyword arguments. They have the fields' own names,
    which may begin with an underscore."""
    lowered = for_models(document)
    bodies = received(document)
    schemas = lowered["components"]["schemas"]
    lowered["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in bodies}
    return _generate(lowered, [*TYPED_DICT, "--special-field-name-prefix", ""])


def _may_be_null(document: dict[str, Any], schema: Schema) -> bool:
    target = resolved(document, schema)
    if "enum" in target:
        return None in target["enum"]
    return "null" in target.get("type", ()) or any(_may_be_null(document, each) for each in target.get("anyOf", ()))


def _generate(document: dict[str, Any], flags: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        # The name of the input stands in the header of the output.
        source, target = Path(folder, "openapi.json"), Path(folder, "classes.py")
        source.write_text(json.dumps(document), encoding="utf-8")
        paths = ["--input", str(source), "--output", str(target)]
        command = [sys.executable, "-m", "datamodel_code_generator", *paths, *COMMON, *flags]
        subprocess.run(command, check=True, cwd=folder)
        return target.read_text(encoding="utf-8")
