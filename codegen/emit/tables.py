"""Handler protocols and the tables that server, handlers and judges read, by the templates beside this file."""

from pathlib import Path
from typing import Any

import jinja2

from specvino.codegen.emit.streams import filled
from specvino.codegen.fields import stream_event
from specvino.codegen.schemas import Schema, closure, component_name, operations, resolve

PYTHON_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}

_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_templates.filters["python"] = repr


def _render(name: str, **values: Any) -> str:
    return _templates.get_template(name).render(**values)


def handlers(document: dict[str, Any]) -> str:
    """handlers.py: a Protocol per tag, and the table of operations."""
    groups: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, method, item, operation in operations(document):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        content = operation["responses"]["200"]["content"]
        stream = content.get("text/event-stream")
        returns = []
        if "application/json" in content:
            returns.append("wire." + component_name(content["application/json"]["schema"]["$ref"]))
        if stream:
            event = component_name(stream_event(document, stream)["$ref"])
            returns.append(f"AsyncGenerator[wire.{event}]")
        parameters = [*item.get("parameters", ()), *operation.get("parameters", ())]
        groups[operation["tags"][0]].append(
            {
                "id": operation["operationId"],
                "tag": operation["tags"][0],
                "endpoint": operation["x-endpoint"],
                "method": method.upper(),
                "path": path,
                "summary": operation["summary"],
                "root": operation.get("x-root", False),
                "parameters": [(p["name"], PYTHON_TYPES[p["schema"]["type"]]) for p in parameters],
                "body": body and component_name(body["$ref"]),
                "framing": operation.get("x-stream", {}).get("framing"),
                "terminator": operation.get("x-stream", {}).get("terminator"),
                "returns": " | ".join(returns),
            }
        )
    return _render("handlers.py.jinja", groups=groups)


def errors(errors: dict[str, Any]) -> str:
    """errors.py: the error codes and what follows from each."""
    return _render("errors.py.jinja", types=errors["types"], codes=errors["codes"])


def streams(document: dict[str, Any]) -> str:
    """streams.py: the x-stream tables, with defaults filled in."""
    tables = {op["x-endpoint"]: filled(op["x-stream"]) for _, _, _, op in operations(document) if "x-stream" in op}
    return _render("streams.py.jinja", tables=tables)


def support(document: dict[str, Any]) -> str:
    """support.py: for each object of a request, its fields with their fate, and their defaults."""
    bodies = [
        component_name(operation["requestBody"]["content"]["application/json"]["schema"]["$ref"])
        for _, _, _, operation in operations(document)
        if "requestBody" in operation
    ]
    names = sorted(closure(document, *bodies))
    schemas = document["components"]["schemas"]
    shapes = {name: shape for name in names if (shape := _shape(document, schemas[name]))}
    defaults = {
        name: {
            key: child["default"] for key, child in schemas[name].get("properties", {}).items() if "default" in child
        }
        for name in bodies
    }
    return _render("support.py.jinja", shapes=shapes, defaults=defaults)


def _shape(document: dict[str, Any], schema: Schema) -> dict[str, Any] | None:
    if "discriminator" in schema:
        discriminator = schema["discriminator"]
        mapping = {value: component_name(reference) for value, reference in discriminator["mapping"].items()}
        return {"select": discriminator["propertyName"], "variants": mapping, "fields": {}}
    if "properties" not in schema:
        return None
    fields = {
        name: {
            "fate": child["x-fate"],
            "shape": _shape_below(document, child),
            "honours": child.get("x-honours"),
        }
        for name, child in schema["properties"].items()
    }
    return {"select": None, "variants": {}, "fields": fields}


def _shape_below(document: dict[str, Any], schema: Schema) -> str | None:
    """The component that describes the objects in a property's value, be it one object, a list of them or a union."""
    if "$ref" in schema:
        target = resolve(document, schema["$ref"])
        if "properties" in target or "discriminator" in target:
            return component_name(schema["$ref"])
        return _shape_below(document, target)
    for child in (schema.get("items"), *schema.get("anyOf", ())):
        if isinstance(child, dict) and (found := _shape_below(document, child)):
            return found
    return None
