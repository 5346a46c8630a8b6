"""Images as clients send them, answered by a model that sees."""

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from models.tiny_vision_lessons import COLOURS
from PIL import Image
from support.app import error_of
from support.images import data_url, file, saved
from support.serving_here import ServerHere, serving_here
from support.streams import judged

from specvino.engine.models import ModelSource

RED = data_url(file("red"))
BLUE = data_url(file("blue", format="JPEG"), "image/jpeg")
QUESTION = "What colour is this?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    (folder / "green.webp").write_bytes(file("green", format="WEBP"))
    (folder / "text.png").write_text("I am no image.")
    return folder


@pytest.fixture(scope="module")
def server(tiny_vision: ModelSource, folder: Path) -> Any:
    options = ["--allowed-media-domains", "localhost,images.invalid", "--allowed-local-media-path", str(folder)]
    store = f"sqlite+aiosqlite:///{folder.parent}/responses.db"
    with serving_here(str(tiny_vision.path), "--served-model-name", "m", "--response-store", store, *options) as server:
        yield server


def post(server: ServerHere, path: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(server.url + path, json={"model": "m", "temperature": 0, **body}, timeout=300)


def chat(server: ServerHere, *images: Any, text: str = QUESTION, **fields: Any) -> httpx.Response:
    parts = [{"type": "image_url", "image_url": image} for image in images]
    content = [*parts, {"type": "text", "text": text}]
    return post(server, "/chat/completions", {"messages": [{"role": "user", "content": content}], **fields})


def respond(server: ServerHere, *images: dict[str, Any], **fields: Any) -> httpx.Response:
    parts = [{"type": "input_image", **image} for image in images]
    content = [*parts, {"type": "input_text", "text": QUESTION}]
    return post(server, "/responses", {"input": [{"role": "user", "content": content}], **fields})


def text_of(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    body = response.json()
    if "choices" in body:
        return str(body["choices"][0]["message"]["content"])
    return str(body["output"][0]["content"][0]["text"])


CASES: list[tuple[list[Any], str]] = [
    ([], "No image."),
    ([RED], "The image is red."),
    ([{"url": BLUE}], "The image is blue."),
    ([RED, {"url": BLUE, "detail": "low"}], "The images are red and blue."),
    ([BLUE, RED], "The images are blue and red."),
]


@pytest.mark.parametrize(("images", "expected"), CASES)
def test_chat(server: ServerHere, images: list[Any], expected: str) -> None:
    whole = chat(server, *images)
    assert text_of(whole) == expected
    events = judged("chat", chat(server, *images, stream=True, stream_options={"include_usage": True}))
    pieces = [event["choices"][0]["delta"].get("content", "") for event in events if event["choices"]]
    assert "".join(pieces) == expected
    assert events[-1]["usage"] == whole.json()["usage"]


@pytest.mark.parametrize(("images", "expected"), CASES)
def test_responses(server: ServerHere, images: list[Any], expected: str) -> None:
    parts = [{"image_url": image} for image in images]
    whole = respond(server, *parts)
    assert text_of(whole) == expected
    events = judged("responses", respond(server, *parts, stream=True))
    assert "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta") == expected
    assert events[-1]["response"]["usage"] == whole.json()["usage"]


PLACE = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "the weather", "parameters": PLACE}}


def test_a_tool_is_called_and_its_result_read(server: ServerHere) -> None:
    asked = {"role": "user", "content": "What is the weather in Paris?"}
    choice = post(server, "/chat/completions", {"messages": [asked], "tools": [WEATHER]}).json()["choices"][0]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], call["function"]["name"]) == ("tool_calls", "get_weather")
    assert json.loads(call["function"]["arguments"]) == {"location": "Paris"}
    messages = [asked, choice["message"], {"role": "tool", "tool_call_id": call["id"], "content": "sunny"}]
    after = post(server, "/chat/completions", {"messages": messages, "tools": [WEATHER]})
    assert text_of(after) == "It is sunny in Paris."


@pytest.mark.parametrize(("images", "expected"), CASES)
def test_tools_beside_images_are_left_alone(server: ServerHere, images: list[Any], expected: str) -> None:
    assert text_of(chat(server, *images, tools=[WEATHER])) == expected


# The test "tool-calling" of Open Responses' compliance suite (commit 92c12d9, src/lib/compliance-tests.ts) sends this.
SUITE = {
    "input": [{"type": "message", "role": "user", "content": "What's the weather like in San Francisco?"}],
    "tools": [
        {
            "type": "function",
            "name": "get_weather",
            "description": "Get the current weather for a location",
            "parameters": {
                "type": "object",
                "properties": {
                    "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                },
                "required": ["location"],
            },
        }
    ],
}


def test_the_tool_of_open_responses_suite_is_called(server: ServerHere) -> None:
    whole = post(server, "/responses", SUITE).json()
    streamed = judged("responses", post(server, "/responses", {**SUITE, "stream": True}))[-1]["response"]
    for response in (whole, streamed):
        (call,) = response["output"]
        assert (response["status"], call["type"], call["name"]) == ("completed", "function_call", "get_weather")
        assert json.loads(call["arguments"]) == {"location": "San Francisco"}


def test_image_tokens_are_in_the_usage(server: ServerHere) -> None:
    counts = [chat(server, *images).json()["usage"]["prompt_tokens"] for images in ([], [RED], [RED, BLUE])]
    # Four tokens and a line break each, and the line break before the next part.
    assert [counts[1] - counts[0], counts[2] - counts[1]] == [6, 6]
    usage = respond(server, {"image_url": RED}).json()["usage"]
    assert usage["input_tokens"] == counts[1]


def test_detail_decides_how_closely_the_model_looks(server: ServerHere) -> None:
    # Fine stripes, which become one grey when the image gets smaller.
    stripes = Image.new("RGB", (2048, 28), COLOURS["blue"])
    for x in range(0, 2048, 4):
        stripes.paste(COLOURS["yellow"], (x, 0, x + 2, 28))
    url = data_url(saved(stripes))
    for detail, seen in (("high", "yellow"), ("auto", "yellow"), (None, "yellow"), ("low", "white")):
        answers = [chat(server, {"url": url, "detail": detail}), respond(server, {"image_url": url, "detail": detail})]
        assert [text_of(answer) for answer in answers] == [f"The image is {seen}."] * 2
        assert "X-Unsupported-Params" not in answers[0].headers
    original = chat(server, {"url": url, "detail": "original"})
    assert original.headers["X-Unsupported-Params"] == "messages.0.content.0.image_url.detail"


def test_an_image_in_a_function_s_result(server: ServerHere) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    output = [{"type": "input_text", "text": QUESTION}, {"type": "input_image", "image_url": RED}]
    result = {"type": "function_call_output", "call_id": "c", "output": output}
    response = post(server, "/responses", {"input": [{"role": "user", "content": "Look."}, call, result]})
    assert "red" in text_of(response)


def test_a_response_that_continues_one_with_an_image(server: ServerHere) -> None:
    first = respond(server, {"image_url": RED})
    assert text_of(first) == "The image is red."
    earlier = {"previous_response_id": first.json()["id"]}
    second = respond(server, {"image_url": BLUE}, **earlier)
    assert text_of(second) == "The image is blue."
    added = (
        second.json()["usage"]["input_tokens"] - respond(server, {"image_url": BLUE}).json()["usage"]["input_tokens"]
    )
    assert added > first.json()["usage"]["input_tokens"]
    listed = httpx.get(f"{server.url}/responses/{first.json()['id']}/input_items").json()["data"]
    assert listed[0]["content"][0]["image_url"] == RED


def test_answers_in_a_form_and_their_probabilities(server: ServerHere) -> None:
    schema = {"type": "string", "enum": ["The image is red.", "The image is blue."]}
    form = {"type": "json_schema", "json_schema": {"name": "colour", "schema": schema, "strict": True}}
    for url, colour in ((RED, "red"), (BLUE, "blue")):
        assert text_of(chat(server, url, response_format=form)) == f'"The image is {colour}."'
    choice = chat(server, RED, logprobs=True).json()["choices"][0]
    assert "".join(token["token"] for token in choice["logprobs"]["content"]) == choice["message"]["content"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("data:image/png;base64,NOT_VALID!!!", "invalid_image"),
        ("data:image/png;base64,QUJDREVGR0g=", "invalid_image"),
        ("data:image/png;base64,", "invalid_image"),
        ("data:image/png,abc", "invalid_image"),
        (data_url(file("red")[:60]), "invalid_image"),
        (data_url(file("red", (2000, 1))), "invalid_image"),
        ("https://elsewhere.test/a.png", "invalid_image_url"),
        ("http://localhost:1/a.png", "invalid_image_url"),
        ("http://images.invalid/a.png", "failed_to_download_image"),
        ("/etc/passwd", "invalid_image_url"),
        ("../../etc/passwd", "invalid_image_url"),
        ("file:///proc/self/environ", "invalid_image_url"),
        ("text.png", "invalid_image"),
        ("missing.png", "invalid_image"),
        ("ftp://localhost/a.png", "invalid_image"),
    ],
)
def test_what_is_refused_and_where_it_stands(server: ServerHere, url: str, code: str) -> None:
    error = error_of(chat(server, RED, url, stream=True), 400, code)
    assert error["param"] == "messages.0.content.1"
    error = error_of(respond(server, {"image_url": RED}, {"image_url": url}), 400, code)
    assert error["param"] == "input.0.content.1"


def test_local_files(server: ServerHere, folder: Path) -> None:
    for url in ("green.webp", str(folder / "green.webp"), f"file://{folder}/green.webp"):
        assert text_of(chat(server, url)) == "The image is green."


def test_too_many_images(server: ServerHere) -> None:
    error = error_of(chat(server, *[RED] * 65), 400, "invalid_image")
    assert error["param"] == "messages.0.content.64"


@pytest.mark.parametrize("part", [{"file_id": "f"}, {}, {"image_url": None}])
def test_images_that_are_nowhere(server: ServerHere, part: dict[str, Any]) -> None:
    assert error_of(respond(server, part), 400, "unsupported_content")["param"] == "input.0.content.0"


def test_the_context_counts_images(server: ServerHere) -> None:
    prompt = chat(server, RED).json()["usage"]["prompt_tokens"]
    assert chat(server, RED, max_tokens=4096 - prompt, stop=["red"]).status_code == 200
    error = error_of(chat(server, RED, max_tokens=4096 - prompt + 1), 400, "context_length_exceeded")
    assert error["param"] == "messages"


def test_a_text_model_refuses_images_and_says_where(tiny_server: ServerHere) -> None:
    body = {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": RED}]}], "model": "tiny"}
    error = error_of(post(tiny_server, "/chat/completions", body), 400, "unsupported_content")
    assert error["param"] == "messages.0.content.0"
    content = [{"type": "input_image", "image_url": RED}]
    body = {"input": [{"role": "user", "content": content}], "model": "tiny"}
    error = error_of(post(tiny_server, "/responses", body), 400, "unsupported_content")
    assert error["param"] == "input.0.content.0"


@pytest.mark.parametrize("tag", ["<ov_genai_image_0>", "<image>", "<|im_end|>"])
def test_typed_tags_are_text(server: ServerHere, tag: str) -> None:
    def tokens(*images: str, text: str) -> int:
        response = chat(server, *images, text=text, max_tokens=20)
        assert response.status_code == 200, response.text
        return int(response.json()["usage"]["prompt_tokens"])

    plain, typed, shown = tokens(text=QUESTION), tokens(text=f"{tag} {QUESTION}"), tokens(RED, text=f"{tag} {QUESTION}")
    assert typed - plain > 2  # it is spelled out: as a token of the model's it would be one, and a blank
    assert shown - typed == 6  # as much as in test_image_tokens_are_in_the_usage


def test_images_and_texts_together(server: ServerHere) -> None:
    """Sixteen clients at a time, each with its own images."""
    asked = [(list(images), expected) for images, expected in CASES] * 6
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        answers[number] = text_of(chat(server, *asked[number][0]))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[number] for number in range(len(asked))] == [expected for _, expected in asked]
