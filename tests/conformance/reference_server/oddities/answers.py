"""What answers of chat, of completions and of models may have."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from reference_server.chat import Chat
from reference_server.completions import Answers, Completions
from reference_server.generation import Asked, Generation, Output, Segment
from reference_server.http import Call, Event
from reference_server.models import Models
from reference_server.words import Token


class StreamsInTwoPieces(Chat):
    """A streamed text comes in two chunks."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        begun: set[Any] = set()
        held: dict[Any, dict[str, Any]] = {}
        for event in super().chat_events(head, asked, outputs):
            choice = event["choices"][0] if event["choices"] else {}
            text, of = choice.get("delta", {}).get("content"), choice.get("index")
            if text and of in held:
                before = held[of]["choices"][0]
                before["delta"]["content"] += text
                if before["logprobs"]:
                    before["logprobs"]["content"] += choice["logprobs"]["content"]
            elif text and of in begun:
                held[of] = event
            else:
                if not text:
                    yield from held.values()
                    held.clear()
                yield event
                begun |= {of} if text else set()


class CountsTextsAlone(Chat):
    """Prompts without any text have 0 tokens."""

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        said = any(message.get("content") for message in asked.body["messages"])
        return super().chat_usage(asked if said else replace(asked, prompt=[]), outputs)


class StreamsCountNoDetails(Chat):
    """The usage of a stream has no details."""

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().usage_events(head, asked, outputs):
            yield {**event, "usage": {name: value for name, value in event["usage"].items() if "details" not in name}}


class ModelsWithMore(Models):
    """Models have undocumented fields."""

    def described(self, model: str) -> dict[str, Any]:
        return {**super().described(model), "owned_by": "", "permission": [], "context_length": None}


class RoleBesideTheFirstText(Chat):
    """No chunk has the role alone; it comes with the first text or call."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        begun: set[int] = set()
        for event in super().chat_events(head, asked, outputs):
            choices = event["choices"]
            if choices and choices[0]["delta"] == self.role_delta():
                continue
            for choice in choices:
                if choice["index"] not in begun:
                    choice["delta"] = {**self.role_delta(), **choice["delta"]}
                    begun.add(choice["index"])
            yield event


class RoleInEveryChunk(Chat):
    """Every chunk repeats the role."""

    advised: ClassVar = True

    def chunk_choice(self, output: Output, delta: Mapping[str, Any], *more: Any, **named: Any) -> dict[str, Any]:
        return super().chunk_choice(output, {**self.role_delta(), **delta}, *more, **named)


class FinishBesideTheLastText(Chat):
    """The chunk with the last text or call also has the finish_reason."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        held: dict[int, Event] = {}
        for event in super().chat_events(head, asked, outputs):
            if not event["choices"]:
                yield event
                continue
            choice = event["choices"][0]
            before = held.pop(choice["index"], None)
            if choice["finish_reason"] and before and not choice["logprobs"]:
                before["choices"][0]["finish_reason"] = choice["finish_reason"]
                yield before
                continue
            if before:
                yield before
            if choice["finish_reason"]:
                yield event
            else:
                held[choice["index"]] = event


class RoleWithoutText(Chat):
    """The first chunk has the role alone, without OpenAI's empty content."""

    def role_delta(self) -> dict[str, Any]:
        return {"role": "assistant"}


class RoleBesideRefusal(Chat):
    """The first chunk also has a null refusal, as OpenAI's does."""

    def role_delta(self) -> dict[str, Any]:
        return {**super().role_delta(), "refusal": None}


class SaysNothingBetween(Chat):
    """Some chunks have nothing new."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().chat_events(head, asked, outputs):
            if event["choices"] and not event["choices"][0]["finish_reason"]:
                yield event
                yield self.chat_chunk(head, asked, [self.chunk_choice(outputs[0], {})])
            else:
                yield event


class OpensWithoutChoices(Chat):
    """The first chunk has no choices."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        yield self.chat_chunk(head, asked, [])
        yield from super().chat_events(head, asked, outputs)


class FilterResults(Chat):
    """Chunks without an id have the results of a content filter: the first one, and others later, as Azure's do."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        results: Event = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "usage": None}
        yield {**results, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
        for event in super().chat_events(head, asked, outputs):
            yield event
            if event["choices"]:
                found = {"content_filter_results": {}, "content_filter_offsets": {"check_offset": 44}}
                choice = {"index": event["choices"][0]["index"], "finish_reason": None, **found}
                yield {**results, "choices": [choice]}


class FilterResultsOfOldVersions(Chat):
    """The results of a content filter come first under an older name, as from old versions of Azure's API."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        results: Event = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "usage": None}
        yield {**results, "prompt_annotations": [{"prompt_index": 0, "content_filter_results": {}}]}
        yield from super().chat_events(head, asked, outputs)


class FilterResultsWithLittleElse(Chat):
    """The results of a content filter come first in a chunk with no object and no model, as from Copilot's proxy."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        yield {"id": "", "created": 0, "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
        yield from super().chat_events(head, asked, outputs)


class FilterResultsOfTexts(Completions):
    """The first chunk of a text has no id and no choices, but the results of a content filter, as Azure's does."""

    def completion_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        results: Event = {"id": "", "object": "", "created": 0, "model": "", "choices": []}
        yield {**results, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
        yield from super().completion_events(head, answers)


class CountsImages(Chat):
    """Usage has counts of the server's own, those of an answer and of a stream others."""

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        usage = super().chat_usage(asked, outputs)
        return {**usage, "image_tokens": 3, "prompt_tokens_details": {"odd_tokens": usage["prompt_tokens"] + 9}}

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().usage_events(head, asked, outputs):
            yield {**event, "usage": {**event["usage"], "image_tokens": 4, "audio_seconds": 1}}


class CountsNothing(Chat):
    """Optional usage of an answer is left out."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        answer = super().chat_completion(head, asked, outputs)
        del answer["usage"]
        return answer


class TextsAreNotCounted(Completions):
    """Optional usage of a text completion is left out."""

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        answer = super().completion(head, answers)
        del answer["usage"]
        return answer


class DatedModels(Chat):
    """An answer names a version of the model, as OpenAI's do."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "model": f"{head['model']}-2026-11-01"}

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), "model": f"{head['model']}-2026-11-01"}


class FieldsOfItsOwn(Chat):
    """Answers and chunks have undocumented fields."""

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "x_timings": {"ms": 3}, "provider": "odd"}

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), "x_timings": {"ms": 3}}


class Pads(Chat):
    """Chunks are padded to hide their lengths, as OpenAI's are."""

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        return {**super().chat_chunk(head, asked, choices), "obfuscation": "aB3dE", "service_tier": "default"}


class CallIdsOfItsOwn(Generation):
    """Tool calls have ids that look like numbers."""

    def call_id(self) -> str:
        return str(self.count())


class IndentedArguments(Generation):
    """The arguments of tool calls are indented JSON."""

    def calls(self, asked: Asked) -> Iterator[Segment]:
        for part in super().calls(asked):
            is_text = asked.offer.functions[part.name].get("type") == "custom"
            yield part if is_text else replace(part, text=json.dumps(json.loads(part.text), indent=2))


class ForcedCallsStop(Chat):
    """A call that tool_choice names has finish_reason stop, as OpenAI's does."""

    def chat_reason(self, asked: Asked, output: Output) -> str:
        named = isinstance(asked.body.get("tool_choice"), dict)
        reason = super().chat_reason(asked, output)
        return "stop" if named and reason == "tool_calls" else reason


class WholeCallsInOneChunk(Chat):
    """A streamed call comes in one chunk, with its name and all of its arguments."""

    def chat_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        begun: dict[tuple[int, int], Event] = {}
        for event in super().chat_events(head, asked, outputs):
            choices = event["choices"]
            call = next(iter(choices[0]["delta"].get("tool_calls") or ()), None) if choices else None
            if call is None:
                yield from begun.values()
                begun.clear()
                yield event
            elif (key := (choices[0]["index"], call["index"])) in begun:
                first = begun[key]["choices"][0]["delta"]["tool_calls"][0]
                first["function"]["arguments"] += call["function"]["arguments"]
            else:
                begun[key] = event


class ListsOtherModels(Models):
    """Other models are listed before the one that is asked."""

    def list_models(self, call: Call) -> dict[str, Any]:
        listed = super().list_models(call)
        return {**listed, "data": [self.described("another"), *listed["data"]]}

    def require_model(self, model: str) -> None:
        if model != "another":
            super().require_model(model)


class ListsFewerTokens(Chat):
    """Fewer likely tokens are listed than top_logprobs asks for, as OpenAI's document has it in rare cases."""

    def token_logprob(self, token: Token, top: int) -> dict[str, Any]:
        return super().token_logprob(token, top if token.id % 3 else min(top, 1))


class CallsTokensUnlikely(Chat):
    """The logprob of an unlikely token is -9999.0, as OpenAI's document has it."""

    def shown_logprob(self, token: Token) -> dict[str, Any]:
        shown = super().shown_logprob(token)
        return {**shown, "logprob": -9999.0 if (token.logprob or 0) < -3 else token.logprob}
