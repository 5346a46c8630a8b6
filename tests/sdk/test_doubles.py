"""The clients of each system, both languages, against the server that speaks as the system."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.exhaustive import sampled
from support.serving import serving
from support.typescript import TOOLS, compiled, project, ran

from specvino.conformance.dialect import Dialect

KEY = "sk-double"
QUESTION = {"role": "user", "content": "What is the capital of France?"}
ASK: dict[str, Any] = {"model": "m", "messages": [QUESTION], "temperature": 0}


@pytest.fixture(params=sampled(("openai", "ovms", "vllm", "mlc-llm", "fastdeploy"), "vllm"))
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def double(system: str) -> Iterator[str]:
    options = ("--engine", "scripted", "--served-model-name", "m")
    with serving(*options, "--dialect", system, env={"SPECVINO_API_KEY": KEY}) as server:
        yield server.url


def refused(system: str, endpoint: str = "chat") -> tuple[int, ...]:
    """The statuses of an invalid request."""
    statuses = Dialect(system).statuses("validation", endpoint)
    assert statuses
    return statuses


def test_in_python(system: str, double: str, imported: Callable[[str], ModuleType]) -> None:
    module = imported(system)
    with module.Client(double, api_key=KEY) as client:
        assert [model.id for model in client.list_models().data] == ["m"]
        text = client.create_chat_completion(**ASK).choices[0].message.content
        assert text
        pieces = [
            choice.delta.content or ""
            for chunk in client.create_chat_completion_stream(**ASK)
            for choice in chunk.choices
        ]
        assert "".join(pieces) == text
        assert len(pieces) > 2
        assert client.create_completion(model="m", prompt="Once").choices[0].text
        assert list(client.create_completion_stream(model="m", prompt="Once"))
        if hasattr(client, "create_response"):
            assert client.create_response(model="m", input="Hi").output[-1].content[0].text
            events = [event.type for event in client.create_response_stream(model="m", input="Hi")]
            assert (events[0], events[-1]) == ("response.created", "response.completed")
        with pytest.raises(module.ApiError) as error:
            client.create_chat_completion(**ASK | {"temperature": -1})
        assert error.value.status in refused(system)


def test_in_typescript(system: str, double: str, package: Callable[..., Path], tmp_path: Path) -> None:
    folder = project(tmp_path, compiled(package("typescript", "--dialect", system)), "specvino-client")
    shutil.copy(TOOLS / "double.ts", folder)
    printed: dict[str, Any] = json.loads(ran("double", double, KEY, folder=folder))
    assert printed["models"] == ["m"]
    assert printed["answer"]
    assert printed["pieces"] > 2
    assert printed["stream"] == printed["answer"]
    assert printed["text"]
    assert printed["error"] in refused(system)


@pytest.mark.parametrize("system", sampled(("ollama", "sglang"), "ollama"))
def test_ollama_s_api_in_python(system: str, double: str, imported: Callable[[str], ModuleType]) -> None:
    module = imported(system)
    ask: dict[str, Any] = {"model": "m", "messages": [QUESTION], "options": {"temperature": 0}}
    with module.Client(double, api_key=KEY) as client:
        text = client.ollama_chat(**ask).message.content
        assert text
        pieces = list(client.ollama_chat_stream(**ask).text())
        assert "".join(pieces) == text
        assert len(pieces) > 2
        assert client.ollama_generate(model="m", prompt="Once").response == "Once"
        assert client.ollama_generate_stream(model="m", prompt="Once").final().response == "Once"
        for use in (client.ollama_chat, lambda **body: list(client.ollama_chat_stream(**body))):
            with pytest.raises(module.ApiError) as error:
                use(**ask | {"messages": "none"})
            assert error.value.status in refused(system, "ollama_chat")
            assert error.value.message
