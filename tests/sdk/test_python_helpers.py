"""What makes the Python client convenient: final answers, parsed ones, tools, pages, headers, grouped names."""

import json
from collections.abc import Callable, Iterator

import pytest
from support.serving_here import serving_here

Script = Callable[..., list[str]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving_here("--engine", "scripted", "--served-model-name", "m") as server:
        yield server.url


FOLD = """
def plain(answer):
    said = answer.model_dump(by_alias=True, exclude_unset=True, exclude_none=True, warnings=False)
    for name in ("id", "created", "created_at", "completed_at", "system_fingerprint"):
        said.pop(name, None)
    for each in said.get("output") or ():
        each.pop("id", None)
    return said
prompt = "What is the capital of France?"
chat = {"model": "m", "messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": 24,
        "n": 2, "logprobs": True, "top_logprobs": 2}
message = {"model": "m", "messages": chat["messages"], "temperature": 0, "max_tokens": 24}
response = {"model": "m", "input": prompt, "temperature": 0, "max_output_tokens": 24}
completion = {"model": "m", "prompt": prompt, "temperature": 0, "max_tokens": 8, "logprobs": 1, "n": 2}
uses = [("chat_completion", chat), ("message", message), ("response", response), ("completion", completion)]
"""


def test_a_stream_makes_the_answer(script: Script, url: str) -> None:
    """As the unary answer is, of each endpoint; and its text."""
    assert script(
        FOLD
        + """
import asyncio
with Client(URL) as client:
    for name, body in uses:
        whole = getattr(client, f"create_{name}")(**body)
        more = {"stream_options": {"include_usage": True}} if "chat" in name or "completion" in name else {}
        with getattr(client, f"create_{name}_stream")(**body, **more) as stream:
            assert stream.head is None
            final = stream.final()
        assert plain(final) == plain(whole), (plain(final), plain(whole))
        assert type(final) is type(whole)
        assert stream.head.status == 200 and stream.head.request_id
        pieces = list(getattr(client, f"create_{name}_stream")(**body).text())
        print(name, "".join(pieces) == whole.output_text != "", len(pieces) > 2)
async def main():
    async with AsyncClient(URL) as client:
        stream = client.create_chat_completion_stream(**chat)
        text = [piece async for piece in stream.text()]
        print("".join(text) == (await stream.final()).output_text)
asyncio.run(main())
""",
        url,
    ) == [f"{name} True True" for name in ("chat_completion", "message", "response", "completion")] + ["True"]


def test_lines_make_the_answer(script: Script, url: str) -> None:
    """As the unary answer is, but for its measurements."""
    assert script(
        """
import asyncio
def plain(answer):
    assert all(getattr(answer, name) is not None for name in DURATIONS)
    for call in getattr(answer, "message", None) and answer.message.tool_calls or ():
        assert call.id
        call.id = None
    return answer.model_dump(exclude_none=True, exclude={*DURATIONS, "created_at"})
DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
prompt = "What is the capital of France?"
ask = {"model": "m", "options": {"temperature": 0, "num_predict": 24}, "logprobs": True}
chat = {**ask, "messages": [{"role": "user", "content": prompt}]}
tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
called = {**ask, "messages": [{"role": "user", "content": "script: calls=2 think=1\\none two"}], "tools": tools,
          "think": True, "options": {}}
generate = {**ask, "prompt": prompt}
lost = [{"role": "user", "content": "script: crash_at=1\\none two"}]
with Client(URL) as client:
    for name, body in (("chat", chat), ("chat", called), ("generate", generate)):
        whole = getattr(client, f"ollama_{name}")(**body)
        stream = getattr(client, f"ollama_{name}_stream")(**body)
        final = stream.final()
        assert plain(final) == plain(whole), (plain(final), plain(whole))
        pieces = list(getattr(client.api, name).create_stream(**body).text())
        print(type(final).__name__, stream.head.status, "".join(pieces) == whole.output_text, len(pieces))
        if body is called:
            print(final.message.thinking, [call.function.name for call in final.message.tool_calls])
    stream = client.ollama_chat_stream(**chat | {"messages": lost})
    print(next(stream).message.content)
    try:
        next(stream)
    except ApiError as error:
        print(error.status, error.code)
async def main():
    async with AsyncClient(URL) as client:
        stream = client.ollama_chat_stream(**chat)
        text = "".join([piece async for piece in stream.text()])
        print(text == (await client.ollama_chat(**chat)).output_text == (await stream.final()).output_text != "")
asyncio.run(main())
""",
        url,
    ) == [
        "OllamaChatResponse 200 True 6",
        "OllamaChatResponse 200 True 2",
        "one two ['f', 'f']",
        "OllamaGenerateResponse 200 True 6",
        "one",
        "None engine_restarted",
        "True",
    ]


def test_an_answer_is_parsed(script: Script) -> None:
    """In each API's form, and by grouped names; a text that is cut is no answer."""
    *printed, cut = script(
        FOLD
        + """
import json
from pydantic import BaseModel
from scripted import Answer, Scripted
from ways import outcomes
class Sea(BaseModel):
    depth: int
class City(BaseModel):
    sunny: bool
    seas: list[Sea] = []
text = '{"sunny": true, "seas": [{"depth": 1}]}'
output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]
said = {"chat": {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]},
        "responses": {"output": output}, "messages": {"type": "message", "content": [{"type": "text", "text": text}]}}
ways = [("chat", lambda client: client.chat.completions.parse(City, **chat)),
        ("responses", lambda client: client.responses.parse(City, **response, text={"verbosity": "low"})),
        ("messages", lambda client: client.messages.parse(City, **message))]
with Scripted() as server:
    for api, use in ways:
        server.says(Answer(json.dumps(said[api])))
        for (parsed,) in outcomes(server.url, use):
            print(parsed.value, type(parsed.answer).__name__)
        one, other = (request.sent for request in server.asked)
        assert one == other
        print(json.dumps(one.get("response_format") or one.get("text") or one["output_config"]))
    server.says(Answer(json.dumps(said["chat"]).replace("true", "tr")))
    for outcome in outcomes(server.url, ways[0][1]):
        print(str(outcome[0])[:21])
"""
    )[:-1]
    sea = {"type": "object", "title": "Sea", "additionalProperties": False, "required": ["depth"],
           "properties": {"depth": {"type": "integer", "title": "Depth"}}}  # fmt: skip
    seas = {"type": "array", "title": "Seas", "items": {"$ref": "#/$defs/Sea"}}
    schema = {"type": "object", "title": "City", "additionalProperties": False, "required": ["sunny", "seas"],
              "properties": {"sunny": {"type": "boolean", "title": "Sunny"}, "seas": seas},
              "$defs": {"Sea": sea}}  # fmt: skip
    named = {"name": "City", "schema": schema, "strict": True}
    formats = [
        {"type": "json_schema", "json_schema": named},
        {"verbosity": "low", "format": {"type": "json_schema", **named}},
        {"format": {"type": "json_schema", "schema": schema}},
    ]
    for number, (kind, form) in enumerate(
        zip(("ChatCompletion", "ResponseObject", "AnthropicMessage"), formats, strict=True)
    ):
        one, other, sent = printed[number * 3 : number * 3 + 3]
        assert one == other == f"sunny=True seas=[Sea(depth=1)] {kind}"
        assert json.loads(sent) == form
    assert cut == "the text is no City: "


def test_pages_headers_and_the_environment(script: Script, url: str) -> None:
    assert script(
        """
import asyncio, os
os.environ["OPENAI_BASE_URL"] = URL
texts = [f"number {number}" for number in range(5)]
with Client() as client:
    stored = client.responses.create(model="m", max_output_tokens=1,
                                     input=[{"role": "user", "content": text} for text in texts])
    items = client.responses.input_items.list_all(stored.id, limit=2, order="asc")
    print([item.content[0]["text"] for item in items] == texts)
    print([model.id for model in client.models.list_all()], client.models.list().data[0].id)
    ask = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
    raw = client.chat.completions.with_raw_response.create(**ask, user="me", extra_body={"bogus": 1})
    print(raw.status, raw.unsupported, bool(raw.request_id), raw.headers["Content-Type"])
    print(raw.parse().choices[0].message.role, type(client.create_chat_completion(**ask)).__name__)
async def main():
    async with AsyncClient() as client:
        items = client.list_input_items_all(stored.id, limit=2, order="asc")
        print([item.content[0]["text"] async for item in items] == texts)
        raw = await client.with_raw_response.create_chat_completion(**ask, extra_body={"bogus": 1})
        print(raw.unsupported, type(raw.parse()).__name__)
asyncio.run(main())
""",
        url,
    ) == [
        "True",
        "['m'] m",
        "200 ('bogus',) True application/json",
        "assistant ChatCompletion",
        "True",
        "('bogus',) ChatCompletion",
    ]


CHAT = [
    {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": None, "tool_calls": [
            {"id": "a", "type": "function", "function": {
                "name": "weather", "arguments": '{"city": "Rome", "days": 2}'}},
            {"id": "b", "type": "function", "function": {"name": "weather", "arguments": '{"days": "x"}'}}]}}]},
    {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}]},
]  # fmt: skip
RESPONSES = [
    {"object": "response", "output": [
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "weather", "arguments": '{"city": "Rome", "days": 2}'},
        {"type": "function_call", "call_id": "b", "name": "weather", "arguments": '{"days": "x"}'}]},
    {"object": "response", "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]},
]  # fmt: skip
MESSAGES = [
    {"type": "message", "role": "assistant", "content": [
        {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Rome", "days": 2}},
        {"type": "tool_use", "id": "b", "name": "weather", "input": {"days": "x"}}]},
    {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]  # fmt: skip


ANSWERS = {"chat_completion": CHAT, "response": RESPONSES, "message": MESSAGES}


def test_tools_are_called_until_the_answer(script: Script) -> None:
    """Both clients, each API; arguments that aren't valid have the reason as their result."""
    printed = script(
        f"""
import json
from scripted import Answer, Scripted
from ways import outcomes
def weather(city: str, days: int = 1) -> dict[str, int]:
    '''The weather of a city.'''
    return {{city: days}}
def asked(name):
    return {{"input": "hi"}} if name == "response" else {{"messages": [{{"role": "user", "content": "hi"}}]}}
answers = {ANSWERS!r}
with Scripted() as server:
    for name, each in answers.items():
        said = [Answer(json.dumps(answer)) for answer in each]
        server.says(*said, *said)
        more = {{"max_tokens": 9}} if name == "message" else {{}}
        for (answer,) in outcomes(server.url, lambda client: getattr(client, f"create_{{name}}_tools")(
                [weather], model="m", **asked(name), **more)):
            print(answer.output_text)
        print(json.dumps([request.sent for request in server.asked]))
        server.says(said[0])
        list(outcomes(server.url, lambda client: getattr(client, f"create_{{name}}_tools")(
            [weather], rounds=3, model="m", **asked(name), **more)))
        print(len(server.asked))
"""
    )
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["city"],
        "properties": {
            "city": {"type": "string", "title": "City"},
            "days": {"type": "integer", "title": "Days", "default": 1},
        },
    }
    about = {"name": "weather", "description": "The weather of a city."}
    tools = [
        {"type": "function", "function": about | {"parameters": schema}},
        {"type": "function", **about, "parameters": schema},
        about | {"input_schema": schema},
    ]
    for number, tool in enumerate(tools):
        *texts, said, rounds = printed[number * 4 : number * 4 + 4]
        assert (texts, rounds) == (["Done."] * 2, "6")
        first, second, *same = json.loads(said)
        assert same == [first, second]
        assert first["tools"] == second["tools"] == [tool]
        messages = second.get("messages") or second["input"]
        assert messages[0] == {"role": "user", "content": "hi"}
        *_, one, other = messages[-1]["content"] if number == 2 else messages
        good, bad = (each.get("content") or each["output"] for each in (one, other))
        assert good == '{"Rome":2}'
        assert bad.startswith("The arguments aren't valid")
        assert [each.get("tool_call_id") or each.get("call_id") or each["tool_use_id"] for each in (one, other)] == [
            "a",
            "b",
        ]


def test_what_a_tool_raises_is_raised(script: Script) -> None:
    """Also a ValueError, which isn't one of its arguments; and only an object has arguments."""
    assert script(
        f"""
import json
from scripted import Answer, Scripted
from specvino_client import InvalidAnswer
class Town:
    def weather(self, city: str, days: int = 1) -> str:
        raise ValueError(f"no weather in {{city}} for {{days}} days")
chat = {json.dumps(CHAT[0])!r}
with Scripted() as server, Client(server.url) as client:
    server.says(Answer(chat))
    ask = dict(model="m", messages=[{{"role": "user", "content": "hi"}}])
    try:
        client.create_chat_completion_tools([Town().weather], **ask)
    except ValueError as error:
        print(error, len(server.asked))
    server.says(Answer(chat.replace(json.dumps('{{"city": "Rome", "days": 2}}'), '"[1]"')), Answer())
    client.create_chat_completion_tools([Town().weather], **ask)
    print(server.asked[1].sent["messages"][2]["content"])
    server.says(Answer(chat.replace('"id": "a", ', "")))
    try:
        client.create_chat_completion_tools([Town().weather], **ask)
    except InvalidAnswer as error:
        print(error)
"""
    ) == [
        "no weather in Rome for 2 days 1",
        "The arguments aren't valid: they are no JSON object",
        "a call of a tool lacks something: KeyError('id')",
    ]


def test_requests_are_logged_without_secrets(script: Script) -> None:
    assert script(
        """
import io, logging
from scripted import Answer, Scripted
log = io.StringIO()
logging.basicConfig(level=logging.INFO, stream=log, format="%(levelname)s %(name)s %(message)s")
logging.getLogger("httpx").setLevel("WARNING")
with Scripted() as server, Client(server.url, api_key="secret") as client:
    server.says(Answer(status=503, headers={"retry-after": "0"}), Answer())
    client.list_models()
    logging.getLogger("specvino_client").setLevel("DEBUG")
    server.says(Answer())
    client.create_chat_completion(model="m", messages=[{"role": "user", "content": "secret"}])
    print(log.getvalue().replace(server.url, "URL"))
"""
    ) == [
        "INFO specvino_client GET URL/models: attempt 2 in 0.0 s",
        "DEBUG specvino_client POST URL/chat/completions",
        "DEBUG specvino_client POST URL/chat/completions: 200",
        "",
    ]
