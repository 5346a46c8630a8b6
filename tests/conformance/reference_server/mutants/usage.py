"""Tokens that are counted wrongly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reference_server.chat import Chat
from reference_server.generation import Asked, Generation, Output
from reference_server.http import Event


class CountsTurns(Chat):
    """The prompt's tokens are guessed by its turns."""

    breaks = {"chat/usage/longer", "chat/limits/long-prompt", "chat/unicode/emoji"}
    faults = 2

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        prompt = [0] * 10 * len(asked.body["messages"])
        return super().chat_usage(replace(asked, prompt=prompt), outputs)


class CountsCached(Chat):
    """Tokens that were cached are not counted."""

    breaks = {"chat/usage/same-again"}

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        seen: set[tuple[int, ...]] = vars(self).setdefault("seen", set())
        known = tuple(asked.prompt) in seen
        seen.add(tuple(asked.prompt))
        return super().chat_usage(replace(asked, prompt=[0] if known else asked.prompt), outputs)


class CountsOneChoice(Generation):
    """Only the first choice is counted."""

    breaks = {"chat/choices/counted", "completions/settings/n"}

    def completion_tokens(self, outputs: Sequence[Output]) -> int:
        return super().completion_tokens(outputs[:1])


class UsageBesideChoices(Chat):
    """The chunk that has a stream's usage has a choice as well."""

    breaks = {"chat/usage/streamed", "chat/usage/streamed-of-several"}
    faults = 2

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().usage_events(head, asked, outputs):
            yield {**event, "choices": [self.chunk_choice(outputs[0], {})]}


class CountsAtTheEnd(Chat):
    """Only the end of a stream has usage."""

    breaks = {"chat/usage/so-far", "completions/settings/usage-so-far"}

    def counted(self, asked: Asked, chunk: Event, prompt: int, made: int) -> Event:
        return chunk


class CountsTheFirst(Chat):
    """The usage so far is that of the first token."""

    breaks = {"chat/usage/so-far", "completions/settings/usage-so-far"}

    def counted(self, asked: Asked, chunk: Event, prompt: int, made: int) -> Event:
        return super().counted(asked, chunk, prompt, min(made, 1))


class CountsChunksTwice(Chat):
    """The usage so far is more than that of the end."""

    breaks = {"chat/usage/so-far", "completions/settings/usage-so-far"}

    def counted(self, asked: Asked, chunk: Event, prompt: int, made: int) -> Event:
        return super().counted(asked, chunk, prompt, 2 * made)


class UsageForNobody(Chat):
    """A stream has usage where nobody asked."""

    breaks = {"chat/usage/not-asked"}

    def wants_usage(self, asked: Asked) -> bool:
        return "stream_options" not in asked.body or super().wants_usage(asked)


class UsageByAnyOptions(Chat):
    """A stream has usage wherever it has options."""

    breaks = {"chat/usage/not-wanted", "chat/streaming/empty-options"}

    def wants_usage(self, asked: Asked) -> bool:
        return "stream_options" in asked.body
