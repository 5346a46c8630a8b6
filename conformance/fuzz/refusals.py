"""Whether a refusal is true: does the condition that the document names really hold for the request?

A valid request may be refused only for a reason that its operation lists under `x-refusals`. Each code has a
predicate here, which takes the server's word for as little as possible.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.conformance.fuzz.prompts import Prompt, prompts
from specvino.conformance.fuzz.server import Server

# A chat template spends at least these on a turn beside its text: something before it and something after it.
TURN_TOKENS = 2

READABLE = ("message", "function_call", "function_call_output", "reasoning")
"""The types of the items of which a prompt can be made."""

TOKEN_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""The names of the most tokens of an answer, the one that wins where several are given first."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A valid request and the error that it was answered with. `body` is None for a request without one."""

    path_parameters: Mapping[str, str]
    body: Mapping[str, Any] | None
    code: str
    message: str
    param: str | None

    def value(self, param: str) -> Any:
        """What stands at a dotted path of the body; None where nothing does."""
        value: Any = self.body
        for name in param.split("."):
            if isinstance(value, Mapping):
                value = value.get(name)
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return value

    @property
    def prompts(self) -> list[Prompt]:
        return prompts(self.body or {})


def model_not_found(refused: Refused, server: Server) -> bool:
    name = refused.path_parameters.get("model") or refused.value("model")
    return isinstance(name, str) and name not in server.models


def context_length_exceeded(refused: Refused, server: Server) -> bool:
    stated = re.search(r"context length is (\d+) tokens", refused.message)
    if stated is None or not server.stands_by("context length", int(stated[1])):
        return False
    limits = (refused.value(name) for name in TOKEN_LIMITS)
    room = int(stated[1]) - next((limit for limit in limits if limit is not None), 1)
    return room < 0 or any(_least_tokens(prompt, server) > room for prompt in refused.prompts)


def invalid_prompt(refused: Refused, server: Server) -> bool:
    """Whether the message gives a reason that is known here, and a prompt to which it applies.

    Another reason is a finding until somebody has looked at it.
    """
    message = refused.message
    if "prompt is empty" in message:
        return any(_is_empty(prompt, server) for prompt in refused.prompts)
    if "no item that the model could read" in message:
        return not any(item.get("type", "message") in READABLE for item in refused.value("input") or ())
    if unknown := re.search(r"no token (-?\d+): its token ids are 0 to (\d+)", message):
        id, last = int(unknown[1]), int(unknown[2])
        is_unknown = not 0 <= id <= last and server.stands_by("last token", last)
        return is_unknown and any(id in prompt.ids for prompt in refused.prompts)
    # The scripted engine takes a first line of this kind for directives.
    return "script" in message and any(prompt.last_user.startswith("script:") for prompt in refused.prompts)


def response_not_found(refused: Refused, server: Server) -> bool:
    return bool(refused.path_parameters.get("response_id") or refused.value("previous_response_id"))


def unsupported_content(refused: Refused, server: Server) -> bool:
    # `param` names the part or a field in it.
    path = (refused.param or "").split(".")
    parts = (refused.value(".".join(path[:end])) for end in range(len(path), 0, -1))
    kinds = (str(part.get("type")) for part in parts if isinstance(part, Mapping))
    return any(re.search("image|audio|file|video", kind) for kind in kinds)


def unsupported_tool(refused: Refused, server: Server) -> bool:
    return any(_forces(refused.value(name)) for name in ("tool_choice", "function_call"))


REFUSALS: Mapping[str, Callable[[Refused, Server], bool]] = {
    "context_length_exceeded": context_length_exceeded,
    "invalid_prompt": invalid_prompt,
    "model_not_found": model_not_found,
    "response_not_found": response_not_found,
    "unsupported_content": unsupported_content,
    "unsupported_tool": unsupported_tool,
}


def _least_tokens(prompt: Prompt, server: Server) -> int:
    """A lower bound of a prompt's tokens. Templates trim texts, so white space at their ends doesn't count."""
    text = "\n".join(text.strip() for text in prompt.texts)
    return max(TURN_TOKENS * prompt.turns, prompt.turns + (server.count_tokens(text) or 0), len(prompt.ids))


def _is_empty(prompt: Prompt, server: Server) -> bool:
    if prompt.turns or prompt.ids:
        return False
    return all(not text or server.count_tokens(text) == 0 for text in prompt.texts)


def _forces(choice: Any) -> bool:
    """Whether a choice of tools leaves the model no way to answer in words."""
    if isinstance(choice, Mapping) and choice.get("type") == "allowed_tools":
        choice = choice.get("allowed_tools", choice).get("mode")
    return choice == "required" or isinstance(choice, Mapping)
