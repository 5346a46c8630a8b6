"""What servers may refuse or accept."""

from collections.abc import Iterator
from typing import Any, ClassVar

from reference_server.http import Call, Headers
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from specvino.generated.errors import ErrorCode


class RefusesBestOfOne(Requests):
    """best_of is refused where it isn't greater than n, as OpenAI's document has it."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        if "best_of" in body and body["best_of"] <= body.get("n", 1):
            raise Refusal(ErrorCode.INVALID_VALUE, "best_of must be greater than n.", "best_of")
        return body


class RefusesMaxTokens(Requests):
    """max_tokens is refused in favor of max_completion_tokens, as OpenAI's reasoning models do."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        if component == "CreateChatCompletionRequest" and "max_tokens" in body:
            message = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, message, "max_tokens")
        return body


class DrawsAtOneTemperature(Requests):
    """Any temperature but 1 is refused, as OpenAI's reasoning models do."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        if body.get("temperature", 1) != 1:
            message = "'temperature' does not support this value with this model: only 1 is supported."
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, message, "temperature")
        return body


class RefusesStops(Requests):
    """stop is refused, as OpenAI's o3 and o4-mini do."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        body = super().accepted(call, component)
        if body.get("stop") is not None:
            message = "'stop' is not supported with this model."
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, message, "stop")
        return body


class HandsOnWhatHasNoEffect(Requests):
    """A gateway renames the header that lists fields without effect."""

    def unsupported_headers(self, call: Call) -> Headers:
        return [(b"llm_provider-" + name, value) for name, value in super().unsupported_headers(call)]


class TakesOptionsWithoutAStream(Requests):
    """stream_options is accepted without stream."""

    advised: ClassVar = True

    def violations(self, component: str, body: Any) -> Iterator[Any]:
        if isinstance(body, dict) and body.get("stream") is not True and isinstance(body.get("stream_options"), dict):
            body = {name: value for name, value in body.items() if name != "stream_options"}
        return super().violations(component, body)
