"""Responses as OpenAI's document has them, by which a server may be judged instead of by the whole document."""

from collections.abc import Mapping
from typing import Any

from reference_server.responses import Response, Responses

NOT_SENT = (
    *("conversation", "frequency_penalty", "moderation", "presence_penalty", "prompt"),
    *("prompt_cache_options", "prompt_cache_retention"),
)
"""Members of a response that may be null in our document and can't in OpenAI's."""


class OpenAIResponses(Responses):
    """They leave out what is always null here."""

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        begun = super().begun_response(body)
        return {name: value for name, value in begun.items() if name not in NOT_SENT or value is not None}

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{"description": None, "strict": True, **tool} for tool in super().echoed_tools(body)]
