"""The advisories of servers and libraries like ours, by their numbers: what was asked there is asked here."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from PIL import Image
from support.images import data_url, saved
from support.serving import Server, healthy, serving, starting
from support.serving_here import ServerHere, serving_here

from specvino.document.loading import OPENAPI_32, ROUTES, load, read
from specvino.engine.models import ModelSource

SECRET = {"role": "user", "content": "hello"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the server could write to."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(tiny_vision: ModelSource, folder: Path) -> Iterator[Server]:
    places = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "SPECVINO_DATA")
    options = ("--served-model-name", "m", "--response-store", "none", "--allowed-media-domains", "images.invalid")
    with serving(str(tiny_vision.path), *options, env=dict.fromkeys(places, str(folder))) as server:
        yield server


def lasting(server: Server) -> set[int]:
    """The processes that no request may end; a sandbox is there to die, and be replaced."""
    found = set()
    for child in server.children():
        with suppress(psutil.NoSuchProcess):
            if child.cmdline()[-1:] in (["worker"], ["preprocess"]):
                found.add(child.pid)
    return found


@pytest.fixture(autouse=True)
def unharmed(server: Server) -> Iterator[None]:
    """Whatever was asked, the same processes answer the next one."""
    before = lasting(server)
    yield
    assert healthy(server.url)
    assert before <= lasting(server)


# Seconds of CPU time that a constraint may take: those of the automaton and of its trial, and the start of a process in
# place of one that was ended.
MOST_COMPUTING = 30.0


def computed(server: Server) -> float:
    """The CPU time of the server and all its processes so far, in seconds, with those that it has waited for."""
    own = psutil.Process(server.process.pid).cpu_times()
    seconds = own.user + own.system + own.children_user + own.children_system
    for child in server.children():
        with suppress(psutil.NoSuchProcess):
            times = child.cpu_times()
            seconds += times.user + times.system
    return seconds


def ask(server: Server, path: str = "chat/completions", **fields: Any) -> httpx.Response:
    body = {"model": "m", "max_tokens": 4} | ({"messages": [SECRET]} if path.startswith("chat") else {}) | fields
    return httpx.post(f"{server.url}/{path}", json=body, timeout=300)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def showing(server: Server, url: str) -> httpx.Response:
    image = {"type": "image_url", "image_url": {"url": url}}
    return ask(server, messages=[{"role": "user", "content": [image, {"type": "text", "text": "what is it?"}]}])


@pytest.mark.parametrize("number", [129, 10**6, 2**31, 2**63, 10**30])
@pytest.mark.parametrize("path", ["chat/completions", "completions"])
def test_cve_2026_34756_a_huge_n(server, path, number) -> None:
    answer = ask(server, path, n=number, **({"prompt": "a"} if path == "completions" else {}))
    assert code(answer) == (400, "integer_above_max_value")


@pytest.mark.parametrize("field", ["max_tokens", "n", "best_of", "top_k", "seed", "top_logprobs", "logprobs"])
def test_cve_2026_21869_a_negative_integer(server, field) -> None:
    endpoint = "completions" if field == "logprobs" else "chat/completions"
    fields = {"prompt": "a"} if endpoint == "completions" else {"logprobs": True}
    answer = ask(server, endpoint, **fields | {field: -(2**63) - 1})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == field


def test_ghsa_mgrm_fgjv_mhv8_grammars_fill_no_disk(server, folder) -> None:
    def size() -> int:
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

    def constrained(number: int) -> httpx.Response:
        schema = {"type": "object", "properties": {f"p{number}": {"const": 1}}, "required": [f"p{number}"]}
        form = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema | {"additionalProperties": False}}}
        return ask(server, response_format=form, max_tokens=20)

    assert constrained(0).status_code == 200
    before = size()
    assert {constrained(number).status_code for number in range(1, 30)} == {200}
    assert size() == before


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/a.png",
        "http://images.invalid@127.0.0.1:{port}/a.png",
        "http://images.invalid:80@127.0.0.1:{port}/a.png",
        "http://[::ffff:127.0.0.1]:{port}/a.png",
        "http://[::7f00:1]:{port}/a.png",
    ],
)
def test_ghsa_3f6c_7fw2_ppm4_an_image_is_not_fetched_from_elsewhere(server, url) -> None:
    with socket.create_server(("127.0.0.1", 0)) as inner:
        inner.setblocking(False)
        answer = showing(server, url.format(port=inner.getsockname()[1]))
        assert code(answer) == (400, "invalid_image_url")
        with pytest.raises(BlockingIOError):
            inner.accept()


@pytest.mark.parametrize(
    "url",
    [
        "http://images.invalid\\@127.0.0.1:{port}/a.png",
        "http://127.0.0.1:{port}\\@images.invalid/a.png",
        "http://127.0.0.1:{port}\\.images.invalid/a.png",
        "http:\\\\127.0.0.1:{port}/a.png",
        "http://127.0.0.1:{port}#@images.invalid/a.png",
    ],
)
def test_cve_2026_24779_two_readers_of_a_url_do_not_disagree(server, url) -> None:
    with socket.create_server(("127.0.0.1", 0)) as inner:
        inner.setblocking(False)
        answer = showing(server, url.format(port=inner.getsockname()[1]))
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
        with pytest.raises(BlockingIOError):
            inner.accept()


def test_cve_2026_22773_an_image_of_one_pixel(server) -> None:
    assert showing(server, data_url(saved(Image.new("RGB", (1, 1))))).status_code == 200


@pytest.mark.parametrize("size", [(30_000, 30_000), (60_000, 1_000)])
def test_cve_2026_5497_a_small_file_of_a_large_image(server, size) -> None:
    bomb = saved(Image.new("1", size), optimize=True)
    assert len(bomb) < 2_000_000
    assert code(showing(server, data_url(bomb))) == (400, "invalid_image")


def test_cve_2026_5497_frames_beyond_the_first_are_not_read(server) -> None:
    frames = [Image.new("L", (200, 200), number % 256) for number in range(500)]
    film = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert showing(server, data_url(film, "image/gif")).status_code in (200, 400)


@pytest.mark.parametrize("prompt", ["", [""], [], [[]], ["a", ""], [1], [0], [[0, 0, 0]], [-1], [2**31]])
def test_cve_2024_8768_and_cve_2026_9540_an_empty_or_odd_prompt(server, prompt) -> None:
    answer = ask(server, "completions", prompt=prompt)
    assert answer.status_code in (200, 400)
    assert answer.status_code == 200 or answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": ""}], [{"role": "assistant", "content": None}]])
def test_cve_2026_9540_an_empty_conversation(server, messages) -> None:
    answer = ask(server, messages=messages)
    assert answer.status_code in (200, 400)


def test_cve_2026_7482_no_request_makes_or_loads_a_model(server) -> None:
    root = server.url.removesuffix("/v1")
    for method, path in (
        ("POST", "/api/create"),
        ("POST", "/api/pull"),
        ("POST", "/api/blobs/sha256:0"),
        ("POST", "/v1/models"),
        ("DELETE", "/v1/models/m"),
        ("POST", "/v1/config/reload"),
        ("POST", "/v1/load_lora_adapter"),
    ):
        assert httpx.request(method, root + path, json={}).status_code in (404, 405)
    paths = load(OPENAPI_32)["paths"]
    assert [method for path in paths if "models" in path for method in paths[path] if method != "parameters"] == [
        "get",
        "get",
    ]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_cve_2026_7482_others_need_a_key(host) -> None:
    with starting("--engine", "scripted", "--host", host) as server:
        assert server.process.wait(300) == 2
    assert "--api-key-file" in server.output
    assert "--insecure" in server.output
    with serving("--engine", "scripted", "--host", host, env={"SPECVINO_API_KEY": "k"}):
        pass
    with serving("--engine", "scripted", "--host", host, "--insecure"):
        pass


def test_variables_of_a_template_are_not_templates(server) -> None:
    kwargs = {"messages": [], "bos_token": "{{ 7*7 }}", "chat_template": "{{ 7*7 }}", "tokenize": False}
    assert ask(server, chat_template_kwargs=kwargs).status_code in (200, 400)


def test_connexion_validates_a_body_without_a_content_type(server) -> None:
    wrong = (b"[]", b'{"model": 1}', b"\xff", b"[" * 10_000, b'{"model": ' + b"1" * 5000 + b"}")
    for raw, status in (*((body, 400) for body in wrong), (b"[" * 100_000, 413)):
        answer = httpx.post(f"{server.url}/chat/completions", content=raw)
        assert (answer.status_code, answer.json()["error"]["type"]) == (status, "invalid_request_error")


def test_connexion_renders_no_document(server, monkeypatch) -> None:
    from support.app import make_app

    from specvino.server.operations import routes as served

    routes = json.loads(read(ROUTES))
    routes["info"]["title"] = "{{ 7*7 }} {% if tools %}"
    monkeypatch.setattr(served, "read", lambda _: json.dumps(routes))
    make_app()


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerHere]:
    file = tmp_path_factory.mktemp("keys") / "keys"
    file.write_text("secret\n")
    file.chmod(0o600)
    options = ("--response-store", "none", "--api-key-file", str(file))
    with serving_here("--engine", "scripted", *options, "--dialect", "vllm") as server:
        yield server


@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions", "/tokenize", "/metrics"])
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1/health?x=",
        "127.0.0.1/openapi.json#",
        "127.0.0.1/docs/..",
        "health",
        "127.0.0.1:80/health",
        "a@127.0.0.1/health",
        "[::1]/health",
        "127.0.0.1%2fhealth",
        "",
    ],
)
def test_cve_2026_48710_and_49468_a_host_header_opens_no_path(keyed: ServerHere, path: str, host: str) -> None:
    body = json.dumps({"model": "scripted", "messages": [SECRET], "prompt": "a"}).encode()
    method = "GET" if path in ("/v1/models", "/metrics") else "POST"
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    with socket.create_connection(keyed.address, timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert received.startswith((b"HTTP/1.1 401 ", b"HTTP/1.1 400 ", b"HTTP/1.1 403 ")), received


@pytest.mark.parametrize("tokens", [10**6, 2**31 - 1, 2**31, 2**63, 10**30])
@pytest.mark.parametrize("path", ["chat/completions", "completions"])
def test_cve_2026_114051_a_huge_min_tokens(server, path, tokens) -> None:
    answer = ask(server, path, min_tokens=tokens, **({"prompt": "a"} if path == "completions" else {}))
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] in ("min_tokens", "max_tokens")


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": [10**6]},
        {"prompt": [[1], [2**31 - 1]]},
        {"prompt": [2**63]},
        {"prompt": "a", "stop_token_ids": [-1]},
        {"prompt": "a", "stop_token_ids": [2**63]},
        {"prompt": "a", "stop_token_ids": [10**6]},
        {"prompt": "a", "stop_token_ids": [10**6], "min_tokens": 2},
        {"prompt": "a", "logit_bias": {"1000000": 1}},
        {"prompt": "a", "allowed_token_ids": [10**6]},
        {"prompt": "a", "bad_words_token_ids": [10**6]},
        {"prompt": "a", "logprobs": 1, "logprob_token_ids": [10**6]},
    ],
    ids=str,
)
def test_pysec_2026_4350_and_cve_2026_105922_an_unknown_token_id(server, fields) -> None:
    answer = ask(server, "completions", **fields)
    # Which fields the model of this server reads is in the header; none of them may reach its tables.
    unread = re.split(r", *", answer.headers.get("x-unsupported-params", ""))
    assert answer.status_code == 400 or (answer.status_code == 200 and [*fields][-1] in unread)
    for path, wrong in (("detokenize", {"tokens": [10**6]}), ("detokenize", {"tokens": [-1]})):
        assert ask(server, path, **wrong).status_code == 400


FORMS: tuple[dict[str, Any], ...] = (
    {"structured_outputs": {"regex": "("}},
    {"structured_outputs": {"grammar": "root ::= ("}},
    {"structured_outputs": {"structural_tag": "{"}},
    {"structured_outputs": {"json": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}}},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "odd"}}}},
    {"response_format": {"type": "structural_tag", "format": {"type": "odd"}}},
)


@pytest.mark.parametrize("fields", FORMS, ids=str)
def test_cve_2026_105757_an_error_of_a_structured_output_is_the_client_s(server, fields) -> None:
    for stream in (False, True):
        answer = ask(server, stream=stream, **fields)
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["type"] == "invalid_request_error"
        assert answer.json()["error"]["param"].partition(".")[0] in fields


@pytest.mark.parametrize("depth", [200, 5_000, 30_000])
def test_cve_2026_25048_a_grammar_of_brackets(server, depth) -> None:
    open_only = ask(server, structured_outputs={"grammar": "root ::= " + "(" * depth})
    assert (open_only.status_code, open_only.json()["error"]["param"]) == (400, "structured_outputs.grammar")
    balanced = ask(server, structured_outputs={"grammar": f'root ::= {"(" * depth}"a"{")" * depth}'})
    assert balanced.status_code == 400 or balanced.json()["choices"][0]["message"]["content"] == "a"


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "((a|b|ab)*)*c", "(a{1,300}){1,300}b", "(x+x+)+y", "(" * 5000 + ")" * 5000]
)
def test_cve_2026_55574_a_pattern_that_takes_long(server, pattern) -> None:
    """It is compiled to an automaton, within a bound of CPU time, or refused: also that of processes that end."""
    as_schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}, "required": ["a"]}
    form = {"type": "json_schema", "json_schema": {"name": "s", "schema": as_schema}}
    for fields in ({"structured_outputs": {"regex": pattern}}, {"response_format": form}):
        before = computed(server)
        answer = ask(server, **fields)
        assert answer.status_code in (200, 400), answer.text
        assert computed(server) - before < MOST_COMPUTING


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "["}}},
        {"type": "object", "properties": {"a": {"type": "something"}}},
        {"type": "object", "properties": {"a": {"type": 7}}},
        {"type": {"a": 1}},
    ],
    ids=str,
)
def test_ghsa_vrq3_r879_7m65_a_malformed_schema_of_a_tool(server, parameters) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    forced = {"type": "function", "function": {"name": "f"}}
    for choice in (forced, "required"):
        answer = ask(server, tools=[tool], tool_choice=choice)
        if answer.status_code == 200:  # a keyword that can't be read constrains nothing, which the answer says
            assert "tools.0.function.parameters" in answer.headers["x-unsupported-params"]
        else:
            assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert ask(server, tools=[tool], tool_choice="none").status_code in (200, 400)


@pytest.mark.parametrize(
    "template", ["{{ ''.__class__ }}", "{% for x in range(10**9) %}{% endfor %}", "{{ 'a' * 10**10 }}"]
)
@pytest.mark.parametrize("path", ["chat/completions", "tokenize"])
def test_cve_2026_115911_a_template_of_the_request_is_refused(server, path, template) -> None:
    answer = ask(server, path, messages=[SECRET], chat_template=template)
    assert code(answer) == (400, "unsupported_parameter")


@pytest.fixture(scope="module")
def trusting(tiny_text: ModelSource) -> Iterator[Server]:
    options = ("--served-model-name", "m", "--response-store", "none", "--trust-request-chat-template")
    with serving(str(tiny_text.path), *options) as server:
        yield server


OUTSIDE = (
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__['os'].environ }}",
    "{{ messages.__class__.__init__.__globals__ }}",
    "{{ (raise_exception|attr('__globals__')) }}",
    "{{ '{0.__class__.__base__}'.format(messages) }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os.getcwd() }}",
    "{{ open('/etc/passwd').read() }}",
)

BOUNDLESS = (
    "{% for a in range(10**9) %}{% endfor %}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{{ 'a' * 10**10 }}",
    "{{ 9 ** (9 ** 9) }}",
    "{% set ns = namespace(x='abcdefgh') %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
)


@pytest.mark.parametrize("template", OUTSIDE)
def test_cve_2026_115911_a_trusted_template_reaches_nothing_outside(trusting, template) -> None:
    shown = ask(trusting, "tokenize", messages=[SECRET], chat_template=template)
    if shown.status_code == 200:  # what isn't there is empty
        text = ask(trusting, "detokenize", tokens=shown.json()["tokens"]).text
        assert not re.search("root:|uid=|PATH|class|function|module|built-in", text), text
    else:
        assert (shown.status_code, shown.json()["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("template", BOUNDLESS)
def test_cve_2026_115911_a_trusted_template_takes_bounded_time_and_memory(trusting, template) -> None:
    before, processes = computed(trusting), lasting(trusting)
    answer = ask(trusting, messages=[SECRET], chat_template=template)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    # A second of CPU time, which the kernel counts, and the start of the next process.
    assert computed(trusting) - before < MOST_COMPUTING
    assert processes <= lasting(trusting)
    assert ask(trusting).status_code == 200
    assert healthy(trusting.url)
