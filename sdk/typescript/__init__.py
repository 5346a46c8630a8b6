"""An npm package: types by openapi-typescript, a client on openapi-fetch."""

import json
import re
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from specvino.sdk import node
from specvino.sdk.document import Parameter, methods
from specvino.sdk.package import LICENSE, Package

TEMPLATES = Path(__file__).parent / "templates"

TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "array": "string[]"}

_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEMPLATES),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def camel(name: str) -> str:
    """Returns a name in camel case: `create_chat_completion` becomes `createChatCompletion`."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


_templates.filters |= {"camel": camel, "json": json.dumps}


def generate(document: dict[str, Any], package: Package) -> dict[str, str]:
    """Returns the package's files by path. Raises NodeError where npm or openapi-typescript fails."""
    values = {"package": package, "operations": list(methods(document)), "type_of": type_of}
    return {
        "package.json": _render("package.json.jinja", values),
        "tsconfig.json": _render("tsconfig.json", values),
        "README.md": _render("README.md.jinja", values),
        "LICENSE": LICENSE.read_text("utf-8"),
        "src/schema.ts": _types(document),
        "src/runtime.ts": _render("runtime.ts.jinja", values),
        "src/index.ts": _render("index.ts.jinja", values),
    }


def type_of(parameter: Parameter) -> str:
    """Returns the type of a parameter of a path or a query."""
    values = parameter.schema.get("enum")
    return " | ".join(map(json.dumps, values)) if values else TYPES[parameter.schema["type"]]


def _types(document: dict[str, Any]) -> str:
    modules = node.installed(files("specvino.sdk.typescript") / "tools")
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent)
        (folder / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
        # A field with a default may be left out of a request all the same.
        options = ["--default-non-nullable=false", "--output", "schema.ts"]
        node.run(modules / "openapi-typescript" / "bin" / "cli.js", "openapi.json", *options, folder=folder)
        return (folder / "schema.ts").read_text("utf-8")


def _render(name: str, values: dict[str, Any]) -> str:
    return _templates.get_template(name).render(**values)
