"""POST /api/chat and /api/generate: Ollama's own API."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from reference_server.generation import CONTEXT, Asked, Output
from reference_server.http import Call, Event, Route, Stream
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.words import Token

Calls = Sequence[Mapping[str, Any]]

Form = Callable[[str, str, Calls], dict[str, Any]]
"""What a line has of a text, thoughts and calls."""


class Ollama(Part):
    """A request becomes one of chat; the answer is made here."""

    routes = (
        Route("POST", "/api/chat", "ollama_chat", root=True),
        Route("POST", "/api/generate", "ollama_generate", root=True),
    )

    def ollama_chat(self, call: Call) -> dict[str, Any] | Stream:
        body = self.server.requests.accepted(call, "OllamaChatRequest")
        asked = self.conversation(body, [self.message(message) for message in body["messages"]])
        return self.answered(call, body, asked, self.message_form)

    def ollama_generate(self, call: Call) -> dict[str, Any] | Stream:
        body = self.server.requests.accepted(call, "OllamaGenerateRequest")
        prompt = body.get("prompt") or ""
        asked = self.raw(body, prompt) if self.is_raw(body) and prompt else self.conversation(body, self.turns(body))
        return self.answered(call, body, asked, self.text_form)

    def has_own_errors(self, path: str) -> bool:
        return path.endswith(("/api/chat", "/api/generate"))

    def refused(self, refusal: Refusal) -> dict[str, Any]:
        """The body of an error."""
        return {"error": refusal.message, "param": refusal.param, "code": refusal.code.value}

    # The request

    def conversation(self, body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Asked | None:
        """None without a message. Raises Refusal."""
        return self.server.chat.chat_asked({**self.settings(body), "messages": messages}) if messages else None

    def raw(self, body: Mapping[str, Any], prompt: str) -> Asked:
        """The prompt as it is."""
        settings = self.settings(body)
        form = self.server.generation.form(settings.get("response_format"), "format")
        asked = Asked(settings, self.server.generation.words.encode(prompt), settings.get("max_tokens"), form=form)
        self.server.generation.require_context(asked, "prompt", "options.num_predict")
        return asked

    def is_raw(self, body: Mapping[str, Any]) -> bool:
        return bool(body.get("raw"))

    def settings(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The fields in chat's form. Raises Refusal."""
        options = self.server.requests.given(body.get("options") or {})
        named = ("temperature", "top_p", "top_k", "min_p")
        settings: dict[str, Any] = {name: options[name] for name in named if name in options}
        if (seed := self.seed(options)) is not None:
            settings["seed"] = seed
        if (limit := self.limit(options)) is not None:
            settings["max_tokens"] = limit
        if stops := self.stops(options):
            settings["stop"] = stops
        if form := self.form(body.get("format")):
            settings["response_format"] = form
        if tools := body.get("tools"):
            settings["tools"] = tools
        if think := body.get("think"):
            settings["reasoning_effort"] = "medium" if think is True else think
        logprobs = {name: body[name] for name in ("logprobs", "top_logprobs") if name in body}
        return settings | (logprobs if body.get("logprobs") else {})

    def seed(self, options: Mapping[str, Any]) -> int | None:
        """None where each answer gets a new one."""
        seed = int(options.get("seed", -1))
        return None if seed == -1 else seed

    def limit(self, options: Mapping[str, Any]) -> int | None:
        """None without one, as a negative number is."""
        limit = int(options.get("num_predict", -1))
        return min(limit, CONTEXT // 2) if limit > 0 else None

    def stops(self, options: Mapping[str, Any]) -> list[str]:
        return list(options.get("stop") or ())

    def form(self, format: Any) -> dict[str, Any] | None:
        """The form in chat's form. Raises Refusal for a schema that nothing satisfies."""
        if not format:
            return None
        if format == "json":
            return {"type": "json_object"}
        self.server.generation.satisfied(format, "format")
        return {"type": "json_schema", "schema": format}

    def turns(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The messages that a prompt stands for; none without one."""
        if not body.get("prompt"):
            return []
        system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
        return [*system, {"role": "user", "content": body["prompt"]}]

    def message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message of chat."""
        calls = [{"function": str(called["function"])} for called in message.get("tool_calls") or ()]
        return {"role": message["role"], "content": self.content(message), "tool_calls": calls}

    def content(self, message: Mapping[str, Any]) -> str:
        return message.get("content") or ""

    # The answer

    def answered(self, call: Call, body: Mapping[str, Any], asked: Asked | None, form: Form) -> dict[str, Any] | Stream:
        """A stream, or all of it; without a prompt that the model is loaded."""
        if asked is None:
            loaded = {**self.head(body), **form("", "", []), **self.loaded()}
            return Stream(iter([loaded]), lines=True) if self.streams(body) else loaded
        output = self.server.generation.output(asked, 0)
        call.tokens = output.made
        if self.streams(body):
            return Stream(self.lines(body, asked, output, form), lines=True)
        whole = form(output.joined("text"), output.joined("thoughts"), self.calls(output))
        logprobs = self.logprobs(asked, output.tokens)
        return {**self.head(body), **whole, **logprobs, **self.ended(asked, output)}

    def streams(self, body: Mapping[str, Any]) -> bool:
        """Whether it isn't asked for in one piece."""
        return body.get("stream") is not False

    def head(self, body: Mapping[str, Any]) -> dict[str, Any]:
        now = datetime.fromtimestamp(self.server.http.now(), UTC)
        return {"model": body["model"], "created_at": now.isoformat().replace("+00:00", "Z")}

    def message_form(self, text: str, thoughts: str, calls: Calls) -> dict[str, Any]:
        called = {"tool_calls": list(calls)} if calls else {}
        return {"message": {"role": "assistant", "content": text, **self.thinking(thoughts), **called}}

    def text_form(self, text: str, thoughts: str, calls: Calls) -> dict[str, Any]:
        return {"response": text, **self.thinking(thoughts)}

    def thinking(self, thoughts: str) -> dict[str, Any]:
        return {"thinking": thoughts} if thoughts else {}

    def calls(self, output: Output) -> list[dict[str, Any]]:
        return [self.called(index, call) for index, call in enumerate(output.calls)]

    def called(self, index: int, call: Mapping[str, str]) -> dict[str, Any]:
        function = {"index": index, "name": call["name"], "arguments": self.arguments(call["arguments"])}
        return {"id": call["id"], "function": function}

    def arguments(self, text: str) -> Any:
        """Those of a call that was cut off are none."""
        return self.server.messages.input(text)

    def logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any]:
        """Those of each token, where they are asked for."""
        if not asked.body.get("logprobs") or not tokens:
            return {}
        top = asked.body.get("top_logprobs", 0)
        chat = self.server.chat
        likely = [{"top_logprobs": chat.top_logprobs(token, top)} if top else {} for token in tokens]
        return {"logprobs": [{**chat.shown_logprob(token), **more} for token, more in zip(tokens, likely, strict=True)]}

    def loaded(self) -> dict[str, Any]:
        return {"done": True, "done_reason": "load"}

    def ended(self, asked: Asked, output: Output) -> dict[str, Any]:
        """How it ended, with numbers: times are in nanoseconds."""
        times = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 1_000_000)
        counts = {"prompt_eval_count": len(asked.prompt), "eval_count": output.made}
        return {"done": True, "done_reason": self.reason(output), **times, **counts}

    def reason(self, output: Output) -> str:
        """Calls are no reason of their own."""
        return "length" if output.reason == "length" else "stop"

    # The stream

    def lines(self, body: Mapping[str, Any], asked: Asked, output: Output, form: Form) -> Iterator[Event]:
        """A line for each piece, but one for a whole call; and the end."""
        calls = iter(self.calls(output))
        for piece in output.pieces:
            if piece.kind == "call" and not piece.id:
                continue
            text, thoughts = (piece.text if piece.kind == kind else "" for kind in ("text", "thoughts"))
            whole = form(text, thoughts, [next(calls)] if piece.kind == "call" else [])
            tokens = () if piece.kind == "call" else piece.tokens
            yield {**self.head(body), **whole, **self.logprobs(asked, tokens), **self.unfinished()}
        yield from self.last(body, asked, output, form)

    def unfinished(self) -> dict[str, Any]:
        return {"done": False}

    def last(self, body: Mapping[str, Any], asked: Asked, output: Output, form: Form) -> Iterator[Event]:
        """The line that ends the answer."""
        yield {**self.head(body), **form("", "", []), **self.ended(asked, output)}
