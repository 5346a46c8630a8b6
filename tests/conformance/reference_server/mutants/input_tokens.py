"""Input tokens that are counted wrongly."""

from typing import Any

from reference_server.http import Call
from reference_server.responses import Responses


class CountsText(Responses):
    """The input tokens are counted without the instructions."""

    breaks = {"input_tokens/counts/as-used"}

    def input_tokens(self, call: Call) -> dict[str, Any]:
        call.body.pop("instructions", None)
        return super().input_tokens(call)


class CountsUnderAnotherName(Responses):
    """The input tokens are called tokens."""

    breaks = {"input_tokens/capabilities/endpoint", "input_tokens/rules/answer-shape"}

    def input_tokens(self, call: Call) -> dict[str, Any]:
        return {"tokens": super().input_tokens(call)["input_tokens"]}


class CountsWithoutWhatItContinues(Responses):
    """The input tokens are counted without looking for the response to continue."""

    breaks = {"input_tokens/counts/nothing-stored"}

    def input_tokens(self, call: Call) -> dict[str, Any]:
        call.body.pop("previous_response_id", None)
        return super().input_tokens(call)
