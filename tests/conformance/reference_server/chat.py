"""POST /chat/completions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from reference_server.generation import Asked, Output, Piece
from reference_server.http import Call, Event, Route, Stream
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.words import Token
from specvino.generated.errors import ErrorCode


class Chat(Part):
    """Unary answers and streams are made of the same outputs, each with methods of its own."""

    routes = (Route("POST", "/chat/completions", "chat"),)

    def chat(self, call: Call) -> dict[str, Any] | Stream:
        body = self.server.requests.accepted(call, "CreateChatCompletionRequest")
        asked = self.chat_asked(body)
        outputs = self.server.generation.outputs(asked)
        call.tokens = sum(output.made for output in outputs)
        head = {"id": self.chat_id(), "created": self.server.http.now(), "model": body["model"]}
        if body.get("stream"):
            return Stream(self.chat_events(head, asked, outputs), terminator="[DONE]")
        return self.chat_completion(head, asked, outputs)

    def chat_id(self) -> str:
        return f"chatcmpl-{self.server.generation.count():08x}"

    # The request

    def chat_asked(self, body: Mapping[str, Any]) -> Asked:
        self.server.generation.require_settings(body)
        form = self.server.generation.form(body.get("response_format"), "response_format")
        offer = self.server.tools.offer(body)
        turns = [self.turn(message, f"messages.{at}") for at, message in enumerate(body["messages"])]
        prompt = self.server.generation.words.encode(self.rendered(turns) + self.shown(offer.functions))
        last = body["messages"][-1]
        question = turns[-1][1] if last["role"] == "user" else ""
        asked = Asked(body, prompt, self.chat_limit(body), offer, form, question, self.server.generation.thinks(body))
        self.server.generation.require_context(asked, "messages", "max_completion_tokens")
        return asked

    def chat_limit(self, body: Mapping[str, Any]) -> int | None:
        """The newer name wins."""
        limit: int | None = body.get("max_completion_tokens", body.get("max_tokens"))
        return limit

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        """The role and text of a message, its calls included. Raises Refusal."""
        text = self.content_text(message.get("content"), f"{param}.content")
        for called in message.get("tool_calls") or ():
            text += str(called.get("function") or "")
        return self.role(message["role"]), text

    def role(self, role: str) -> str:
        """The model knows no developer."""
        return {"developer": "system", "function": "tool"}.get(role, role)

    def content_text(self, content: Any, param: str) -> str:
        """The text of both forms. Raises Refusal for what a model can't read."""
        if not isinstance(content, list):
            return content or ""
        return "\n".join(self.part_text(part, f"{param}.{at}") for at, part in enumerate(content))

    def part_text(self, part: Mapping[str, Any], param: str) -> str:
        if part["type"] not in ("text", "input_text", "output_text", "refusal"):
            raise Refusal(ErrorCode.UNSUPPORTED_CONTENT, f"{param} is no text, which is all this model reads.", param)
        return str(part["refusal"] if part["type"] == "refusal" else part["text"])

    def rendered(self, turns: Sequence[tuple[str, str]]) -> str:
        """The prompt, as a chat template makes it."""
        return "".join(f"<{role}>{text}\n" for role, text in turns) + "<assistant>"

    def shown(self, functions: Mapping[str, Any]) -> str:
        """What the prompt says of functions."""
        return "".join(f"{name}{function.get('parameters')}" for name, function in functions.items())

    # The whole answer

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {
            "id": head["id"],
            "object": "chat.completion",
            "created": head["created"],
            "model": head["model"],
            "choices": self.chat_choices(asked, outputs),
            "usage": self.chat_usage(asked, outputs),
        }

    def chat_choices(self, asked: Asked, outputs: Sequence[Output]) -> list[dict[str, Any]]:
        return [self.chat_choice(asked, output) for output in outputs]

    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        return {
            "index": output.index,
            "message": self.chat_message(asked, output),
            "logprobs": self.chat_logprobs(asked, output.tokens),
            "finish_reason": self.chat_reason(asked, output),
        }

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.chat_text(output), "refusal": None}
        if thoughts := output.joined("thoughts"):
            message |= self.chat_thoughts(thoughts)
        if asked.offer.legacy and output.calls:
            message["function_call"] = self.function(output.calls[0])
        elif output.calls:
            message["tool_calls"] = [self.tool_call(call) for call in output.calls]
        return message

    def chat_text(self, output: Output) -> str | None:
        """Null beside calls without any."""
        text = output.joined("text")
        return None if output.calls and not text else text

    def chat_thoughts(self, thoughts: str) -> dict[str, Any]:
        return {"reasoning_content": thoughts, "reasoning": thoughts}

    def tool_call(self, called: Mapping[str, str]) -> dict[str, Any]:
        return {"id": called["id"], "type": "function", "function": self.function(called)}

    def function(self, called: Mapping[str, str]) -> dict[str, Any]:
        return {"name": called["name"], "arguments": called["arguments"]}

    def chat_reason(self, asked: Asked, output: Output) -> str:
        return "function_call" if asked.offer.legacy and output.reason == "tool_calls" else output.reason

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        prompt, completion = len(asked.prompt), self.server.generation.completion_tokens(outputs)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": self.server.generation.total(prompt, completion),
            "completion_tokens_details": {"reasoning_tokens": sum(output.thought for output in outputs)},
        }

    # Probabilities

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        top = asked.body.get("top_logprobs", 0)
        if not asked.body.get("logprobs", top > 0) or not tokens:
            return None
        return {"content": [self.token_logprob(token, top) for token in tokens], "refusal": None}

    def token_logprob(self, token: Token, top: int) -> dict[str, Any]:
        return {**self.shown_logprob(token), "top_logprobs": self.top_logprobs(token, top)}

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        return {"token": token.text, "logprob": token.logprob, "bytes": self.token_bytes(token)}

    def token_bytes(self, token: Token) -> list[int] | None:
        """The token's own, whatever is shown of it."""
        return list(self.server.generation.words.text_of(token.id).encode())

    def top_logprobs(self, token: Token, top: int) -> list[dict[str, Any]]:
        """The likeliest tokens, the chosen one first. The others share less than the probability that it leaves."""
        chosen = min(token.logprob or 0, -1 / 16)  # as `Words.logprob` has it at the most
        below = min(chosen, math.log1p(-math.exp(chosen)))
        text_of = self.server.generation.words.text_of
        others = [Token(id, text_of(id), below - 1 - id) for id in range(top) if id != token.id]
        return [self.shown_logprob(candidate) for candidate in [token, *others][:top]]

    # The stream

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        prompt, made = len(asked.prompt), 0
        for output in outputs:
            begin = self.chat_chunk(head, asked, [self.chunk_choice(output, self.role_delta())])
            yield self.counted(asked, begin, prompt, made)
        for output, piece in self.steps(outputs):
            made += len(piece.tokens)
            for delta in self.deltas(asked, piece):
                logprobs = self.chat_logprobs(asked, piece.tokens)
                chunk = self.chat_chunk(head, asked, [self.chunk_choice(output, delta, logprobs=logprobs)])
                yield self.counted(asked, chunk, prompt, made)
        for output in outputs:
            made += len(output.rest)
            for end in self.finishes(head, asked, output):
                yield self.counted(asked, end, prompt, made)
        yield from self.usage_events(head, asked, outputs)

    def steps(self, outputs: Sequence[Output]) -> Iterator[tuple[Output, Piece]]:
        """The pieces as they are made: one of each choice at a time."""
        for step in zip_longest(*([(output, piece) for piece in output.pieces] for output in outputs)):
            yield from (delta for delta in step if delta is not None)

    def role_delta(self) -> dict[str, Any]:
        return {"role": "assistant", "content": ""}

    def deltas(self, asked: Asked, piece: Piece) -> Iterator[dict[str, Any]]:
        """What a chunk has for a piece."""
        match piece.kind:
            case "text":
                yield from self.text_deltas(piece)
            case "thoughts":
                yield self.chat_thoughts(piece.text)
            case "call" if asked.offer.legacy:
                yield {"function_call": self.function_delta(piece)}
            case "call":
                yield {"tool_calls": [self.call_delta(piece)]}

    def text_deltas(self, piece: Piece) -> Iterator[dict[str, Any]]:
        yield {"content": piece.text}

    def call_delta(self, piece: Piece) -> dict[str, Any]:
        """Id and kind come with the first piece only."""
        first = {"id": piece.id, "type": "function"} if piece.id else {}
        return {"index": piece.call, **first, "function": self.function_delta(piece)}

    def function_delta(self, piece: Piece) -> dict[str, Any]:
        return {"name": piece.name, "arguments": ""} if piece.id else {"arguments": piece.text}

    def finishes(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """The chunk that ends a choice, of its own."""
        reason, logprobs = self.chat_reason(asked, output), self.chat_logprobs(asked, output.rest)
        yield self.chat_chunk(head, asked, [self.chunk_choice(output, {}, reason, logprobs)])

    def chunk_choice(
        self, output: Output, delta: Mapping[str, Any], reason: str | None = None, logprobs: Any = None
    ) -> dict[str, Any]:
        return {
            "index": output.index,
            "delta": delta,
            "logprobs": logprobs,
            "finish_reason": self.reason_so_far(reason),
        }

    def reason_so_far(self, reason: str | None) -> str | None:
        """Null before the end."""
        return reason

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {
            "id": self.chunk_id(head),
            "object": "chat.completion.chunk",
            "created": self.chunk_created(head),
            "model": self.chunk_model(head),
            "choices": choices,
            **self.usage_so_far(asked),
        }

    def chunk_id(self, head: Mapping[str, Any]) -> str:
        return str(head["id"])

    def chunk_created(self, head: Mapping[str, Any]) -> int:
        return int(head["created"])

    def chunk_model(self, head: Mapping[str, Any]) -> str:
        return str(head["model"])

    def usage_so_far(self, asked: Asked) -> dict[str, Any]:
        """Null before the end, where it was asked for."""
        return {"usage": None} if self.wants_usage(asked) else {}

    def counted(self, asked: Asked, chunk: Event, prompt: int, made: int) -> Event:
        """The chunk with the number of tokens so far, where it was asked for."""
        if not (asked.body.get("stream_options") or {}).get("continuous_usage_stats"):
            return chunk
        total = self.server.generation.total(prompt, made)
        return {**chunk, "usage": {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": total}}

    def wants_usage(self, asked: Asked) -> bool:
        return bool((asked.body.get("stream_options") or {}).get("include_usage"))

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        """The last chunk has no choices."""
        if self.wants_usage(asked):
            yield {**self.chat_chunk(head, asked, []), "usage": self.chat_usage(asked, outputs)}
