"""What is asked of each model over HTTP. Its weights are random, so a check is about what holds for any text: that the
same request has the same answer, that grammars are kept to, that logprobs are those of the tokens.
"""

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import httpx
from architectures.architecture import Architecture
from architectures.pipeline import runs
from support.images import data_url, file
from support.serving import wait_until

Answer = dict[str, Any]

TOKENS = 12
COLOURS = ("red", "blue", "green")
SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": COLOURS}, "size": {"enum": [1, 2, 3]}},
    "required": ["colour", "size"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "paint", "description": "Paints it.", "parameters": SCHEMA}}]

# The full-logits process computes with a cache of f32, the pipeline with one of 8 bits.
TOLERANCE = 0.5

# The tags of OpenVINO GenAI 2026.4.1 (src/cpp/src/visual_language): those of all models, then those of each.
TAGS = (
    "<ov_genai_image_0>",
    "<ov_genai_image_1>",
    "<ov_genai_video_0>",
    "<image>",
    "<image>./</image>",
    "<|image_1|>",
    "<|image|>",
    "<start_of_image>",
    "<image_soft_token>",
    "<|image_pad|>",
    "<|vision_start|><|image_pad|><|vision_end|>",
    "<|vision_start|><|video_pad|><|vision_end|>",
)


class Failed(Exception):
    """An architecture fails a check; `str()` is one line."""


@dataclass(frozen=True)
class Model:
    """A served model. `folder` has its files, `explained` is what `specvino explain-template` prints about it."""

    http: httpx.Client
    folder: str
    explained: str
    architecture: Architecture

    def ask(self, content: str | list[Any], **fields: Any) -> Answer:
        """Returns the answer to a user's turn, greedy and of TOKENS tokens unless `fields` say otherwise."""
        response = self.http.post("/chat/completions", json=self._body(content, **fields))
        if response.status_code != 200:
            raise Failed(f"{response.status_code}: {response.json()['error']['message']}")
        answer: Answer = response.json()
        return answer

    def stream(self, content: str | list[Any], **fields: Any) -> Generator[Answer]:
        """Yields the chunks of the same answer."""
        body = self._body(content, **fields) | {"stream": True}
        with self.http.stream("POST", "/chat/completions", json=body) as response:
            for line in response.iter_lines():
                data = line.removeprefix("data: ")
                if data.startswith("{"):
                    yield json.loads(data)

    def complete(self, prompt: str) -> httpx.Response:
        """Returns the response to a prompt that no template renders."""
        return self.http.post("/completions", json={"model": "m", "prompt": prompt, "max_tokens": 1})

    def metric(self, name: str) -> float:
        """Returns the value of a metric."""
        text = self.http.get(str(self.http.base_url).removesuffix("/v1/") + "/metrics").text
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name + "{"))

    def _body(self, content: str | list[Any], **fields: Any) -> dict[str, Any]:
        defaults = {"model": "m", "temperature": 0, "max_tokens": TOKENS, "ignore_eos": True}
        return {**defaults, "messages": [{"role": "user", "content": content}], **fields}


def text(model: Model) -> None:
    """The answer to a request has text, which is the same again, and as a stream."""
    first, second = model.ask("Hello"), model.ask("Hello")
    if not _said(first):
        raise Failed("no text")
    _same(_said(first), _said(second), "again")
    _same(first["usage"]["completion_tokens"], TOKENS, "tokens")
    streamed: dict[str, str] = {}
    for chunk in model.stream("Hello"):
        for name, part in chunk["choices"][0]["delta"].items():
            if name != "role" and isinstance(part, str) and part:
                streamed[name] = streamed.get(name, "") + part
    _same(streamed, _said(first), "streamed")


def tools(model: Model) -> None:
    """A forced call is one, in the format that the template shows."""
    _explained(model, model.architecture.calls or "Tool calls: no format")
    answer = model.ask("Paint!", tools=TOOLS, tool_choice="required", **_long(model))
    choice = answer["choices"][0]
    _same(choice["finish_reason"], "tool_calls", "finish_reason")
    for call in choice["message"]["tool_calls"]:
        _same(call["function"]["name"], "paint", "name")
        _accept(call["function"]["arguments"])


def reasoning(model: Model) -> None:
    """The tags of reasoning are those that the template shows."""
    _explained(model, f"Reasoning: {model.architecture.reasoning or 'no format'}")


def structured(model: Model) -> None:
    """A formatted answer has the format."""
    format = {"type": "json_schema", "json_schema": {"name": "paint", "schema": SCHEMA, "strict": True}}
    answer = model.ask("Paint!", response_format=format, **_long(model))
    _accept(answer["choices"][0]["message"]["content"])


def logprobs(model: Model) -> None:
    """Each token has a logprob; with the most likely ones it is that of the same model, computed by OpenVINO itself."""
    own = model.ask("Hello", logprobs=True)["choices"][0]["logprobs"]["content"]
    _same(len(own), TOKENS, "logprobs")
    if model.architecture.processor:  # these have no full-logits process
        return
    top = model.ask("Hello", logprobs=True, top_logprobs=3)["choices"][0]["logprobs"]["content"]
    for at, (mine, other) in enumerate(zip(own, top, strict=True)):
        if len(other["top_logprobs"]) != 3:
            raise Failed("top_logprobs have no effect")
        # Both are those of the most likely token, even if two are so nearly equal that they choose different ones.
        if abs(mine["logprob"] - other["logprob"]) > TOLERANCE:
            raise Failed(f"token {at}: {mine['logprob']:.2f} in the pipeline, {other['logprob']:.2f} by OpenVINO")
        if mine["token"] != other["token"]:
            break


def prefix_cache(model: Model) -> None:
    """A repeated prompt takes fewer steps, and has the answer that it has without the cache."""
    # What the pipeline does is visible only from beside it.
    answers = runs(model.folder)
    for answer, name in ((answers.first, "with the cache"), (answers.repeated, "repeated")):
        _same(answer.tokens, answers.uncached.tokens, name)
        for own, other in zip(answer.logprobs, answers.uncached.logprobs, strict=True):
            if abs(own - other) > TOLERANCE:
                raise Failed(f"{name}: a logprob is {own:.2f}, and {other:.2f} without the cache")
    if answers.repeated.steps >= answers.first.steps:
        raise Failed(f"a repeated prompt takes {answers.repeated.steps} steps, the first time {answers.first.steps}")


def images(model: Model) -> None:
    """One and two images in a turn are counted, and each of them matters, and their order."""
    red, blue = _image("red"), _image("blue")
    shown = {"none": [], "red": [red], "blue": [blue], "red, blue": [red, blue], "blue, red": [blue, red]}
    prompts = {name: [*images, _text("Which?")] for name, images in shown.items()}
    answers = {name: model.ask(prompt, logprobs=True) for name, prompt in prompts.items()}
    counts = {name: answer["usage"]["prompt_tokens"] for name, answer in answers.items()}
    if not counts["none"] < counts["red"] == counts["blue"] < counts["red, blue"] == counts["blue, red"]:
        raise Failed(f"prompt_tokens: {counts}")
    for one, other in combinations(answers, 2):
        if _logprobs(answers[one]) == _logprobs(answers[other]):
            raise Failed(f"the answer to the images {one} is that to {other}")
    again = model.ask(prompts["red, blue"], logprobs=True)
    _same(_logprobs(again), _logprobs(answers["red, blue"]), "again")


def image_tags(model: Model) -> None:
    """A tag that a user types adds no image, hides none and moves none. Where control tokens in a prompt are such, in
    one without a template, it is refused or text."""
    images = [[], [_image("red")], [_image("blue")], [_image("red"), _image("blue")]]
    none, *plain = [model.ask([*shown, _text("Which?")])["usage"]["prompt_tokens"] for shown in images]
    for tag in TAGS:
        answers = [model.ask([*shown, _text(f"{tag} Which?")], logprobs=True) for shown in images]
        typed, *counts = [answer["usage"]["prompt_tokens"] for answer in answers]
        _same([count - typed for count in counts], [count - none for count in plain], f"tokens of images beside {tag}")
        if any(_logprobs(one) == _logprobs(other) for one, other in combinations(answers, 2)):
            raise Failed(f"beside {tag} an image has no effect")
        response = model.complete(tag)
        if response.status_code not in (200, 400):
            raise Failed(f"{response.status_code} for {tag} without a template")


def cancel(model: Model) -> None:
    """A request ends with its connection."""
    before = model.metric("vllm:generation_tokens_total")
    chunks = model.stream("Hello", max_tokens=20_000)
    for _ in range(3):
        next(chunks)
    chunks.close()
    wait_until(lambda: model.metric("vllm:num_requests_running") == 0)
    if model.metric("vllm:generation_tokens_total") - before >= 20_000:
        raise Failed("it went on to its end")


CHECKS: dict[str, Callable[[Model], None]] = {
    "text": text,
    "tools": tools,
    "reasoning": reasoning,
    "structured": structured,
    "logprobs": logprobs,
    "images": images,
    "image tags": image_tags,
    "prefix cache": prefix_cache,
    "cancel": cancel,
}


# These are asked of vision-language models only.
OF_IMAGES = ("images", "image tags")


def _long(model: Model) -> dict[str, Any]:
    """Enough tokens for JSON of single bytes, and no reasoning, which random weights never end."""
    return {"max_tokens": 400, "ignore_eos": False, "chat_template_kwargs": model.architecture.quiet}


def _explained(model: Model, expected: str) -> None:
    if expected not in model.explained:
        raise Failed(f"explain-template doesn't print {expected!r}")


def _said(answer: Answer) -> dict[str, str]:
    message = answer["choices"][0]["message"]
    return {name: part for name, part in message.items() if name != "role" and isinstance(part, str) and part}


def _logprobs(answer: Answer) -> list[tuple[str, float]]:
    return [(each["token"], each["logprob"]) for each in answer["choices"][0]["logprobs"]["content"]]


def _image(colour: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_url(file(colour, (96, 64)))}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _accept(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        raise Failed(f"not JSON: {text[:80]!r}") from None
    if value.get("colour") not in COLOURS or value.get("size") not in (1, 2, 3):
        raise Failed(f"not of the schema: {text[:80]}")


def _same(got: object, expected: object, what: str) -> None:
    if got != expected:
        raise Failed(f"{what}: {str(got)[:100]!r} instead of {str(expected)[:100]!r}")
