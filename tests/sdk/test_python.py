"""The Python client: built, installed beside nothing else, and used."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from support.serving import Server

DIALECTS = ["openai", "ovms", "vllm", "mlc-llm", "fastdeploy"]


@pytest.fixture(scope="session")
def installed(package: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built package and nothing else."""
    wheels, folder = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(wheels), str(package("python"))], check=True)
    (wheel,) = wheels.glob("specvino_client-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder), str(wheel)], check=True)
    return folder


def script(installed: Path, server: Server, text: str) -> list[str]:
    """Runs a program that has the clients, `ApiError` and `URL`; gives the lines that it prints."""
    head = f"from specvino_client import ApiError, AsyncClient, Client\nURL = {server.url!r}\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", head + textwrap.dedent(text)],
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


ASK = """
ask = {"model": "smollm2", "messages": [{"role": "user", "content": "What is the capital of France?"}],
       "temperature": 0, "max_tokens": 24}
"""


def test_an_answer_and_its_stream(installed: Path, server: Server) -> None:
    answer, stream = script(
        installed,
        server,
        ASK
        + """
with Client(URL) as client:
    print(client.create_chat_completion(**ask).choices[0].message.content)
    chunks = client.create_chat_completion_stream(**ask)
    print("".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices))
""",
    )
    assert "Paris" in answer
    assert stream == answer


def test_the_same_without_waiting(installed: Path, server: Server) -> None:
    answers = script(
        installed,
        server,
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
    )
    assert len(answers) == 2
    assert answers[0] == answers[1]
    assert "Paris" in answers[0]


def test_a_call_and_its_result(installed: Path, server: Server) -> None:
    name, city, text = script(
        installed,
        server,
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
    )
    assert (name, text) == ("get_weather", "assistant")
    assert city in ("Paris", "Rome")


def test_a_response_and_its_events(installed: Path, server: Server) -> None:
    kept, *events = script(
        installed,
        server,
        """
with Client(URL) as client:
    first = client.create_response(model="smollm2", input="Say hello.", max_output_tokens=16)
    print(client.retrieve_response(first.id).id == first.id)
    for event in client.create_response_stream(model="smollm2", input="Say hello.", max_output_tokens=4):
        print(type(event).__name__)
""",
    )
    assert kept == "True"
    assert events[0] == "ResponseCreatedEvent"
    assert events[-1] in ("ResponseCompletedEvent", "ResponseIncompleteEvent")
    assert "OutputTextDeltaEvent" in events


def test_an_error_and_no_server(installed: Path, server: Server) -> None:
    errors = script(
        installed,
        server,
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
    )
    assert errors == ["404 invalid_request_error model model_not_found True"] * 2 + ["no connection"]


def test_a_busy_server_is_asked_again(installed: Path, server: Server) -> None:
    """A server that says so twice, with Retry-After."""
    assert script(
        installed,
        server,
        """
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
asked = []
class Busy(BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        busy = len(asked) < 3
        body = json.dumps({"error": {"message": "busy"}} if busy else {"object": "list", "data": []}).encode()
        self.send_response(503 if busy else 200)
        self.send_header("content-length", str(len(body)))
        if busy:
            self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
busy = HTTPServer(("127.0.0.1", 0), Busy)
threading.Thread(target=busy.serve_forever, daemon=True).start()
with Client(f"http://127.0.0.1:{busy.server_port}/v1") as client:
    print(client.list_models().data, len(asked))
    asked.clear()
with Client(f"http://127.0.0.1:{busy.server_port}/v1", retries=1) as client:
    try:
        client.list_models()
    except ApiError as error:
        print(error.status, error.message, len(asked))
busy.shutdown()
busy.server_close()
""",
    ) == ["[] 3", "503 busy 2"]


SCRIPTED = """
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
asked = []
class Scripted(BaseHTTPRequestHandler):
    kind, body = "application/json", b"{}"
    def do_GET(self):
        asked.append(self.path)
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", self.kind)
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)
    do_POST = do_GET
    def log_message(self, *args): pass
server = HTTPServer(("127.0.0.1", 0), Scripted)
threading.Thread(target=server.serve_forever, daemon=True).start()
URL = f"http://127.0.0.1:{server.server_port}/v1"
def says(kind, *events):
    Scripted.kind = kind
    text = "".join(f"data: {event}\\n\\n" for event in events) if "stream" in kind else events[0]
    Scripted.body = text.encode()
chunk = json.dumps({"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m",
                    "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None, "logprobs": None}]})
ask = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
"""


def test_streams_that_are_none(installed: Path, server: Server) -> None:
    """One that breaks off, an error and an answer in place of a stream."""
    assert script(
        installed,
        server,
        SCRIPTED
        + """
from specvino_client import ConnectionFailed, InvalidAnswer
def told():
    with Client(URL) as client:
        try:
            for event in client.create_chat_completion_stream(**ask):
                print(event.choices[0].delta.content)
        except (ApiError, ConnectionFailed, InvalidAnswer) as error:
            print(type(error).__name__, "" if "Expecting" in str(error) else error)
says("text/event-stream", chunk, "[DONE]")
told()
says("text/event-stream", chunk)
told()
says("application/json", '{"error": {"message": "no"}}')
told()
says("application/json", chunk)
told()
says("text/event-stream", "{")
told()
server.shutdown()
server.server_close()
""",
    ) == [
        "x",
        "x",
        "ConnectionFailed the stream broke off before its [DONE]",
        "ApiError no",
        "InvalidAnswer the server sent one answer where a stream was asked for",
        "InvalidAnswer ",
    ]


def test_a_stream_is_left(installed: Path, server: Server) -> None:
    """Nothing is asked before the first event, and no connection stays open."""
    assert script(
        installed,
        server,
        SCRIPTED
        + """
import asyncio, httpx
says("text/event-stream", chunk, "[DONE]")
http = httpx.Client()
stream = Client(URL, http=http).create_chat_completion_stream(**ask)
print(len(asked))
print(next(stream).choices[0].delta.content, len(asked))
stream.close()
print([each.is_idle() or each.is_closed() for each in http._transport._pool.connections])
http.close()
async def main():
    async with AsyncClient(URL) as client:
        stream = client.create_chat_completion_stream(**ask)
        print((await anext(stream)).choices[0].delta.content)
        await stream.aclose()
asyncio.run(main())
server.shutdown()
server.server_close()
""",
    ) == ["0", "x 1", "[]", "x"]


def test_a_server_that_sends_more_than_its_document_has(package: Callable[..., Path], server: Server) -> None:
    """vLLM: an operation at the server's root, and types of events that its document only names."""
    made = package("python", "--dialect", "vllm")
    program = SCRIPTED.replace("/v1", "/base/v1") + textwrap.dedent(
        """
        from specvino_client_vllm import Client
        says("application/json", '{"version": "0.9"}')
        with Client(URL) as client:
            print(client.get_version().version, asked)
            says("text/event-stream", '{"type": "response.reasoning_part.added", "sequence_number": 1}')
            print(list(client.create_response_stream(model="m", input="hi")))
        server.shutdown()
        server.server_close()
        """
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"PYTHONPATH": str(made / "src")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["0.9 ['/version']", "[]"]


def test_an_error_goes_through_processes(installed: Path, server: Server) -> None:
    assert script(
        installed,
        server,
        """
import pickle
error = pickle.loads(pickle.dumps(ApiError("no", status=404, code="gone")))
print(error, error.status, error.code)
""",
    ) == ["404: no 404 gone"]


@pytest.mark.parametrize("dialect", [None, *DIALECTS])
def test_types_hold(package: Callable[..., Path], dialect: str | None) -> None:
    folder = package("python", *(["--dialect", dialect] if dialect else []))
    (module,) = (folder / "src").glob("*/py.typed")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(folder / ".cache"),
        "-p",
        module.parent.name,
    ]
    done = subprocess.run(command, cwd=folder / "src", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_checker_finds_wrong_fields(package: Callable[..., Path], tmp_path: Path) -> None:
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
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / ".cache"), str(use)]
    found = subprocess.run(
        command, env={"MYPYPATH": str(folder / "src"), "PATH": ""}, capture_output=True, text=True
    ).stdout
    assert "use.py:3" in found
    assert "use.py:4" in found
    assert "use.py:5" in found
    assert "Found 3 errors" in found
