"""Clients of any OpenAPI document, also of one that tries to become code."""

import ast
import json
import os
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.hostile import hostile_document
from support.typescript import compiled, project, ran

from specvino.document import foreign
from specvino.sdk import typescript
from specvino.sdk.document import methods
from specvino.sdk.foreign import adapting
from specvino.sdk.foreign.adapting import adapted
from specvino.sdk.foreign.reading import describe_document, read_document
from specvino.sdk.package import PackageError, named, write
from specvino.sdk.python import generate


def test_a_hostile_document_becomes_no_code() -> None:
    """Its Python modules are parsed: no name of theirs is the document's attempt."""
    document = hostile_document()
    files = generate(adapted(document).document, describe_document(document, "file"))
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
            "/v1/it's": {"get": answer},
        },
    }
    assert adapted(document).left_out == [
        "GET /v1/it's: its path has other characters than a URL's",
        "GET /metrics: its body or answer isn't JSON",
    ]
    package = named(describe_document(document, "http://127.0.0.1:9/openapi.json"), None, "1.2.3")
    assert (package.name, package.version) == ("vllm-api-server-client", "1.2.3")
    assert package.url == "http://127.0.0.1:9/v1"
    operations = {
        path: (item["get"]["operationId"], "servers" in item["get"])
        for path, item in adapted(document).document["paths"].items()
    }
    assert operations == {
        "/models": ("show_available_models", False),
        "/models/{model}": ("get_v1_models_model", False),
        "/version": ("get_version", True),
    }


def answered(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def awkward() -> dict[str, Any]:
    """Names that are keywords, or collide; parameters of many types; operations that send and return nothing."""
    schemas = "#/components/schemas"
    thing = {"$ref": f"{schemas}/chat_completion_response"}
    path = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    parameters = [
        {"name": "limit", "in": "query", "schema": {"anyOf": [{"type": "null"}, {"type": "integer"}]}},
        {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
        {"name": "filter", "in": "query", "schema": {"type": ["boolean", "null"]}},
        {"name": "sort", "in": "query", "schema": {"$ref": f"{schemas}/sort_order"}},
    ]
    get = {"operationId": "get_thing", "parameters": parameters, "responses": {"200": answered(thing)}}
    body = {"$ref": f"{schemas}/ChatCompletionResponse"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Rocket \U0001f680", "version": "1"},
        "servers": [{"url": "v1"}],
        "paths": {
            "/things/{id}": {
                "parameters": [path, {"name": "limit", "in": "query", "schema": {"type": "string"}}],
                "get": get,
                "delete": {"operationId": "import", "responses": {"204": {"description": ""}}},
            },
            "/things/{thing-id}/parts/{from}": {
                "put": {"requestBody": answered(body), "responses": {"200": answered({"$ref": f"{schemas}/models"})}}
            },
            "/lists": {"get": {"operationId": "str", "responses": {"200": answered({"$ref": f"{schemas}/\u8868"})}}},
            "/of/{items}/{cursor}/{last}/{page}/{pages}": {
                "get": {
                    "operationId": "parts",
                    "parameters": [
                        {"name": "after", "in": "query", "schema": {"type": "string"}},
                        {"name": "item", "in": "query", "schema": {"type": "integer"}},
                    ],
                    "responses": {"200": answered({"$ref": f"{schemas}/models"})},
                }
            },
            "/models": {
                "get": {
                    "operationId": "models",
                    "parameters": [{"name": "after", "in": "query", "schema": {"type": "integer"}}],
                    "responses": {"200": answered({"$ref": f"{schemas}/models"})},
                }
            },
        },
        "components": {
            "schemas": {
                "sort_order": {"type": "string", "enum": ["asc", "desc"]},
                "\u8868": {"properties": {"id": {"type": "string"}}},
                "models": {"properties": {"data": {"type": "array", "items": {"$ref": f"{schemas}/Item"}}}},
                "Item": {"oneOf": [{"$ref": f"{schemas}/Answer"}, thing]},
                "Answer": {"properties": {"class": {"type": "string"}, "status": {"enum": ["on", "off"]}}},
                "chat_completion_response": {
                    "allOf": [{"$ref": f"{schemas}/Answer"}, {"properties": {"status": {"enum": ["on"]}}}]
                },
                "ChatCompletionResponse": {
                    "properties": {"def": {"type": "string"}, "timeout": {"type": "number"}, "from2": {}},
                    "required": ["def"],
                },
            }
        },
    }


def test_an_awkward_document_in_python(tmp_path: Path) -> None:
    document = awkward()
    package = describe_document(document, "https://me:secret@rockets.example:8/api/openapi.json")
    assert package.url == "https://rockets.example:8/api/v1"
    write(generate(adapted(document).document, package), tmp_path)
    assert tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]["description"].endswith(
        "\U0001f680"
    )
    checked = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "src")]
    done = subprocess.run(checked, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    program = f"""
from {package.module} import Client
from scripted import Answer, Scripted
with Scripted() as server, Client(server.url) as client:
    server.says(Answer('{{"class": "a", "status": "new"}}'))
    thing = client.get_thing("a", limit=2, tags=["x", "y"], filter=True, sort="asc")
    print(thing.class_, thing.status, server.asked[0].path)
    server.says(Answer("", 204), Answer('{{"data": [{{"class": "b"}}]}}'))
    print(client.import2("a").model_dump(), [item.class_ for item in client.models_all()])
    client.put_things_thing_id_parts_from("t", "f", **{{"def": "d"}}, extra_body={{"timeout": 1}})
    print(server.asked[2].path, server.asked[2].sent)
    server.says(Answer('{{"data": [{{"id": "x"}}], "has_more": true}}'), Answer('{{"data": [{{"id": "y"}}]}}'))
    print([part.id for part in client.parts_all("a", "b", "c", "d", "e", item=3)], [each.path for each in server.asked])
"""
    folders = os.pathsep.join([str(tmp_path / "src"), str(Path(__file__).with_name("python"))])
    run = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(run, env={"PYTHONPATH": folders}, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "a new /v1/things/a?limit=2&tags=x&tags=y&filter=true&sort=asc",
        "{} ['b']",
        "/v1/things/t/parts/f {'def': 'd', 'timeout': 1}",
        "['x', 'y'] ['/v1/of/a/b/c/d/e?item=3', '/v1/of/a/b/c/d/e?after=x&item=3']",
    ], done.stderr


def test_an_awkward_document_in_typescript(tmp_path: Path) -> None:
    document = awkward()
    package = describe_document(document, "file")
    write(typescript.generate(adapted(document).document, package), tmp_path / "client")
    folder = project(tmp_path / "use", compiled(tmp_path / "client"), package.name)
    (folder / "rocket.ts").write_text(
        f"""
import {{ Client }} from "{package.name}";
const asked: string[] = [];
const fetch = async (input: RequestInfo | URL) => {{
  asked.push((input as Request).method + " " + (input as Request).url);
  return new Response(asked.length < 3 ? '{{"class": "a"}}' : null, {{ status: asked.length < 3 ? 200 : 204 }});
}};
const client = new Client("http://h/v1", {{ fetch }});
const thing = await client.getThing("a", {{ limit: 2, tags: ["x", "y"], filter: true, sort: "asc" }});
await client.putThingsThingIdPartsFrom("t", "f", {{ def: "d" }});
console.log(await client.import2("a"), thing.class, asked.join(" "));
const pages = ['{{"data": [{{"id": "x"}}], "has_more": true}}', '{{"data": [{{"id": "y"}}]}}'];
const list = async (input: RequestInfo | URL) => {{
  console.log((input as Request).url);
  return new Response(pages.shift());
}};
const lister = new Client("http://h/v1", {{ fetch: list }});
for await (const item of lister.partsAll("a", "b", "c", "d", "e")) console.log(item);
"""
    )
    assert ran("rocket", folder=folder) == (
        "{} a GET http://h/v1/things/a?limit=2&tags=x&tags=y&filter=true&sort=asc PUT http://h/v1/things/t/parts/f "
        "DELETE http://h/v1/things/a\n"
        "http://h/v1/of/a/b/c/d/e\n{ id: 'x' }\nhttp://h/v1/of/a/b/c/d/e?after=x\n{ id: 'y' }\n"
    )


def parsed(tmp_path: Path, text: str) -> dict[str, Any]:
    (tmp_path / "document").write_text(text)
    return adapted(read_document(str(tmp_path / "document"))).document


GET = "{responses: {200: {content: {application/json: {schema: {}}}}}}"


def test_keys_and_names_that_are_no_texts(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        f"""
openapi: 3.1.0
paths:
  1: {{}}
  null: {{}}
  2026-01-01: {{get: {GET}}}
  /things:
    parameters:
      - {{name: [a], in: query}}
      - {{name: b, in: {{c: d}}}}
      - {{name: {{a: b}}, in: [query]}}
      - {{name: e, in: query}}
    get: {GET}
""",
    )
    assert list(document["paths"]) == ["/things"]
    assert [each["name"] for each in document["paths"]["/things"]["get"]["parameters"]] == ["e"]


def test_objects_that_extend_themselves_or_one_twice_are_read_once(tmp_path: Path) -> None:
    """60 objects of which each extends the one before twice; one whose fields extend it, as OpenAPI 3.0 describes
    references that may be null."""
    chain = "".join(
        f"    A{n}: {{allOf: [{{$ref: '#/components/schemas/A{n - 1}'}}, {{$ref: '#/components/schemas/A{n - 1}'}}]}}\n"
        for n in range(1, 60)
    )
    node = "{allOf: [{$ref: '#/components/schemas/Node'}, {nullable: true}]}"
    document = parsed(
        tmp_path,
        f"""
openapi: 3.0.0
paths: {{/x: {{get: {GET}}}}}
components:
  schemas:
    A0: {{properties: {{id: {{type: string}}}}}}
{chain}
    Node: {{properties: {{left: {node}, right: {node}, id: {{type: string}}}}}}
    Both: {{allOf: [{{$ref: '#/components/schemas/Both'}}, {{properties: {{id: {{type: string}}}}}}]}}
""",
    )
    schemas = document["components"]["schemas"]
    assert schemas["A59"]["properties"] == schemas["Both"]["properties"] == {"id": {"type": "string"}}
    assert schemas["Node"]["properties"]["left"] == {"$ref": "#/components/schemas/Node"}


ALIASES = "".join(
    f"{key}: &{key} [{'*' + last}, {'*' + last}]\n" for last, key in pairwise("abcdefghijklmnopqrstuvwxyz")
)
EXTENDING = ", ".join(
    f"f{n}: {{allOf: [{{$ref: '#/components/schemas/A{n}'}}, {{properties: {{x: {{}}}}}}]}}" for n in range(12)
)
OBJECTS = "".join(f"    A{n}: {{properties: {{{EXTENDING}}}}}\n" for n in range(12))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(f"openapi: 3.1.0\na: &a [x, x]\n{ALIASES}", "too large", id="aliases"),
        pytest.param(
            f"openapi: 3.1.0\ncomponents:\n  schemas:\n{OBJECTS}",
            "more than 9,000 schemas",
            id="objects that extend each other",
        ),
    ],
)
def test_small_documents_that_stand_for_large_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    monkeypatch.setattr(foreign, "MOST_VALUES", 9000)
    monkeypatch.setattr(adapting, "MOST_SCHEMAS", 9000)
    with pytest.raises(PackageError, match=reason):
        parsed(tmp_path, text)


@pytest.mark.parametrize(
    ("source", "server", "address"),
    [
        ("file", "https://h/v1", "https://h/v1"),
        ("file", "javascript:alert(1)", "http://127.0.0.1:8000"),
        ("http://h:1/openapi.json", "ftp://h/v1", "http://h:1"),
        ("http://h:1/openapi.json", "file:///etc", "http://h:1"),
        ("http://h:1/a'b/openapi.json", "v1", "http://h:1"),
        ('http://h:1/a"b/openapi.json', "/v1", "http://h:1/v1"),
        ("http://me:secret@h:1/openapi.json", "{scheme}://h", "http://h:1"),
        ("http://[::1]:8/openapi.json", "/v1/", "http://[::1]:8/v1"),
    ],
)
def test_the_address_is_one_of_http(source: str, server: str, address: str) -> None:
    assert describe_document({"servers": [{"url": server}]}, source).url == address


def test_a_document_with_nothing_to_send_or_return(tmp_path: Path) -> None:
    document = {"openapi": "3.0.0", "paths": {"/": {"get": {"responses": {"200": {"description": ""}}}}}}
    package = describe_document(document, "file")
    write(generate(adapted(document).document, package), tmp_path)
    program = f"import {package.module} as m; print(m.Client('http://127.0.0.1:1').get)"
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(tmp_path / "src")}, text=True)
    assert done.returncode == 0
    assert "get(" in typescript.generate(adapted(document).document, package)["src/index.ts"]


def test_the_path_of_chats_has_the_base() -> None:
    """LitServe 0.2.19 has it alone; LiteLLM has it with and without."""
    answer = {"responses": {"200": answered({})}}
    paths = ["/health", "/info", "/chat/completions", "/v1/chat/completions"]
    document = {"openapi": "3.1.0", "paths": {path: {"post": {"operationId": path, **answer}} for path in paths}}
    assert describe_document(document, "file").url == "http://127.0.0.1:8000/v1"
    adapted_paths = adapted(document).document["paths"]
    assert list(adapted_paths) == ["/chat/completions", "/health", "/info"]
    assert "servers" not in adapted_paths["/chat/completions"]["post"]


def test_streams_of_lines() -> None:
    """As in Ollama's own document; of the event's schema, also where that is a media type's own keyword."""
    request = {"type": "object", "properties": {"stream": {"type": "boolean", "default": True}}}
    event = {"type": "object", "properties": {"done": {"type": "boolean"}}}
    for keyword in ("schema", "itemSchema"):
        content = answered({"$ref": "#/components/schemas/Whole"})["content"]
        content["application/x-ndjson"] = {keyword: {"$ref": "#/components/schemas/Line"}}
        operation = {"requestBody": answered(request), "responses": {"200": {"content": content}}}
        document = {
            "openapi": "3.1.0",
            "paths": {"/api/chat": {"post": {"operationId": "chat", **operation}}},
            "components": {"schemas": {"Whole": event, "Line": event}},
        }
        (method,) = methods(adapted(document).document)
        assert (method.answer, method.event, method.terminator) == ("Whole", "Line", None)
        assert (method.lines, method.final_field, method.streams_by_default) == (True, None, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "neither JSON nor YAML"),
        ("a: [", "neither JSON nor YAML"),
        ("a: &a [*a]", "neither JSON nor YAML"),
        ("a: 2026-02-30", "neither JSON nor YAML"),
        ('{"openapi": "3.1.0", "a": "\\ud800"}', "half of a surrogate pair"),
        ('{"swagger": "2.0"}', "isn't an OpenAPI document of version 3.0, 3.1 or 3.2"),
        ("[]", "isn't an OpenAPI document"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "document").write_text(text)
    with pytest.raises(PackageError, match=reason):
        read_document(str(tmp_path / "document"))


def test_what_is_left_out_is_listed(tmp_path: Path) -> None:
    answers = {"/a": "application/json", **{f"/\x1b[31m{number}": "text/plain" for number in range(22)}}
    paths: dict[str, Any] = {
        path: {"get": {"responses": {"200": {"content": {media: {}}}}}} for path, media in answers.items()
    }
    (tmp_path / "d.json").write_text(json.dumps({"openapi": "3.1.0", "paths": paths}))
    command = [sys.executable, "-m", "specvino.cli", "sdk", "python", "--document", str(tmp_path / "d.json")]
    done = subprocess.run([*command, "-o", str(tmp_path / "client")], capture_output=True, text=True, check=True)
    first, *_, last = done.stderr.splitlines()
    assert first == "specvino: left out: GET /\\x1b[31m0: its path has other characters than a URL's"
    assert (last, len(done.stderr.splitlines())) == ("specvino: left out: 2 more", 21)


@pytest.mark.parametrize("options", [["--name", "import os"], ["--version", '1"; x'], ["--dialect", "vllm"]])
def test_bad_options_are_one_line(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "d.json").write_text(json.dumps(hostile_document()))
    command = [sys.executable, "-m", "specvino.cli", "sdk", "python", "-o", str(tmp_path / "client")]
    done = subprocess.run([*command, "--document", str(tmp_path / "d.json"), *options], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert options[0] in done.stderr
