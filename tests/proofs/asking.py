"""One way to ask all endpoints, unary and streamed, and to look at the answers."""

import json
from typing import Any

import httpx
from support.streams import judged

from proofs.dropping import BrokenProof
from specvino.conformance.streams.fold import (
    fold_chat,
    fold_completion,
    fold_message,
    fold_ollama_chat,
    fold_ollama_generate,
    fold_response,
)

PATHS = {
    "chat": "/chat/completions",
    "completions": "/completions",
    "responses": "/responses",
    "messages": "/messages",
    "ollama_chat": "/api/chat",
    "ollama_generate": "/api/generate",
}
FOLDS = {
    "chat": fold_chat,
    "completions": fold_completion,
    "responses": fold_response,
    "messages": fold_message,
    "ollama_chat": fold_ollama_chat,
    "ollama_generate": fold_ollama_generate,
}

ROLES = ("user", "assistant")

# What the tiny model's chat template makes of a message, and what it puts before the answer.
TURN = "<|im_start|>{role}\n{content}<|im_end|>\n"
ANSWER = "<|im_start|>assistant\n"


class Answer:
    """The unary body, or what a stream's events add up to, with what all endpoints have in common."""

    def __init__(self, response: httpx.Response, body: dict[str, Any], events: list[dict[str, Any]]) -> None:
        self.headers = response.headers
        self.body = body
        self.events = events
        """Empty if it was not streamed."""

    @property
    def choices(self) -> list[dict[str, Any]]:
        choices: list[dict[str, Any]] = self.body["choices"]
        return choices

    @property
    def texts(self) -> list[str]:
        """Of each choice; a response has one."""
        if "output" in self.body:
            return ["".join(part["text"] for item in self.items("message") for part in item["content"])]
        if "content" in self.body:
            return ["".join(block["text"] for block in self.blocks("text"))]
        if "done" in self.body:
            return [self.body["response"] if "response" in self.body else self.body["message"]["content"]]
        return [choice["text"] if "text" in choice else choice["message"]["content"] or "" for choice in self.choices]

    @property
    def text(self) -> str:
        (text,) = self.texts
        return text

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """Name and arguments of each function that is called."""
        if "content" in self.body:
            return [(block["name"], block["input"]) for block in self.blocks("tool_use")]
        if "done" in self.body:
            called = [call["function"] for call in self.body["message"].get("tool_calls", [])]
            return [(function["name"], function["arguments"]) for function in called]
        if "output" in self.body:
            functions = self.items("function_call")
        else:
            message = self.choices[0]["message"]
            functions = [call["function"] for call in message.get("tool_calls") or []]
            functions += [call for call in [message.get("function_call")] if call]
        return [(function["name"], json.loads(function["arguments"])) for function in functions]

    @property
    def finish(self) -> str:
        """stop, length or tool_calls; of a message, and in Ollama's API, its own reason."""
        if "done" in self.body:
            return str(self.body["done_reason"])
        if "content" in self.body:
            return str(self.body["stop_reason"])
        if "output" not in self.body:
            return str(self.choices[0]["finish_reason"])
        return {"completed": "stop", "incomplete": "length"}[self.body["status"]]

    @property
    def prompt_tokens(self) -> int:
        if "done" in self.body:
            return int(self.body["prompt_eval_count"])
        usage: dict[str, int] = self.body["usage"]
        return usage["input_tokens" if "input_tokens" in usage else "prompt_tokens"]

    @property
    def tokens(self) -> int:
        """How many were made, over all choices."""
        if "done" in self.body:
            return int(self.body["eval_count"])
        usage: dict[str, int] = self.body["usage"]
        return usage["output_tokens" if "output_tokens" in usage else "completion_tokens"]

    def blocks(self, kind: str) -> list[dict[str, Any]]:
        """Those of a message that are of this type."""
        return [block for block in self.body["content"] if block["type"] == kind]

    def items(self, kind: str) -> list[dict[str, Any]]:
        """Those of a response that are of this type."""
        return [item for item in self.body["output"] if item["type"] == kind]

    @property
    def logprobs(self) -> Any:
        """Of the first choice; None if it has none."""
        if "done" in self.body:
            return self.body.get("logprobs")
        if "output" in self.body:
            return self.items("message")[0]["content"][0].get("logprobs") or None
        logprobs = self.choices[0]["logprobs"]
        return logprobs and logprobs.get("content", logprobs)


class Ask:
    """Asks the endpoint of a proof's field, greedily unless told otherwise. `http` may lose that field."""

    def __init__(self, http: httpx.Client, field: str, *, streamed: bool) -> None:
        self.http = http
        self.endpoint, _, self.path = field.partition(".")
        self.streamed = streamed

    @property
    def is_ollama(self) -> bool:
        return self.endpoint.startswith("ollama_")

    @property
    def limit(self) -> str:
        """What the limit of tokens is called."""
        return "max_output_tokens" if self.endpoint == "responses" else "max_tokens"

    def __call__(self, *turns: str, **fields: Any) -> Answer:
        """`turns` are the texts of user and assistant in turn; without any, `fields` has messages, prompt or input."""
        response = self.post(*turns, **fields)
        assert response.status_code == 200, response.text
        only_loaded = self.is_ollama and response.headers["content-type"] == "application/json"
        if not self.streamed or only_loaded:
            return Answer(response, response.json(), [])
        try:
            events = judged(self.endpoint, response)
        except AssertionError as error:
            raise BrokenProof("the stream isn't what the document says") from error
        return Answer(response, FOLDS[self.endpoint](events), events)

    def refusal(self, *turns: str, **fields: Any) -> tuple[str, str]:
        """The code and the param of the error that a request must get."""
        response = self.post(*turns, **fields)
        assert 400 <= response.status_code < 500, response.text
        body = response.json()
        error = body if self.is_ollama else body["error"]
        return error["code"], error["param"]

    def post(self, *turns: str, **fields: Any) -> httpx.Response:
        limit = {"max_tokens": 512} if self.endpoint == "messages" else {}
        greedy = {"options": {"temperature": 0}} if self.is_ollama else {"temperature": 0}
        body = {
            "model": "m",
            **greedy,
            **limit,
            **(self._asking(turns) if turns else {}),
            **self._streaming(),
            **fields,
        }
        return self.http.post(PATHS[self.endpoint], json=body)

    def _asking(self, turns: tuple[str, ...]) -> dict[str, Any]:
        messages = [{"role": ROLES[index % 2], "content": text} for index, text in enumerate(turns)]
        match self.endpoint:
            case "chat" | "messages" | "ollama_chat":
                return {"messages": messages}
            case "ollama_generate":
                (prompt,) = turns
                return {"prompt": prompt}
            case "completions":
                return {"prompt": "".join(TURN.format(**message) for message in messages) + ANSWER}
            case _:
                return {"input": messages}

    def _streaming(self) -> dict[str, Any]:
        if self.is_ollama:
            return {"stream": self.streamed}
        if not self.streamed:
            return {}
        return {
            "stream": True,
            **({} if self.endpoint in ("responses", "messages") else {"stream_options": {"include_usage": True}}),
        }
