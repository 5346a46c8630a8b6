"""POST /completions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from reference_server.generation import Asked, Output
from reference_server.http import Call, Event, Route, Stream
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.words import END, Token
from specvino.generated.errors import ErrorCode

Answers = Sequence[tuple[Asked, Sequence[Output]]]
"""The outputs of each prompt."""


class Completions(Part):
    routes = (Route("POST", "/completions", "completions"),)

    def completions(self, call: Call) -> dict[str, Any] | Stream:
        body = self.server.requests.accepted(call, "CreateCompletionRequest")
        self.server.generation.require_settings(body)
        answers = [(asked, self.server.generation.outputs(asked)) for asked in self.completion_asked(body)]
        call.tokens = sum(output.made for _, outputs in answers for output in outputs)
        head = {"id": self.completion_id(), "created": self.server.http.now(), "model": body["model"]}
        if body.get("stream"):
            return Stream(self.completion_events(head, answers), terminator="[DONE]")
        return self.completion(head, answers)

    def completion_id(self) -> str:
        return f"cmpl-{self.server.generation.count():08x}"

    # The request

    def completion_asked(self, body: Mapping[str, Any]) -> Iterator[Asked]:
        """One for each prompt. Raises Refusal."""
        for number, prompt in enumerate(self.prompts(body["prompt"])):
            asked = Asked(body, self.prompt_ids(prompt), self.completion_limit(body), number=number)
            self.server.generation.require_context(asked, "prompt", "max_tokens")
            yield asked

    def completion_limit(self, body: Mapping[str, Any]) -> int | None:
        limit: int | None = body.get("max_tokens")
        return limit

    def prompts(self, prompt: Any) -> list[Any]:
        """One text or several, each as text or as token ids."""
        return [prompt] if isinstance(prompt, str) or isinstance(prompt[0], int) else list(prompt)

    def prompt_ids(self, prompt: Any) -> list[int]:
        """Raises Refusal for an id that no token has."""
        if isinstance(prompt, str):
            return self.server.generation.words.encode(prompt)
        if any(id >= END for id in prompt):
            raise Refusal(ErrorCode.INVALID_VALUE, "prompt holds an id that no token has.", "prompt")
        return list(prompt)

    # The whole answer

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        return {
            "id": head["id"],
            "object": "text_completion",
            "created": head["created"],
            "model": head["model"],
            "choices": [self.completion_choice(asked, output) for asked, outputs in answers for output in outputs],
            "usage": self.completion_usage(answers),
        }

    def completion_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        shown = [*self.echoed(asked), *output.tokens]
        return {
            "index": output.index,
            "text": self.completion_text(asked, output),
            "logprobs": self.completion_logprobs(asked, shown, 0),
            "finish_reason": output.reason,
        }

    def completion_text(self, asked: Asked, output: Output) -> str:
        return "".join(token.text for token in self.echoed(asked)) + output.joined("text")

    def echoed(self, asked: Asked) -> list[Token]:
        """The prompt's tokens, where the text begins with them. Nothing foretold the first one."""
        if not asked.body.get("echo"):
            return []
        tokens = self.server.generation.words.tokens(self.server.generation.words.decode(asked.prompt))
        return [Token(tokens[0].id, tokens[0].text), *tokens[1:]] if tokens else []

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        prompt = sum(len(asked.prompt) for asked, _ in answers)
        completion = sum(self.server.generation.completion_tokens(outputs) for _, outputs in answers)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": self.server.generation.total(prompt, completion),
        }

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        """`offset` is where the first token begins in the text."""
        top = asked.body.get("logprobs")
        if top is None or not tokens:
            return None
        return {
            "tokens": [token.text for token in tokens],
            "token_logprobs": [token.logprob for token in tokens],
            "top_logprobs": [self.completion_top(token, top) for token in tokens] if top else None,
            "text_offset": self.text_offsets(tokens, offset),
        }

    def text_offsets(self, tokens: Sequence[Token], offset: int) -> list[int]:
        return list(accumulate((len(token.text) for token in tokens[:-1]), initial=offset))

    def completion_top(self, token: Token, top: int) -> dict[str, float] | None:
        """The likeliest tokens by their texts; null where nothing foretold the token."""
        if token.logprob is None:
            return None
        return {logprob["token"]: logprob["logprob"] for logprob in self.server.chat.top_logprobs(token, top)}

    # The stream

    def completion_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        asked_of = {output.index: asked for asked, outputs in answers for output in outputs}
        every = [output for _, outputs in answers for output in outputs]
        offsets = dict.fromkeys(asked_of, 0)
        prompt, made = sum(len(asked.prompt) for asked, _ in answers), 0
        counted = self.server.chat.counted
        for output in every:
            asked = asked_of[output.index]
            if tokens := self.echoed(asked):
                yield counted(asked, self.text_chunk(head, asked, output, tokens, offsets), prompt, made)
        for output, piece in self.server.chat.steps(every):
            asked = asked_of[output.index]
            made += len(piece.tokens)
            yield counted(asked, self.text_chunk(head, asked, output, piece.tokens, offsets), prompt, made)
        for output in every:
            asked = asked_of[output.index]
            made += len(output.rest)
            for end in self.completion_finishes(head, asked, output, offsets):
                yield counted(asked, end, prompt, made)
        if self.server.chat.wants_usage(answers[0][0]):
            chunk = self.completion_chunk(head, answers[0][0], [])
            yield {**chunk, "usage": self.completion_usage(answers)}

    def text_chunk(
        self, head: Mapping[str, Any], asked: Asked, output: Output, tokens: Sequence[Token], offsets: dict[int, int]
    ) -> Event:
        """`offsets` are where the next token of each choice begins; it moves on."""
        text = "".join(token.text for token in tokens)
        logprobs = self.completion_logprobs(asked, tokens, offsets[output.index])
        offsets[output.index] += len(text)
        return self.completion_chunk(head, asked, [self.text_choice(output, text, logprobs)])

    def completion_finishes(
        self, head: Mapping[str, Any], asked: Asked, output: Output, offsets: Mapping[int, int]
    ) -> Iterator[Event]:
        """The chunk that ends a choice, of its own."""
        logprobs = self.completion_logprobs(asked, output.rest, offsets[output.index])
        yield self.completion_chunk(head, asked, [self.text_choice(output, "", logprobs, output.reason)])

    def text_choice(self, output: Output, text: str, logprobs: Any, reason: str | None = None) -> dict[str, Any]:
        return {
            "index": output.index,
            "text": text,
            "logprobs": logprobs,
            "finish_reason": self.server.chat.reason_so_far(reason),
        }

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {
            "id": self.server.chat.chunk_id(head),
            "object": "text_completion",
            "created": self.server.chat.chunk_created(head),
            "model": self.server.chat.chunk_model(head),
            "choices": choices,
            **self.server.chat.usage_so_far(asked),
        }
