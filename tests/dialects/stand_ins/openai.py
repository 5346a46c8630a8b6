"""OpenAI, as its own document says: the reference server with what OpenAI has besides."""

from collections.abc import Mapping, Sequence
from typing import Any

from dialects.stand_ins.common import Steered, TheirChat, TheirCompletions, TheirRequests
from reference_server.generation import Asked, Output, Piece
from reference_server.http import Event
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Items
from reference_server.models import Models
from reference_server.responses import Response, Responses

PADDING = {"obfuscation": "aB3dE"}
"""Against those who read the length of pieces."""

DETAILS = {
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 0,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}


class OpenAIRequests(TheirRequests):
    system = "openai"


class OpenAIModels(Models):
    def described(self, model: str) -> dict[str, Any]:
        return {**super().described(model), "owned_by": "openai"}


class OpenAIChat(TheirChat):
    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        more = {"service_tier": "default", "system_fingerprint": "fp_fc9f1d7035"}
        return {**super().chat_completion(head, asked, outputs), **more}

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        return {**super().chat_message(asked, output), "annotations": []}

    def chat_thoughts(self, thoughts: str) -> dict[str, Any]:
        """They are counted, not shown."""
        return {}

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_usage(asked, outputs), **DETAILS}

    def role_delta(self) -> dict[str, Any]:
        return {"role": "assistant", "content": "", "refusal": None}

    def ends_with_text(self, output: Output) -> bool:
        return False

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        chunk = super().chat_chunk(head, asked, choices)
        more = {"service_tier": "default", "system_fingerprint": "fp_fc9f1d7035"}
        return {**chunk, **more, **({"usage": None} if self.wants_usage(asked) else {}), **PADDING}


class OpenAICompletions(TheirCompletions):
    def ends_with_text(self, output: Output) -> bool:
        return False

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        chunk = super().completion_chunk(head, asked, choices)
        return {**chunk, **({"usage": None} if self.server.chat.wants_usage(asked) else {})}


NOT_SENT = (
    *("conversation", "frequency_penalty", "moderation", "presence_penalty", "prompt"),
    *("prompt_cache_options", "prompt_cache_retention"),
)
"""Of what a response may have, what its example has not."""


class OpenAIResponses(Responses):
    def begun_response(self, body: Mapping[str, Any]) -> Response:
        return {name: value for name, value in super().begun_response(body).items() if name not in NOT_SENT}

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{"description": None, "strict": True, **tool} for tool in super().echoed_tools(body)]


class OpenAIItems(Items):
    def reasoning_item(self, asked: Asked, thoughts: str, status: str) -> Item:
        """The thoughts themselves are never shown."""
        item = super().reasoning_item(asked, thoughts, status)
        del item["content"], item["status"]
        if item["encrypted_content"] is None:
            del item["encrypted_content"]
        return {**item, "summary": [{"type": "summary_text", "text": thoughts}]}

    def begun(self, item: Item) -> Item:
        return {**item, "summary": []} if item["type"] == "reasoning" else super().begun(item)


class OpenAIItemEvents(ItemEvents):
    def arguments_delta(self, piece: Piece, place: Mapping[str, Any]) -> Event:
        return {**super().arguments_delta(piece, place), **PADDING}

    def part_delta(self, asked: Asked, piece: Piece, inside: str, place: Mapping[str, Any]) -> Event:
        return {**super().part_delta(asked, piece, inside, place), **PADDING}


PARTS = (
    Steered,
    OpenAIRequests,
    OpenAIModels,
    OpenAIChat,
    OpenAICompletions,
    OpenAIResponses,
    OpenAIItems,
    OpenAIItemEvents,
)
