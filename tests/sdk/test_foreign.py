"""Clients of any OpenAPI document, also of one that tries to become code."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specvino.sdk.foreign import adapted, describe_document, named, read_document
from specvino.sdk.package import PackageError
from specvino.sdk.python import generate

EVIL = 'x"""\'\'\'\\\n*/ `${pwned()}` {{ pwned() }} #\u2028"; import pwned; pwned() //'


def hostile() -> dict[str, Any]:
    """Each name and text that can be hostile is."""
    request = {
        "type": "object",
        "title": EVIL,
        "description": EVIL,
        "customTypePath": "pwned.pwned",
        "x-python-type": "pwned",
        "required": ["model", EVIL],
        "properties": {
            "model": {"type": "string", "description": EVIL, "default": EVIL, "pattern": EVIL},
            "kind": {"enum": [EVIL, "a"], "customBasePath": "pwned.Pwned"},
            "__import__('pwned')": {"type": "string"},
            "class": {"$ref": f"#/components/schemas/{EVIL}"},
            "loop": {"$ref": "#/components/schemas/Loop"},
            "stream": {"type": "boolean", "nullable": True},
            EVIL: {"type": "string"},
        },
    }
    operation = {
        "operationId": EVIL,
        "summary": EVIL,
        "description": EVIL,
        "parameters": [
            {"name": EVIL, "in": "query", "schema": {"type": "string"}},
            {"name": "plain", "in": "query", "schema": {"enum": [EVIL, "a"]}, "description": EVIL},
        ],
        "requestBody": {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{EVIL}"}}}},
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}}}},
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": EVIL, "version": EVIL},
        "servers": [{"url": f"https://evil.example/{EVIL}"}],
        "paths": {"/v1/chat/completions": {"post": operation}, f"/v1/{EVIL}": {"post": operation}, "/v1/x": EVIL},
        "components": {
            "schemas": {
                EVIL: request,
                "Answer": {"type": "object", "properties": {"__class__": {"type": "string"}, "id": {"const": EVIL}}},
                "Loop": {"$ref": "#/components/schemas/Loop"},
                "import pwned": {"type": "string", "enum": ["a"], "description": EVIL},
            }
        },
    }


def test_a_hostile_document_becomes_no_code() -> None:
    """Its Python modules are parsed: no name of theirs is the document's attempt."""
    document = hostile()
    files = generate(adapted(document), describe_document(document, "file"))
    modules = {name: text for name, text in files.items() if name.endswith(".py")}
    assert any("client" in name for name in modules)
    for name, text in modules.items():
        for node in ast.walk(ast.parse(text, name)):
            used = [node.id] if isinstance(node, ast.Name) else [node.attr] if isinstance(node, ast.Attribute) else []
            used += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            assert not [each for each in used if each == "pwned"], (name, ast.unparse(node))
    methods = {
        node.name
        for node in ast.walk(ast.parse(next(text for name, text in modules.items() if name.endswith("/client.py"))))
        if isinstance(node, ast.FunctionDef)
    }
    assert any(name.endswith("_stream") for name in methods)


def test_a_document_of_another_server() -> None:
    """Its paths' version belongs to the address; FastAPI's addition to names is left out."""
    answer: dict[str, Any] = {"responses": {"200": {"content": {"application/json": {"schema": {}}}}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "vLLM API server", "version": "0.33"},
        "paths": {
            "/v1/models": {"get": {"operationId": "show_available_models_v1_models_get", **answer}},
            "/v1/models/{model}": {"get": {**answer, "parameters": [{"name": "model", "in": "path"}]}},
            "/version": {"get": answer},
            "/metrics": {"get": {"responses": {"200": {"content": {"text/plain": {}}}}}},
        },
    }
    package = named(describe_document(document, "http://127.0.0.1:9/openapi.json"), None, "1.2.3")
    assert (package.name, package.version) == ("vllm-api-server-client", "1.2.3")
    assert package.url == "http://127.0.0.1:9/v1"
    operations = {
        path: (item["get"]["operationId"], "servers" in item["get"])
        for path, item in adapted(document)["paths"].items()
    }
    assert operations == {
        "/models": ("show_available_models", False),
        "/models/{model}": ("get_v1_models_model", False),
        "/version": ("get_version", True),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "neither JSON nor YAML"),
        ("a: [", "neither JSON nor YAML"),
        ('{"swagger": "2.0"}', "no OpenAPI document of version 3.0, 3.1 or 3.2"),
        ("[]", "no OpenAPI document"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "document").write_text(text)
    with pytest.raises(PackageError, match=reason):
        read_document(str(tmp_path / "document"))


@pytest.mark.parametrize("options", [["--name", "import os"], ["--version", '1"; x'], ["--dialect", "vllm"]])
def test_bad_options_are_one_line(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "d.json").write_text(json.dumps(hostile()))
    command = [sys.executable, "-m", "specvino.cli", "sdk", "python", "-o", str(tmp_path / "client")]
    done = subprocess.run([*command, "--document", str(tmp_path / "d.json"), *options], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert options[0] in done.stderr
