"""The TypeScript client: compiled as strictly as tsc can, and used."""

import json
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sdk.python.talking import Talking
from support.exhaustive import sampled
from support.node import installed
from support.serving import Server
from support.serving_here import serving_here
from support.typescript import TOOLS, compiled, node, project, ran

from specvino.document.loading import systems


@pytest.mark.parametrize("dialect", sampled([None, *systems()], None, "mlc-llm", "vllm"))
def test_it_compiles(package: Callable[..., Path], dialect: str | None) -> None:
    folder = compiled(package("typescript", *(["--dialect", dialect] if dialect else [])))
    assert (folder / "dist" / "index.d.ts").is_file()


def test_typescript_5_takes_them_too(package: Callable[..., Path], tmp_path: Path) -> None:
    """All packages as one program, since most of its time goes into what they share."""
    for dialect in (None, *systems()):
        folder = package("typescript", *(["--dialect", dialect] if dialect else []))
        shutil.copytree(folder / "src", tmp_path / str(dialect))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    options = json.loads((folder / "tsconfig.json").read_text("utf-8"))["compilerOptions"]
    del options["rootDir"], options["outDir"]
    config = {"compilerOptions": options | {"noEmit": True}, "include": ["."], "exclude": ["node_modules"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    (tmp_path / "node_modules").symlink_to(installed(TOOLS))
    node(installed(TOOLS) / "typescript-5" / "bin" / "tsc", folder=tmp_path)


@pytest.fixture(scope="module")
def run(package: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Compiles a program of node/ beside the client, and runs it; gives what its lines say."""
    folder = project(tmp_path_factory.mktemp("use"), compiled(package("typescript")), "specvino-client")

    def run(name: str, *arguments: str) -> dict[str, Any]:
        for program in ("scripted", name):
            shutil.copy(TOOLS / f"{program}.ts", folder)
        results: dict[str, Any] = {}
        for line in ran(name, *arguments, folder=folder).splitlines():
            results |= json.loads(line)
        return results

    return run


def test_it_is_used(run: Callable[..., dict[str, Any]], server: Server) -> None:
    results = run("use", server.url)
    assert "Paris" in results["answer"]
    assert results["stream"] == results["answer"]
    assert results["call"] == "get_weather"
    assert results["parsed"] is True
    assert results["ran"] == ["string"]
    assert results["final"] == "assistant"
    assert results["first"] == "response.created"
    assert results["last"] in ("response.completed", "response.incomplete")
    assert results["error"] == [404, "invalid_request_error", "model", "model_not_found"]
    assert results["nobody"] is True
    assert results["left"] == "AbortError"


def test_helpers(run: Callable[..., dict[str, Any]]) -> None:
    """A stream makes the answer that a unary one is, at all endpoints."""
    with serving_here("--engine", "scripted", "--served-model-name", "m") as server:
        results = run("helpers", server.url)
    for name in ("chat", "completion", "response", "message", "lines", "linesOfText"):
        assert results.pop(name) == [True, True], name
        assert results.pop(f"{name}Status") == [200, True]
    assert results == {
        "text": True,
        "left": "ConnectionFailed",
        "grouped": True,
        "received": [200, "bogus", 2],
        "items": 5,
        "models": ["m"],
        "broken": "nothing",
        "brokenFinal": True,
    }


def test_answers_are_parsed_and_tools_called(run: Callable[..., dict[str, Any]]) -> None:
    results = run("conversations")
    value = {"sunny": True, "seas": [{"depth": 1}]}
    closed = {"type": "object", "additionalProperties": False}
    sea = {**closed, "properties": {"depth": {"type": "number"}}, "required": ["depth"]}
    properties = {"sunny": {"type": "boolean"}, "seas": {"type": "array", "items": sea}}
    schema = {"title": "A city", **closed, "properties": properties, "required": ["sunny", "seas"]}
    named = {"name": "A_city", "schema": schema, "strict": True}
    assert results.pop("chat") == [value, 1, {"type": "json_schema", "json_schema": named}]
    assert results.pop("responses") == [value, {"verbosity": "low", "format": {"type": "json_schema", **named}}]
    assert results.pop("messages") == [value, {"format": {"type": "json_schema", "schema": schema}}]
    for api, messages in (("chat", "messages"), ("responses", "input"), ("messages", "messages")):
        given, said, sent = results.pop(f"{api}Tools")
        assert (given, said) == ([["Bonn", 1], ["Rome", 2]], True)
        first, second = sent
        assert first["tools"] == second["tools"]
        *before, answer = second[messages][: -1 if api == "messages" else -3]
        assert [*before, answer][: len(first[messages])] == first[messages] == [{"role": "user", "content": "hi"}]
        assert "null" not in json.dumps(answer)
        added = second[messages][-1]["content"] if api == "messages" else second[messages][-3:]
        contents = [result["output" if api == "responses" else "content"] for result in added]
        assert contents[:2] == ["sunny", '{"sunny":2}']
        assert contents[2].startswith("The arguments aren't valid: city: ")
        ids = {"chat": "tool_call_id", "responses": "call_id", "messages": "tool_use_id"}
        assert [result[ids[api]] for result in added] == ["1", "2", "3"]
    assert results == {
        "other": [1, "answer"],
        '{"sunny": tr': "InvalidAnswer: the text isn't what was asked for: SyntaxErro",
        '{"sunny": 1, "seas": []}': "InvalidAnswer: the text isn't what was asked for: sunny: Inv",
        "rounds": 3,
        "own": [1, ["mine", "weather"]],
        "thrown": "RangeError",
        "lacking": "InvalidAnswer",
    }


def test_faults_are_told(run: Callable[..., dict[str, Any]]) -> None:
    assert run("faults") == {
        "whole": "nothing",
        "cut": "ConnectionFailed",
        "lost": "ConnectionFailed",
        "lostAnswer": "ConnectionFailed",
        "error": "ApiError",
        "answer": "InvalidAnswer",
        "nonsense": "InvalidAnswer",
        "list": "InvalidAnswer",
        "listEvent": "InvalidAnswer",
        "completed": "nothing",
        "incomplete": "nothing",
        "failed": "nothing",
        "doneBehind": "nothing",
        "cutResponse": "ConnectionFailed",
        "cutRest": "ConnectionFailed",
        "noResponse": "ConnectionFailed",
        "noRest": "nothing",
        "linesWhole": "nothing",
        "linesCut": "ConnectionFailed",
        "linesError": "ApiError",
        "linesAlone": "nothing",
        "linesList": "InvalidAnswer",
        "linesLost": "ApiError",
        "linesRefused": ["400: no", "messages.0", "bad"],
        "linesUnasked": [False, False],
        "left": "TimeoutError",
        "waited": False,
        "lostRefusal": "BadRequestError",
        "lostRefusalAsked": 1,
        "lostBody": "ConnectionFailed",
        "path": "RangeError",
        "path.": "RangeError",
        "path..": "RangeError",
        "pathAsked": 0,
        "UND_ERR_HEADERS_TIMEOUT": "TimedOut",
        "ECONNREFUSED": "ConnectionFailed",
        "late": "TimedOut",
        "lateStream": "TimedOut",
        "asked": 0,
        "nobody": "ConnectionFailed",
    }


def test_what_is_sent(run: Callable[..., dict[str, Any]]) -> None:
    """Keys, options of one request, and requests that are sent again after what Retry-After says."""
    never = ("61", "soon", "Fri, 01 Jan 2100 00:00:00 GMT")
    busy = ("408", "409", "429", "500", "599")
    classes = {
        400: "BadRequestError",
        401: "AuthenticationError",
        403: "PermissionDeniedError",
        404: "NotFoundError",
        409: "ConflictError",
        418: "ApiError",
        422: "UnprocessableEntityError",
        429: "RateLimitError",
        500: "InternalServerError",
        599: "InternalServerError",
    }
    assert run("sent") == {
        "seconds": "nothing",
        "secondsWaited": [7000],
        "unsaid": "nothing",
        "unsaidWaited": [500, 1000, 2000, 4000, 8000, 8000],
        "date": "nothing",
        "dateWaited": [True],
        **dict.fromkeys(never, "InternalServerError"),
        **{f"{said} waited": [] for said in never},
        **dict.fromkeys(busy, "nothing"),
        **{f"{status} waited": [0] for status in busy},
        "key": ["Bearer secret"] * 2,
        "noKey": [None] * 2,
        "environment": ["Bearer of the environment", "Bearer mine", "Bearer of the environment", None],
        **{f"again{how}": "nothing" for how in ("Seconds", "Date")},
        **{f"same{how}": [3, 1, False, 1] for how in ("Seconds", "Date")},
        "reading": None,
        "busy": "InternalServerError",
        "retries": 2,
        **{f"error{status}": [name, True, f"{status}: no", "r"] for status, name in classes.items()},
        "redirectfalse": ["307: the server redirects to /elsewhere, which isn't followed", 1],
        "redirecttrue": ["307: the server redirects to /elsewhere, which isn't followed", 2],
        "options": [
            ["/v1/responses?a=1&a=2", "1", "Bearer other", {"model": "m", "input": "ho", "more": 2}],
            ["/v1/chat/completions?a=1&a=2", "1", "Bearer other",
             {"model": "m", "messages": [], "stream": True, "more": 2}],
        ],
        "ownTimeout": "TimedOut",
        "ownTimeoutAsked": 1,
    }  # fmt: skip


def test_answers_are_open(run: Callable[..., dict[str, Any]]) -> None:
    """Unknown values and kinds come as they were sent, and the types express that they may."""
    assert run("open") == {
        "status": "asleep",
        "output": [["x", 1], [["x", 1], "hi"]],
        "tools": [1],
        "events": ["response.sung", "la", "asleep"],
        "finish": "tired",
        "field": 1,
    }


def test_sessions(run: Callable[..., dict[str, Any]]) -> None:
    def error(status: int, **headers: str) -> str:
        return json.dumps({"type": "error", "status": status, "error": {"message": "no", "headers": headers}})

    busy, done = error(503, **{"Retry-After": "0"}), '{"type": "response.completed"}'
    talking = [
        (Talking([error(418)]), "ApiError", 1),
        (Talking([error(404)]), "NotFoundError", 1),
        (Talking([1011]), "ConnectionFailed", 1),
        (Talking(["rubbish"]), "InvalidAnswer", 1),
        (Talking([]), "TimedOut", 1),
        (Talking([busy], [done]), "nothing", 2),
        (Talking([busy]), "InternalServerError", 3),
        (Talking(['{"type": "response.created"}', busy], [done]), "InternalServerError", 1),
    ]
    options = ("--engine", "scripted", "--served-model-name", "m")
    with ExitStack() as stack:
        server = stack.enter_context(serving_here(*options, env={"SPECVINO_API_KEY": "sk-ts"}))
        faulty = [stack.enter_context(server_context) for server_context, _, _ in talking]
        results = run("session", server.url, "sk-ts", *(value.url for value in faulty))
    assert results == {
        "types": ["response.created", "response.completed"],
        "longer": True,
        "prepared": [],
        "lanes": ["lane a", "lane b", "lane c", "lane d"],
        "afterLeft": "read",
        "error": [400, "temperature", "decimal_above_max_value"],
        "afterError": "read",
        "aborted": "AbortError",
        "closed": "ConnectionFailed",
        "noKey": "ConnectionFailed",
        "nobody": "ConnectionFailed",
        **{f"fault{number}": kind for number, (_, kind, _) in enumerate(talking)},
    }
    assert [len(server.asked) for server in faulty] == [asked for _, _, asked in talking]
    assert json.loads(faulty[0].asked[0]) == {
        "type": "response.create", "model": "m", "temperature": 0, "store": False, "input": "hi"
    }  # fmt: skip
