"""Handler protocols and the tables that the server, the handlers and the conformance suite read, by the templates
beside this file."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import jinja2

from specvino.codegen.emit.other_paths import other_paths
from specvino.codegen.emit.shapes import query_shape, shapes
from specvino.codegen.emit.streams import filled
from specvino.document.operations import JSON, Operation, name_of, operations
from specvino.document.walk import closure

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


def handlers(document: dict[str, Any], dialects: Collection[dict[str, Any]]) -> str:
    """Returns handlers.py: a Protocol per tag, the table of operations, and paths that others serve."""
    groups: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    literals: dict[str, list[str]] = {}

    def kind(operation: Operation, parameter: dict[str, Any]) -> str:
        """Returns the type of a parameter; that of an enum has a name, under which handlers have it, too."""
        schema = parameter["schema"]
        if "enum" not in schema:
            return PYTHON_TYPES[schema["type"]]
        name = "".join(word.title() for word in f"{operation.id}_{parameter['name']}".split("_"))
        literals[name] = schema["enum"]
        return name

    for operation in operations(document):
        definition = operation.definition
        content = operation.content()
        returns = []
        if JSON in content:
            returns.append(f"wire.{name_of(content[JSON]['schema'])}")
        if operation.event:
            returns.append(f"AsyncGenerator[wire.{name_of(operation.event)}]")
        groups[definition["tags"][0]].append(
            {
                "id": operation.id,
                "tag": definition["tags"][0],
                "endpoint": operation.endpoint,
                "method": operation.method,
                "path": operation.path,
                "summary": definition["summary"],
                "root": operation.is_also_at_root,
                "parameters": [(each["name"], kind(operation, each)) for each in operation.parameters_in("path")],
                "query": [
                    {
                        "name": each["name"],
                        "kind": each["schema"]["type"],
                        "default": each["schema"].get("default"),
                        "type": kind(operation, each) + ("" if "default" in each["schema"] else " | None"),
                    }
                    for each in operation.parameters_in("query")
                ],
                "body": operation.body_component,
                "framing": definition.get("x-stream", {}).get("framing"),
                "terminator": definition.get("x-stream", {}).get("terminator"),
                "returns": " | ".join(returns),
            }
        )
    return _render("handlers.py.jinja", groups=groups, literals=literals, other_paths=other_paths(document, dialects))


def systems(systems: dict[str, str]) -> str:
    """Returns systems.py: the systems that have documents of their own."""
    return _render("systems.py.jinja", systems=systems)


def errors(errors: dict[str, Any]) -> str:
    """Returns errors.py: the error codes and what follows from each."""
    return _render("errors.py.jinja", types=errors["types"], codes=errors["codes"])


def streams(document: dict[str, Any]) -> str:
    """Returns streams.py: the x-stream tables, with defaults filled in."""
    tables = {
        each.endpoint: filled(each.definition["x-stream"])
        for each in operations(document)
        if "x-stream" in each.definition
    }
    return _render("streams.py.jinja", tables=tables)


def support(document: dict[str, Any]) -> str:
    """Returns support.py: for each object of a request, its fields with their handling; and the defaults of the bodies.

    The query of an operation is an object as well, called `retrieve_response.query`.
    """
    bodies = [each.body_component for each in operations(document) if each.body_component]
    names = sorted(closure(document, *bodies))
    schemas = document["components"]["schemas"]
    objects, unions = shapes(document, names)
    objects |= {
        f"{operation.id}.query": query_shape(query)
        for operation in operations(document)
        if (query := operation.parameters_in("query"))
    }
    defaults = {
        name: {
            key: child["default"] for key, child in schemas[name].get("properties", {}).items() if "default" in child
        }
        for name in bodies
    }
    return _render("support.py.jinja", shapes=objects, unions=unions, defaults=defaults)
