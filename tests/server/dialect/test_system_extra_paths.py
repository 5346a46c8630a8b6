"""What a system has at further paths is served there."""

import pytest
from support.app import Client

from specvino.engine.progress import Report, say_nothing
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.scripted.script import Script
from specvino.handlers.limits import Limits
from specvino.server.dialect import speaker
from specvino.server.dialect.system import ExtraPath, extra_paths
from specvino.server.settings import Settings

KEYED = frozenset({"sk-1"})


def client(name: str, engine: ScriptedEngine | None = None) -> Client:
    engine = engine or ScriptedEngine()
    return Client(engine, Settings(system=speaker(name, {"m": engine}, Limits(), named=True), keys=KEYED))


def ask(name: str, method: str, path: str, /, **body: object) -> tuple[int, object]:
    response = client(name).ask(method, path, json=body, headers={"authorization": "Bearer sk-1"})
    return response.status_code, response.json()


def test_each_path_and_method_is_a_place() -> None:
    head = {
        "other_operations": [
            {"method": "GET, POST", "path": "/ping, /pong", "purpose": "x", "served_by": "health", "by_status": 503},
            {"method": "GET", "path": "/nothing", "purpose": "x"},
        ]
    }
    assert list(extra_paths(head)) == [
        ExtraPath(method, path, "get_health", 503) for path in ("/ping", "/pong") for method in ("GET", "POST")
    ]


@pytest.mark.parametrize(
    ("name", "method", "path"),
    [
        ("vllm", "GET", "/health"),
        ("vllm", "POST", "/ping"),
        ("ovms", "GET", "/v2/health/live"),
        ("ovms", "GET", "/v2/health/ready"),
        ("ovms", "GET", "/v2/models/m/ready"),
        ("fastdeploy", "GET", "/ping"),
        ("sglang", "GET", "/health_generate"),
    ],
)
def test_a_status_alone_and_without_a_key(name: str, method: str, path: str) -> None:
    response = client(name).ask(method, path)
    assert (response.status_code, response.content) == (200, b"")


def test_a_model_that_is_not_there_is_not_ready() -> None:
    response = client("ovms").ask("GET", "/v2/models/n/ready")
    assert (response.status_code, response.content) == (404, b"")


def test_the_state_of_each_model_without_a_key() -> None:
    """The readiness check of OVMS's guides."""
    response = client("ovms").ask("GET", "/v1/config")
    state = {"version": "1", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": "OK"}}
    assert response.status_code == 200
    assert response.json() == {name: {"model_version_status": [state]} for name in ("m", "org/name")}


@pytest.mark.parametrize(("name", "path", "status"), [("vllm", "/ping", 503), ("fastdeploy", "/ping", 404)])
def test_an_engine_that_is_not_ready(name: str, path: str, status: int) -> None:
    class Loading(ScriptedEngine):
        async def start(self, report: Report = say_nothing) -> None:
            """It never is."""

    response = client(name, Loading(Script())).ask("GET", path)
    assert (response.status_code, response.content) == (status, b"")


@pytest.mark.parametrize(
    ("name", "path", "body", "answer"),
    [
        ("sglang", "/detokenize", {"tokens": [[1], [2]]}, {"text": [" 1", " 2"]}),
        ("sglang", "/v1/detokenize", {"tokens": [1]}, {"text": " 1"}),
        ("vllm", "/detokenize", {"tokens": [1]}, {"prompt": " 1"}),
        ("llama-cpp", "/detokenize", {"tokens": [1]}, {"content": " 1"}),
        ("llama-cpp", "/tokenize", {"content": ["", 7], "model": "another"}, {"tokens": [7]}),
    ],
)
def test_tokens_where_the_system_has_them(name: str, path: str, body: dict[str, object], answer: object) -> None:
    assert ask(name, "POST", path, **body) == (200, answer)


def test_a_conversation_at_the_root() -> None:
    status, answer = ask("llama-cpp", "POST", "/chat/completions", messages=[{"role": "user", "content": "Hi"}])
    assert status == 200
    assert isinstance(answer, dict)
    assert answer["object"] == "chat.completion"


@pytest.mark.parametrize(
    ("name", "method", "path"),
    [("sglang", "POST", "/detokenize"), ("ollama", "GET", "/api/tags"), ("ollama", "POST", "/api/show")],
)
def test_a_key_is_needed_there_too(name: str, method: str, path: str) -> None:
    response = client(name).ask(method, path, json={"tokens": [1], "model": "m"})
    assert response.status_code == 401


DETAILS = {
    "parent_model": "",
    "format": "openvino",
    "family": "",
    "families": [],
    "parameter_size": "",
    "quantization_level": "",
}
CREATED = "1970-01-01T00:00:01+00:00"


def test_models_as_ollama_lists_them() -> None:
    status, answer = ask("ollama", "GET", "/api/tags")
    assert status == 200
    assert answer == {
        "models": [
            {
                "name": f"{name}:latest",
                "model": f"{name}:latest",
                "modified_at": CREATED,
                "digest": "",
                "details": DETAILS,
                "capabilities": ["completion", "tools", "thinking"],
            }
            for name in ("m", "org/name")
        ]
    }
    status, answer = ask("ollama", "GET", "/api/ps")
    assert isinstance(answer, dict)
    assert [(model["name"], model["context_length"]) for model in answer["models"]] == [
        ("m:latest", 131072),
        ("org/name:latest", 131072),
    ]


@pytest.mark.parametrize("body", [{"model": "m"}, {"model": "m:latest", "verbose": True}, {"name": "org/name"}])
def test_a_model_as_ollama_describes_it(body: dict[str, object]) -> None:
    assert ask("ollama", "POST", "/api/show", **body) == (
        200,
        {
            "details": DETAILS,
            "model_info": {"general.architecture": "openvino", "openvino.context_length": 131072},
            "capabilities": ["completion", "tools", "thinking"],
            "modified_at": CREATED,
        },
    )


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        ('{"model": "x"}', 404, "model 'x' not found"),
        ("{}", 400, "model is required"),
        ("[]", 400, "model is required"),
        ('{"model": 5}', 400, "model is required"),
        ("", 400, "The request body is empty, but must be a JSON object."),
    ],
)
def test_a_model_that_ollama_can_not_describe(content: str, status: int, error: str) -> None:
    response = client("ollama").ask("POST", "/api/show", content=content, headers={"authorization": "Bearer sk-1"})
    assert (response.status_code, response.json()) == (status, {"error": error})


def test_the_system_s_version() -> None:
    assert ask("ollama", "GET", "/api/version") == (200, {"version": "0.33.0-rc2"})
    response = client("ollama").ask("HEAD", "/api/version", headers={"authorization": "Bearer sk-1"})
    assert response.status_code == 200


def test_what_only_one_system_has_is_not_there_in_another() -> None:
    assert ask("mlc-llm", "GET", "/ping")[0] == 404
    assert ask("vllm", "POST", "/v1/detokenize", tokens=[1])[0] == 404
