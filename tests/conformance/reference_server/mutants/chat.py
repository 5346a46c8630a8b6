"""Conversations gone wrong: what is read of them, and what is refused."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jsonschema_rs

from reference_server.chat import Chat
from reference_server.generation import Asked, Generation, Output
from reference_server.http import Call, Http
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from specvino.generated.errors import ErrorCode


def fault() -> Refusal:
    """What a server answers that broke."""
    return Refusal(ErrorCode.INTERNAL_ERROR, "Something went wrong.")


# Answers


class SaysNothing(Chat):
    """The answer has no text."""

    breaks = {"chat/basics/answers"}

    def chat_text(self, output: Output) -> str | None:
        return ""


class NamesAnotherModel(Chat):
    """The model has another name in answers than in requests."""

    breaks = {"chat/basics/model-is-echoed"}

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "model": "reference-2026-11-21"}


class ChatsInMilliseconds(Chat):
    """The time of an answer is in milliseconds."""

    breaks = {"chat/basics/created-in-seconds"}

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return super().chat_completion({**head, "created": head["created"] * 1000}, asked, outputs)


class ChunksInMilliseconds(Chat):
    """The time of a chunk is in milliseconds."""

    breaks = {"chat/basics/streamed-created-in-seconds"}

    def chunk_created(self, head: Mapping[str, Any]) -> int:
        return super().chunk_created(head) * 1000


# Models and messages


class OnlyModel(Requests):
    """A model that isn't named is the only one there is."""

    breaks = {"chat/basics/model-is-missing", "chat/fields/null-model", "chat/types/model"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if isinstance(call.body, dict) and not isinstance(call.body.get("model"), str):
            call.body["model"] = self.server.model
        return super().accepted(call, component)


class MakesUpMessages(Requests):
    """Messages that can't be read are taken for none, and none for an empty one."""

    breaks = {
        "chat/basics/messages-are-missing",
        "chat/basics/messages-are-empty",
        "chat/content/number",
        "chat/content/part-without-text",
        "chat/content/unknown-part",
        "chat/fields/null-messages",
        "chat/roles/no-role",
        "chat/roles/null-role",
        "chat/roles/no-turn",
        "chat/roles/unknown-role",
        "chat/types/messages",
    }

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if component == "CreateChatCompletionRequest" and isinstance(call.body, dict):
            trial = {"model": self.server.model, "messages": call.body.get("messages")}
            if any(self.violations(component, trial)):
                call.body["messages"] = [{"role": "user", "content": ""}]
        return super().accepted(call, component)


class LastTurnOnly(Chat):
    """Only the last turn reaches the model."""

    breaks = {"chat/basics/several-turns", "chat/roles/system", "chat/roles/developer"}

    def rendered(self, turns: Sequence[tuple[str, str]]) -> str:
        return super().rendered(turns[-1:])


class KnowsNoDevelopers(Chat):
    """A developer is refused, as by a chat template that has no such role."""

    breaks = {"chat/roles/developer", "chat/streams/developer"}

    def role(self, role: str) -> str:
        if role == "developer":
            raise Refusal(ErrorCode.CHAT_TEMPLATE_ERROR, "The chat template knows no developer.", "messages")
        return super().role(role)


class DevelopersAreTheirOwn(Chat):
    """A model that was taught no developers gets some."""

    breaks = {"chat/roles/developer-as-system"}

    def role(self, role: str) -> str:
        return role if role == "developer" else super().role(role)


class StrictTemplate(Chat):
    """The server fails where user and assistant don't take turns."""

    breaks = {"chat/roles/assistant-last", "chat/roles/only-system", "chat/roles/same-role-twice"}

    def rendered(self, turns: Sequence[tuple[str, str]]) -> str:
        spoken = [role for role, _ in turns if role in ("user", "assistant")]
        if len(spoken) % 2 == 0 and all(role != "tool" for role, _ in turns):
            raise fault()
        return super().rendered(turns)


class FailsOnNoContent(Chat):
    """The server fails where a turn has no content, as those with calls."""

    breaks = {
        "chat/content/null",
        "chat/content/tool-part",
        "chat/roles/called-before",
        "chat/roles/called-before-without-content",
        "chat/streams/results-of-calls",
    }

    def content_text(self, content: Any, param: str) -> str:
        if content is None:
            raise fault()
        return super().content_text(content, param)


class FailsOnEmptyContent(Chat):
    """The server fails where a turn is empty."""

    breaks = {"chat/basics/nothing-is-said", "chat/content/no-parts"}

    def content_text(self, content: Any, param: str) -> str:
        if content in ("", []):
            raise fault()
        return super().content_text(content, param)


class KnowsNoNames(Chat):
    """Authors with names are refused."""

    breaks = {"chat/roles/name"}

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        if message.get("name"):
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, "name is not supported.", f"{param}.name")
        return super().turn(message, param)


class NullsInMessages(Chat):
    """A null in a message is refused."""

    breaks = {"chat/fields/null-in-a-message"}

    def turn(self, message: Mapping[str, Any], param: str) -> tuple[str, str]:
        nulls = [name for name, value in message.items() if value is None and name != "content"]
        if nulls:
            raise Refusal(ErrorCode.INVALID_TYPE, f"{nulls[0]} is null.", f"{param}.{nulls[0]}")
        return super().turn(message, param)


# Content


class PrintsParts(Chat):
    """A list of parts reaches the model as it would be printed."""

    breaks = {
        "chat/content/one-part",
        "chat/content/system-part",
        "chat/content/assistant-part",
        "chat/content/tool-part",
    }

    def content_text(self, content: Any, param: str) -> str:
        return str(content) if isinstance(content, list) else super().content_text(content, param)


class FirstPartOnly(Chat):
    """Of several parts only the first reaches the model."""

    breaks = {"chat/content/several-parts"}

    def content_text(self, content: Any, param: str) -> str:
        return super().content_text(content[:1] if isinstance(content, list) else content, param)


class DropsPictures(Chat):
    """What a text model can't read is left out in silence."""

    breaks = {"chat/content/image"}

    def content_text(self, content: Any, param: str) -> str:
        if isinstance(content, list):
            content = [part for part in content if part["type"] in ("text", "refusal")]
        return super().content_text(content, param)


class LosesOtherScripts(Chat):
    """Only ASCII reaches the model."""

    breaks = {"chat/unicode/emoji", "chat/unicode/cjk", "chat/unicode/right-to-left", "chat/unicode/combining"}

    def content_text(self, content: Any, param: str) -> str:
        text = super().content_text(content, param)
        return " ".join(text.encode("ascii", "ignore").decode().split())


class FailsOnControlCharacters(Chat):
    """The server fails where a text rings the bell."""

    breaks = {"chat/unicode/control-characters"}

    def content_text(self, content: Any, param: str) -> str:
        text = super().content_text(content, param)
        if "\a" in text:
            raise fault()
        return text


class ReadsNoEscapes(Http):
    """A character that JSON escapes is a question mark."""

    breaks = {"chat/unicode/escaped"}

    def parse(self, content: bytes) -> Any:
        plain = content.split(b"\\u")
        return super().parse(plain[0] + b"".join(b"?" + chunk[4:] for chunk in plain[1:]))


# Fields


class RefusesNulls(Requests):
    """A field of null is refused."""

    breaks = {
        "chat/fields/null-is-absent",
        "chat/fields/null-is-absent-everywhere",
        "chat/fields/null-limit",
        "chat/fields/null-stop",
        "chat/fields/null-tools",
        "chat/streaming/null-is-not-streamed",
        "chat/streaming/null-options-without-a-stream",
    }

    def given(self, body: dict[str, Any]) -> dict[str, Any]:
        nulls = [name for name, value in body.items() if value is None]
        if nulls:
            raise Refusal(ErrorCode.INVALID_TYPE, f"{nulls[0]} is null.", nulls[0])
        return super().given(body)


class RefusesTheUnknown(Requests):
    """What has no effect is refused, anywhere in a request."""

    breaks = {
        "chat/fields/unknown-field",
        "chat/fields/unknown-field-in-a-message",
        "chat/fields/unknown-field-in-stream-options",
        "chat/sampling/no-logit-bias",
    }
    faults = 2

    def unsupported(self, body: Any, component: str) -> list[str]:
        names = [*super().unsupported(body, component), *(["logit_bias"] if body.get("logit_bias") is not None else [])]
        if names:
            raise Refusal(ErrorCode.UNKNOWN_PARAMETER, f"{names[0]} is unknown.", names[0])
        return []


class TellsNothing(Requests):
    """Fields without effect are dropped in silence."""

    breaks = {"chat/fields/without-effect"}

    def unsupported_headers(self, call: Call) -> list[tuple[bytes, bytes]]:
        return []


class IgnoresBias(Generation):
    """A logit_bias changes nothing, and nobody is told."""

    breaks = {"chat/sampling/logit-bias"}

    def biased(self, body: Mapping[str, Any]) -> str | None:
        return None


class TakesAnySize(Requests):
    """Nothing is too large: texts, lists and objects may be as long as they like."""

    breaks = {"*/beyond-bounds"}

    def violations(self, component: str, body: Any) -> Iterator[jsonschema_rs.ValidationError]:
        sizes = ("maxLength", "maxItems", "maxProperties")
        return (error for error in super().violations(component, body) if error.kind.name not in sizes)


class IgnoresWrongValues(Requests):
    """A setting of a conversation that can't be read is as if it were absent."""

    breaks = {
        "chat/bounds/limit-below",
        "chat/bounds/no-choices",
        "chat/bounds/penalty-above",
        "chat/bounds/temperature-above",
        "chat/bounds/temperature-below",
        "chat/bounds/top-p-above",
        "chat/accepted/unknown-effort",
        "chat/logprobs/top-without-logprobs",
        "chat/streaming/options-without-a-stream",
        "chat/streaming/refused-before",
        "chat/types/frequency-penalty",
        "chat/types/logit-bias",
        "chat/types/max-completion-tokens",
        "chat/types/max-tokens",
        "chat/types/max-tokens-of-a-half",
        "chat/types/metadata",
        "chat/types/n",
        "chat/types/presence-penalty",
        "chat/types/seed",
        "chat/types/stop",
        "chat/types/stop-in-a-list",
        "chat/types/stream",
        "chat/types/stream-options",
        "chat/types/temperature",
        "chat/types/top-p",
        "chat/types/user",
    }

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if component == "CreateChatCompletionRequest" and isinstance(call.body, dict):
            for error in [*self.violations(component, call.body)]:
                param = (self.refusal(component, error).param or "").split(".")[0]
                if param not in ("model", "messages"):
                    call.body.pop(param, None)
        return super().accepted(call, component)


class RefusesNotes(Generation):
    """What a request says of itself is refused."""

    breaks = {
        "chat/accepted/user",
        "chat/accepted/safety-identifier",
        "chat/accepted/metadata",
        "chat/accepted/prompt-cache-key",
        "chat/accepted/service-tier",
        "chat/accepted/not-stored",
        "chat/accepted/text-only",
        "chat/accepted/reasoning-effort",
    }

    def require_settings(self, body: Mapping[str, Any]) -> None:
        notes = ("user", "safety_identifier", "metadata", "prompt_cache_key", "service_tier", "store", "modalities")
        for name in (*notes, "reasoning_effort"):
            if name in body:
                raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, f"{name} is not supported.", name)
        super().require_settings(body)
