"""What the code imports beside the public API of its dependencies is listed in docs/decisions/001, and bounded."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text())
RECORD = PROJECT / "docs" / "decisions" / "001-non-public-imports.md"

# The modules below a dependency's top that its documentation names. Of another, any import counts as non-public.
PUBLIC = {
    *("alembic.config", "alembic.runtime.migration", "alembic.script"),
    *("connexion.exceptions", "connexion.lifecycle", "connexion.resolver"),
    "cryptography.fernet",
    *("huggingface_hub.constants", "huggingface_hub.errors"),
    *("jinja2.ext", "jinja2.parser", "jinja2.sandbox"),
    "jsonschema_rs.canonical",  # in its __all__
    "numpy.typing",
    *(
        "opentelemetry.exporter.otlp.proto.http.metric_exporter",
        "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    ),
    *("opentelemetry.propagate", "opentelemetry.sdk.metrics", "opentelemetry.sdk.metrics.export"),
    *(
        "opentelemetry.sdk.resources",
        "opentelemetry.sdk.trace",
        "opentelemetry.sdk.trace.export",
        "opentelemetry.trace",
    ),
    *("openapi_core.datatypes", "openapi_core.exceptions", "openapi_core.protocols"),
    *("prometheus_client.core", "prometheus_client.parser", "prometheus_client.registry"),
    "pythonjsonlogger.core",
    *("ray.exceptions", "ray.serve", "ray.serve.config", "ray.serve.schema"),
    "requests.exceptions",
    *(
        "rich.console",
        "rich.live",
        "rich.markdown",
        "rich.padding",
        "rich.progress",
        "rich.progress_bar",
        "rich.table",
        "rich.text",
    ),
    *("sqlalchemy.exc", "sqlalchemy.ext.asyncio"),
    *("starlette.applications", "starlette.convertors", "starlette.middleware"),
    *("starlette.exceptions", "starlette.middleware.cors", "starlette.requests", "starlette.responses"),
    *("starlette.routing", "starlette.staticfiles", "starlette.types"),
    "tqdm.auto",
    "typer.core",
    "urllib3.exceptions",
    *("websockets.asyncio.client", "websockets.exceptions"),
}


def _imports(source: str) -> Iterator[tuple[str, str]]:
    """The module and the name of each import; `import module` has no name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def _is_private(path: str) -> bool:
    return any(step.startswith("_") and not step.startswith("__") for step in path.split("."))


def _non_public(source: str) -> set[str]:
    """The imports, as `module.name`, that their owners don't document."""
    names = set()
    for module, name in _imports(source):
        path = f"{module}.{name}".rstrip(".")
        owner = module.split(".")[0]
        if owner == "specvino":
            continue
        undocumented = owner not in sys.stdlib_module_names and "." in module and module not in PUBLIC
        if undocumented or _is_private(path):
            names.add(path)
    return names


def _of_the_code() -> set[str]:
    folders = [PROJECT.joinpath(*package.split(".")[1:]) for package in SETTINGS["tool"]["setuptools"]["packages"]]
    return {path for folder in folders for file in folder.glob("*.py") for path in _non_public(file.read_text())}


def test_the_record_lists_the_non_public_imports() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", RECORD.read_text(), re.MULTILINE)
    assert {path for row in rows for path in re.findall(r"`([^`]+)`", row)} == _of_the_code()


def test_whose_non_public_parts_are_imported_has_an_upper_bound() -> None:
    project = SETTINGS["project"]
    groups = (project["dependencies"], *project["optional-dependencies"].values())
    requirements = [Requirement(line) for group in groups for line in group]
    owners = {path.split(".")[0].replace("_", "-") for path in _of_the_code()} - sys.stdlib_module_names
    assert owners <= {requirement.name for requirement in requirements}
    unbounded = {
        requirement.name
        for requirement in requirements
        if requirement.name in owners and not any(part.operator == "<" for part in requirement.specifier)
    }
    assert not unbounded


def test_such_imports_are_found() -> None:
    source = """
        import json
        import schemathesis
        from schemathesis import Case
        from schemathesis.engine.core import EventStream
        from starlette.types import Send
        from re import _parser
        import typer._click
        from specvino.engine import _own
    """
    lines = "\n".join(line.strip() for line in source.splitlines())
    assert _non_public(lines) == {"schemathesis.engine.core.EventStream", "re._parser", "typer._click"}
