"""A Python package: pydantic models of answers, TypedDicts of requests, and a client on httpx."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specvino.codegen.emit import classes
from specvino.codegen.emit.templates import templates
from specvino.sdk.document import ClientMethod, Parameter, for_requests, methods
from specvino.sdk.groups import grouped
from specvino.sdk.package import LICENSE, Package

TEMPLATES = Path(__file__).parent / "templates"

TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list[str]"}

_templates = templates(TEMPLATES)
_templates.filters["python"] = lambda value: (
    json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
)


def generate(document: dict[str, Any], package: Package) -> dict[str, str]:
    """Returns the package's files by path. Raises subprocess.CalledProcessError where datamodel-code-generator
    fails."""
    operations = list(methods(document))
    sockets = [operation for operation in operations if operation.socket]
    groups = grouped(operations)
    values = {
        "package": package,
        "operations": operations,
        "sockets": sockets,
        "type_of": type_of,
        "groups": groups,
        "variants": variants,
    }
    answers = {name for operation in operations for name in (operation.answer, operation.event) if name}
    module = f"src/{package.module}"
    sessions = {
        f"{module}/turns.py": _render("turns.py.jinja", values),
        f"{module}/sessions.py": _render("sessions.py.jinja", values | {"asynchronous": False}),
        f"{module}/async_sessions.py": _render("sessions.py.jinja", values | {"asynchronous": True}),
    }
    return {
        "pyproject.toml": _render("pyproject.toml.jinja", values),
        "README.md": _render("README.md.jinja", values),
        "LICENSE": LICENSE.read_text("utf-8"),
        f"{module}/__init__.py": _render("init.py.jinja", values),
        f"{module}/py.typed": "",
        f"{module}/models.py": classes.answers(document, answers, f"{package.module}.answers"),
        f"{module}/answers.py": _render("answers.py.jinja", values),
        f"{module}/params.py": classes.requests(for_requests(document)),
        f"{module}/errors.py": _render("errors.py.jinja", values),
        f"{module}/events.py": _render("events.py.jinja", values),
        f"{module}/transport.py": _render("transport.py.jinja", values),
        f"{module}/raw.py": _render("raw.py.jinja", values),
        f"{module}/streams.py": _render("streams.py.jinja", values),
        f"{module}/texts.py": _render("texts.py.jinja", values),
        f"{module}/conversations.py": _render("conversations.py.jinja", values),
        f"{module}/groups.py": _render("groups.py.jinja", values | {"asynchronous": False}),
        f"{module}/async_groups.py": _render("groups.py.jinja", values | {"asynchronous": True}),
        f"{module}/client.py": _render("client.py.jinja", values | {"asynchronous": False}),
        f"{module}/async_client.py": _render("client.py.jinja", values | {"asynchronous": True}),
        **(sessions if sockets else {}),
    }


def variants(name: str, operation: ClientMethod) -> Iterator[tuple[str, str]]:
    """Yields the other methods of an operation: their names in a group where it is `name`, and their flat names."""
    if operation.event:
        yield f"{name}_stream", f"{operation.id}_stream"
    if operation.items:
        yield f"{name}_all", f"{operation.id}_all"
    if operation.conversation and operation.body:
        yield "parse", f"{operation.id}_parse"
        yield "run_tools", f"{operation.id}_tools"
    if operation.socket:
        yield "session", f"{operation.id}_session"


def type_of(parameter: Parameter) -> str:
    """Returns the annotation of a parameter of a path or a query."""
    values = parameter.schema.get("enum")
    annotation = f"Literal[{', '.join(map(json.dumps, values))}]" if values else TYPES[parameter.schema["type"]]
    return annotation if parameter.required else f"{annotation} | None"


def _render(name: str, values: dict[str, Any]) -> str:
    return _templates.get_template(name).render(**values)
