"""The Python client: built, installed beside nothing but what it declares to need, and used."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.examples import ROOT
from support.exhaustive import sampled
from support.serving import Server

from specvino.document.loading import systems

Script = Callable[..., list[str]]

PAGE = ROOT / "docs" / "sdk.md"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


ASK = """
ask = {"model": "smollm2", "messages": [{"role": "user", "content": "What is the capital of France?"}],
       "temperature": 0, "max_tokens": 24}
"""


def test_an_answer_and_its_stream(script: Script, server: Server) -> None:
    answer, stream = script(
        ASK
        + """
with Client(URL) as client:
    print(client.create_chat_completion(**ask).choices[0].message.content)
    chunks = client.create_chat_completion_stream(**ask)
    print("".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices))
""",
        server.url,
    )
    assert "Paris" in answer
    assert stream == answer


def test_the_same_without_waiting(script: Script, server: Server) -> None:
    answers = script(
        ASK
        + """
import asyncio
async def main():
    async with AsyncClient(URL) as client:
        print((await client.create_chat_completion(**ask)).choices[0].message.content)
        chunks = client.create_chat_completion_stream(**ask)
        print("".join([choice.delta.content or "" async for chunk in chunks for choice in chunk.choices]))
asyncio.run(main())
""",
        server.url,
    )
    assert len(answers) == 2
    assert answers[0] == answers[1]
    assert "Paris" in answers[0]


def test_a_call_and_its_result(script: Script, server: Server) -> None:
    name, city, text = script(
        """
import json
parameters = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"],
              "additionalProperties": False}
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters, "strict": True}}]
messages = [{"role": "user", "content": "How is the weather in Paris?"}]
choice = {"type": "function", "function": {"name": "get_weather"}}
with Client(URL) as client:
    said = client.create_chat_completion(
        model="smollm2", messages=messages, tools=tools, tool_choice=choice, max_tokens=64, temperature=0
    ).choices[0].message
    call = said.tool_calls[0]
    print(call.function.name)
    print(json.loads(call.function.arguments)["city"])
    messages += [said.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "Sunny."}]
    final = client.create_chat_completion(model="smollm2", messages=messages, tools=tools, max_tokens=16)
    print(final.choices[0].message.role)
""",
        server.url,
    )
    assert (name, text) == ("get_weather", "assistant")
    assert city in ("Paris", "Rome")


def test_calls_and_errors_without_waiting(script: Script, server: Server) -> None:
    assert script(
        """
import asyncio
from specvino_client import ConnectionFailed
parameters = {"type": "object", "properties": {}, "additionalProperties": False}
tools = [{"type": "function", "function": {"name": "get_time", "parameters": parameters, "strict": True}}]
choice = {"type": "function", "function": {"name": "get_time"}}
ask = {"model": "smollm2", "messages": [{"role": "user", "content": "What time is it?"}], "temperature": 0,
       "tools": tools, "tool_choice": choice, "max_tokens": 64}
async def main():
    async with AsyncClient(URL) as client:
        (call,) = (await client.create_chat_completion(**ask)).choices[0].message.tool_calls
        print(call.function.name, call.function.arguments)
        calls = [
            call async for chunk in client.create_chat_completion_stream(**ask)
            for choice in chunk.choices for call in choice.delta.tool_calls or ()
        ]
        print(calls[0].function.name, "".join(call.function.arguments or "" for call in calls))
        try:
            await client.create_chat_completion(**ask | {"model": "gpt-9"})
        except ApiError as error:
            print(error.status, error.type, error.param, error.code, bool(error.request_id))
        try:
            async for chunk in client.create_chat_completion_stream(**ask | {"model": "gpt-9"}):
                print(chunk)
        except ApiError as error:
            print(error.status, error.type, error.param, error.code, bool(error.request_id))
    async with AsyncClient("http://127.0.0.1:9/v1") as client:
        try:
            await client.list_models()
        except ConnectionFailed as error:
            print("no connection")
asyncio.run(main())
""",
        server.url,
    ) == [
        "get_time {}",
        "get_time {}",
        *["404 invalid_request_error model model_not_found True"] * 2,
        "no connection",
    ]


def test_a_response_and_its_events(script: Script, server: Server) -> None:
    kept, *events = script(
        """
with Client(URL) as client:
    first = client.create_response(model="smollm2", input="Say hello.", max_output_tokens=16)
    print(client.retrieve_response(first.id).id == first.id)
    for event in client.create_response_stream(model="smollm2", input="Say hello.", max_output_tokens=4):
        print(type(event).__name__)
""",
        server.url,
    )
    assert kept == "True"
    assert events[0] == "ResponseCreatedEvent"
    assert events[-1] in ("ResponseCompletedEvent", "ResponseIncompleteEvent")
    assert "ResponseTextDeltaEvent" in events


def test_an_error_and_no_server(script: Script, server: Server) -> None:
    errors = script(
        """
from specvino_client import ConnectionFailed
with Client(URL) as client:
    for use in (client.create_chat_completion, lambda **body: list(client.create_chat_completion_stream(**body))):
        try:
            use(model="gpt-9", messages=[{"role": "user", "content": "hi"}])
        except ApiError as error:
            print(error.status, error.type, error.param, error.code, bool(error.request_id))
with Client("http://127.0.0.1:9/v1") as client:
    try:
        client.list_models()
    except ConnectionFailed as error:
        print("no connection")
""",
        server.url,
    )
    assert errors == ["404 invalid_request_error model model_not_found True"] * 2 + ["no connection"]


@pytest.fixture(scope="session")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command, with one cache for all packages: most of what they import is the same."""
    return [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path_factory.mktemp("mypy"))]


@pytest.mark.parametrize("dialect", sampled([None, *systems()], None, "mlc-llm", "vllm"))
def test_types_hold(mypy: list[str], package: Callable[..., Path], tmp_path: Path, dialect: str | None) -> None:
    """Of the package, of the example in its README, and of those in docs/sdk.md."""
    folder = package("python", *(["--dialect", dialect] if dialect else []))
    (module,) = (folder / "src").glob("*/py.typed")
    code = (folder / "README.md").read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    examples = [code, *([] if dialect else PYTHON.findall(PAGE.read_text("utf-8")))]
    assert dialect or len(examples) == 3
    for number, example in enumerate(examples):
        (tmp_path / f"example_{number}.py").write_text(example)
    done = subprocess.run(
        [*mypy, "-p", module.parent.name, *(f"-mexample_{number}" for number in range(len(examples)))],
        cwd=folder / "src",
        env={"MYPYPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_a_checker_finds_wrong_fields(mypy: list[str], package: Callable[..., Path], tmp_path: Path) -> None:
    """That the types say something: a field of another type, and one that the system hasn't."""
    folder = package("python", "--dialect", "openai")
    use = tmp_path / "use.py"
    use.write_text(
        "from specvino_client_openai import Client\n"
        "client = Client('http://127.0.0.1/v1')\n"
        "client.create_chat_completion(model='m', messages=[], temperature='hot')\n"
        "client.create_chat_completion(model='m', messages=[], min_p=0.5)\n"
        "client.create_chat_completion(model='m', messages=[], stream=True)\n"
    )
    stdout = subprocess.run(
        [*mypy, str(use)], env={"MYPYPATH": str(folder / "src"), "PATH": ""}, capture_output=True, text=True
    ).stdout
    assert "use.py:3" in stdout
    assert "use.py:4" in stdout
    assert "use.py:5" in stdout
    assert "Found 3 errors" in stdout
