"""Handler protocols and the tables that server, handlers and judges read, by the templates beside this file."""

from pathlib import Path
from typing import Any

import jinja2

from specvino.codegen.emit.shapes import query_shape, shapes
from specvino.codegen.emit.streams import filled
from specvino.codegen.fields import stream_event
from specvino.codegen.schemas import Schema, closure, component_name, operations, parameters

PYTHON_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list[str]"}

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
        groups[operation["tags"][0]].append(
            {
                "id": operation["operationId"],
                "tag": operation["tags"][0],
                "endpoint": operation["x-endpoint"],
                "method": method.upper(),
                "path": path,
                "summary": operation["summary"],
                "root": operation.get("x-served-at-root", False),
                "parameters": [
                    (each["name"], _python_type(each["schema"])) for each in parameters("path", item, operation)
                ],
                "query": [
                    {
                        "name": each["name"],
                        "kind": each["schema"]["type"],
                        "default": each["schema"].get("default"),
                        "type": _python_type(each["schema"]) + ("" if "default" in each["schema"] else " | None"),
                    }
                    for each in parameters("query", item, operation)
                ],
                "body": body and component_name(body["$ref"]),
                "framing": operation.get("x-stream", {}).get("framing"),
                "terminator": operation.get("x-stream", {}).get("terminator"),
                "returns": " | ".join(returns),
            }
        )
    return _render("handlers.py.jinja", groups=groups)


def _python_type(schema: Schema) -> str:
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    return PYTHON_TYPES[schema["type"]]


def errors(errors: dict[str, Any]) -> str:
    """errors.py: the error codes and what follows from each."""
    return _render("errors.py.jinja", types=errors["types"], codes=errors["codes"])


def streams(document: dict[str, Any]) -> str:
    """streams.py: the x-stream tables, with defaults filled in."""
    tables = {op["x-endpoint"]: filled(op["x-stream"]) for _, _, _, op in operations(document) if "x-stream" in op}
    return _render("streams.py.jinja", tables=tables)


def support(document: dict[str, Any]) -> str:
    """support.py: for each object of a request, its fields with their handling; and the defaults of the bodies.

    The query of an operation is an object as well, called `retrieve_response.query`.
    """
    bodies = [
        component_name(operation["requestBody"]["content"]["application/json"]["schema"]["$ref"])
        for _, _, _, operation in operations(document)
        if "requestBody" in operation
    ]
    names = sorted(closure(document, *bodies))
    schemas = document["components"]["schemas"]
    objects, unions = shapes(document, names)
    objects |= {
        f"{operation['operationId']}.query": query_shape(query)
        for _, _, item, operation in operations(document)
        if (query := parameters("query", item, operation))
    }
    defaults = {
        name: {
            key: child["default"] for key, child in schemas[name].get("properties", {}).items() if "default" in child
        }
        for name in bodies
    }
    return _render("support.py.jinja", shapes=objects, unions=unions, defaults=defaults)
