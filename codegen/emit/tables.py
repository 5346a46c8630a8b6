"""Handler protocols and the tables for the server, the handlers and the conformance suite, from the templates in this
folder.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from specvino.codegen.emit.shapes import query_shape, shapes
from specvino.codegen.emit.templates import templates
from specvino.document.operations import JSON, Operation, base_paths, name_of, operations
from specvino.document.walk import closure

PYTHON_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list[str]"}

_templates = templates(Path(__file__).parent)
_templates.filters["python"] = repr


def _render(name: str, **values: Any) -> str:
    return _templates.get_template(name).render(**values)


def handlers(document: dict[str, Any], dialects: Collection[dict[str, Any]]) -> str:
    """Returns handlers.py: a Protocol per tag, the table of operations, and paths of other systems."""
    groups: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    literals: dict[str, list[str]] = {}

    def kind(operation: Operation, parameter: dict[str, Any]) -> str:
        """Returns the type of a parameter; an enum gets a name, which handlers use as well."""
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
                "parameters": [
                    (parameter["name"], kind(operation, parameter)) for parameter in operation.parameters_in("path")
                ],
                "query": [
                    {
                        "name": parameter["name"],
                        "kind": parameter["schema"]["type"],
                        "default": parameter["schema"].get("default"),
                        "type": kind(operation, parameter) + ("" if "default" in parameter["schema"] else " | None"),
                    }
                    for parameter in operation.parameters_in("query")
                ],
                "body": operation.body_component,
                "framing": definition.get("x-stream", {}).get("framing"),
                "terminator": definition.get("x-stream", {}).get("terminator"),
                "limited": "429" in definition["responses"],
                "error": name_of(operation.content("500")[JSON]["schema"]),
                "returns": " | ".join(returns),
            }
        )
    return _render("handlers.py.jinja", groups=groups, literals=literals, other_paths=other_paths(document, dialects))


def systems(systems: dict[str, str]) -> str:
    """Returns systems.py: the systems that have documents of their own."""
    return _render("systems.py.jinja", systems=systems)


def errors(errors: dict[str, Any]) -> str:
    """Returns errors.py: the error codes and their properties."""
    return _render("errors.py.jinja", **errors)


def streams(document: dict[str, Any]) -> str:
    """Returns streams.py: the x-stream tables, with defaults filled in, and with whether a stream is the default."""
    tables = {
        operation.endpoint: {
            **filled(operation.definition["x-stream"]),
            "by_default": operation.streams_by_default,
        }
        for operation in operations(document)
        if "x-stream" in operation.definition
    }
    return _render("streams.py.jinja", tables=tables)


def support(document: dict[str, Any]) -> str:
    """Returns support.py: the fields of each object of a request with their handling, and the defaults of the bodies.

    The query of an operation counts as an object, called `retrieve_response.query` for example.
    """
    bodies = [operation.body_component for operation in operations(document) if operation.body_component]
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
        for name in names
    }
    defaults = {name: values for name, values in defaults.items() if values or name in bodies}
    return _render("support.py.jinja", shapes=objects, unions=unions, defaults=defaults)


def other_paths(document: Mapping[str, Any], dialects: Collection[Mapping[str, Any]]) -> list[str]:
    """Returns the paths of other systems that an operation of ours would match, without base paths, such as
    `/responses/compact`, which `/responses/{response_id}` matches.
    """
    declared = {operation.path for operation in operations(document)}
    ours = [re.compile(re.sub(r"\\{\w+\\}", ".+", re.escape(path))) for path in declared if "{" in path]
    bases = {*base_paths(document), *(base for dialect in dialects for base in dialect["base_paths"])}
    theirs = {
        re.sub(f"^({'|'.join(map(re.escape, sorted(bases, key=len, reverse=True)))})/", "/", path)
        for dialect in dialects
        for operation in dialect.get("other_operations", ())
        for path in operation["path"].split(", ")
    }
    literal = {path for path in theirs if re.fullmatch(r"(/[\w.-]+)+", path)}
    return sorted(path for path in literal - declared if any(pattern.fullmatch(path) for pattern in ours))


# The names in x-stream that are reserved in Python.
FIELD_NAMES = {"from": "start", "as": "field"}


def filled(table: dict[str, Any]) -> dict[str, Any]:
    """Returns a table with the defaults filled in, the machines as a list and the laws as expressions."""
    rules = table["classify"]
    if not isinstance(rules, str):
        optional = ("each", "key", "unless")
        rules = [{**dict.fromkeys(optional), **rule, "at": tuple(rule["at"])} for rule in rules]
    machines = [
        {
            "name": name,
            "inside": machine.get("in"),
            **{key: machine.get(key) for key in ("key", "open", "close")},
            **{key: tuple(machine.get(key, ())) for key in ("body", "end", "fail", "abort")},
        }
        for name, machine in table["machines"].items()
    ]
    laws = [_law(law) for law in table["laws"]]
    return {**table, "classify": rules, "machines": machines, "laws": laws, "aside": table.get("aside")}


def _law(law: str | dict[str, Any]) -> str:
    """Writes a law as an expression: `{law: one fact, of: choice}` is `OneFact(of='choice')`."""
    entry = {"law": law} if isinstance(law, str) else dict(law)
    return _call(entry.pop("law").title().replace(" ", ""), entry)


def _call(name: str, values: dict[str, Any]) -> str:
    arguments = (f"{FIELD_NAMES.get(key, key)}={_expression(value)}" for key, value in values.items())
    return f"{name}({', '.join(arguments)})"


def _expression(value: Any) -> str:
    if isinstance(value, list):
        return f"({''.join(_expression(element) + ', ' for element in value)})"
    return _call("Text", value) if isinstance(value, dict) else repr(value)
