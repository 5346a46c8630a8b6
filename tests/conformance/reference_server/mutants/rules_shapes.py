"""Answers and errors of a wrong form."""

from collections.abc import Mapping, Sequence
from typing import Any

from reference_server.chat import Chat
from reference_server.generation import Asked, Output
from reference_server.http import Call, Event, Headers, Http, Message, Stream
from reference_server.items import Item
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.stored import Stored
from reference_server.tokenize import Tokenize
from specvino.generated.errors import ErrorCode


class SendsNoNumber(Chat):
    """An answer has NaN, which JSON doesn't have, in a field of the server's own."""

    breaks = {"chat/rules/answer-shape"}

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        return {**super().chat_completion(head, asked, outputs), "tokens_per_second": float("nan")}


class WithoutReason(Chat):
    """An answer doesn't say why it ended."""

    breaks = {"chat/rules/answer-shape", "chat/basics/answers"}

    def chat_choice(self, asked: Asked, output: Output) -> dict[str, Any]:
        return {**super().chat_choice(asked, output), "finish_reason": None}


class MarksEvents(Http):
    """The JSON of events begins with a byte order mark."""

    breaks = {"chat/rules/event-shape", "messages/rules/stream-order"}

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"data: ", b"data: \xef\xbb\xbf", 1)


class MarksLines(Http):
    """Events begin with a byte order mark, so that clients ignore their first line."""

    breaks = {"chat/rules/event-shape", "messages/rules/stream-order"}

    def frame(self, stream: Stream, event: Event) -> bytes:
        return b"\xef\xbb\xbf" + super().frame(stream, event)


class TimesWithFractions(Http):
    """When an answer was begun is a number with a fraction, which typed clients can't read."""

    breaks = {
        "chat/rules/answer-shape",
        "completions/rules/answer-shape",
        "responses/rules/answer-shape",
        "responses/rules/event-shape",
        "response/rules/answer-shape",
        "response/rules/event-shape",
        "response_cancel/rules/answer-shape",
        "conversations/rules/answer-shape",
        "conversation/rules/answer-shape",
        "conversation_update/rules/answer-shape",
        "conversation_item_deletion/rules/answer-shape",
    }
    faults = 2

    def now(self) -> Any:
        return super().now() + 0.25


class ModelsWithoutOwner(Models):
    """A model has no owned_by."""

    breaks = {"models/rules/answer-shape", "model/rules/answer-shape"}

    def described(self, model: str) -> dict[str, Any]:
        return {"id": model, "object": "model", "created": 0}


class TokensAsObjects(Tokenize):
    """Tokens are objects instead of their ids."""

    breaks = {"tokenize/rules/answer-shape"}
    faults = 2

    def listed(self, lists: list[list[int]]) -> Any:
        return [{"id": id} for ids in lists for id in ids]


class DeletedOtherwise(Stored):
    """A deletion says another kind of object."""

    breaks = {"response_deletion/rules/answer-shape"}

    def delete_response(self, call: Call) -> dict[str, Any]:
        return {**super().delete_response(call), "object": "response.deleted"}


class CancelledBriefly(Stored):
    """What was cancelled is said without the response."""

    breaks = {"response_cancel/rules/answer-shape"}

    def cancelled(self, response: dict[str, Any]) -> dict[str, Any]:
        return {"id": response["id"], "object": "response", "status": "cancelled", "background": True}


class PagesWithoutEnds(Stored):
    """A page of items doesn't say which are its first and last."""

    breaks = {
        "response_input_items/rules/answer-shape",
        "conversation_items/rules/answer-shape",
        "conversation_items_creation/rules/answer-shape",
    }
    faults = 2

    def page(self, items: list[Item], query: Mapping[str, str]) -> dict[str, Any]:
        page = super().page(items, query)
        return {name: page[name] for name in ("object", "data", "has_more")}


class ErrorsOfAnotherForm(Http):
    """Errors are not in OpenAI's form, and clients show "no body"."""

    breaks = {
        "chat/rules/error-envelope",
        "completions/rules/error-envelope",
        "detokenize/rules/error-envelope",
        "input_tokens/rules/error-envelope",
        "compact/rules/error-envelope",
        "model/rules/error-envelope",
        "response/rules/error-envelope",
        "response_cancel/rules/error-envelope",
        "response_deletion/rules/error-envelope",
        "response_input_items/rules/error-envelope",
        "responses/rules/error-envelope",
        "tokenize/rules/error-envelope",
        "transport/rules/error-envelope",
        "transport/rules/unrouted-envelope",
    }

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"object": "error", "message": refusal.message, "code": refusal.status}


class ErrorsWithNumbers(Http):
    """The code of an error is its status."""

    breaks = {
        "chat/rules/error-envelope",
        "completions/rules/error-envelope",
        "detokenize/rules/error-envelope",
        "input_tokens/rules/error-envelope",
        "compact/rules/error-envelope",
        "conversation/rules/error-envelope",
        "conversation_update/rules/error-envelope",
        "conversation_deletion/rules/error-envelope",
        "conversation_items/rules/error-envelope",
        "conversation_items_creation/rules/error-envelope",
        "conversation_item/rules/error-envelope",
        "conversation_item_deletion/rules/error-envelope",
        "model/rules/error-envelope",
        "response/rules/error-envelope",
        "response_cancel/rules/error-envelope",
        "response_deletion/rules/error-envelope",
        "response_input_items/rules/error-envelope",
        "responses/rules/error-envelope",
        "tokenize/rules/error-envelope",
        "transport/rules/error-envelope",
    }

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": {**refusal.error, "code": refusal.status}}


class Unprocessable(Http):
    """What is not valid is refused with 422, as some frameworks do of themselves."""

    breaks = {
        "chat/rules/documented-refusal",
        "completions/rules/documented-refusal",
        "detokenize/rules/documented-refusal",
        "messages/rules/documented-refusal",
        "response_cancel/rules/documented-refusal",
        "responses/rules/documented-refusal",
        "tokenize/rules/documented-refusal",
        "ollama_chat/rules/documented-refusal",
    }

    def status(self, refusal: Refusal) -> int:
        return 422 if refusal.status == 400 else refusal.status


class Gone(Http):
    """What isn't there is refused with 410."""

    breaks = {
        "count_tokens/rules/documented-refusal",
        "input_tokens/rules/documented-refusal",
        "compact/rules/documented-refusal",
        "conversation/rules/documented-refusal",
        "conversation_update/rules/documented-refusal",
        "conversation_deletion/rules/documented-refusal",
        "conversation_items/rules/documented-refusal",
        "conversation_items_creation/rules/documented-refusal",
        "conversation_item/rules/documented-refusal",
        "conversation_item_deletion/rules/documented-refusal",
        "model/rules/documented-refusal",
        "response/rules/documented-refusal",
        "response_cancel/rules/documented-refusal",
        "response_input_items/rules/documented-refusal",
        "responses/rules/documented-refusal",
        "ollama_chat/rules/documented-refusal",
        "ollama_generate/rules/documented-refusal",
    }

    def status(self, refusal: Refusal) -> int:
        return 410 if refusal.status == 404 else refusal.status


class NoModels(Models):
    """There is no list of models, so that no client can show one."""

    breaks = {"models/rules/documented-refusal", "models/capabilities/list"}
    faults = 2

    def list_models(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.NOT_FOUND, "There is nothing here.")


class ModelsFail(Models):
    """The list of models is a failure of the server."""

    breaks = {"models/rules/no-server-error", "models/capabilities/list"}

    def list_models(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The server failed.")


class DeletionFails(Stored):
    """What is to be deleted is a failure of the server."""

    breaks = {"response_deletion/rules/no-server-error"}

    def forget(self, id: str) -> None:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The server failed.")


class DeletionUnknown(Http):
    """What was deleted is said with a status that no client expects."""

    breaks = {
        "conversation_deletion/rules/documented-status",
        "conversation_item_deletion/rules/documented-status",
        "response_deletion/rules/documented-status",
    }

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, 202 if call.method == "DELETE" and status == 200 else status, body, headers)


class DeletedIsGone(Http):
    """What is deleted a second time is refused with 410."""

    breaks = {"response_deletion/rules/documented-refusal"}

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, 410 if call.method == "DELETE" and status == 404 else status, body, headers)


class ChangesAccepted(Http):
    """What changes a conversation comes with 202, as if it came later."""

    breaks = {"conversation_update/rules/documented-status", "conversation_items_creation/rules/documented-status"}

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        changes = call.method == "POST" and "/conversations/" in call.path
        await super().respond(call, 202 if changes and status == 200 else status, body, headers)


class StreamsAccepted(Http):
    """Streams begin with 202, as if they came later."""

    breaks = {
        "chat/rules/documented-status",
        "completions/rules/documented-status",
        "messages/rules/documented-status",
        "responses/rules/documented-status",
        "ollama_chat/rules/documented-status",
        "ollama_generate/rules/documented-status",
    }

    async def stream(self, call: Call, stream: Stream) -> None:
        send = call.send

        async def sent(message: Message) -> None:
            await send({**message, "status": 202} if message["type"] == "http.response.start" else message)

        call.send = sent
        await super().stream(call, stream)


class ReadsAccepted(Http):
    """What is read comes with 202, as if it came later."""

    breaks = {
        "conversation/rules/documented-status",
        "models/rules/documented-status",
        "response/rules/documented-status",
    }

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, 202 if call.method == "GET" and status == 200 else status, body, headers)


class OneModelAccepted(Http):
    """A model that is read comes with 202."""

    breaks = {"model/rules/documented-status"}

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, 202 if "/models/" in call.path and status == 200 else status, body, headers)


class ItemsAccepted(Http):
    """The items of a response or conversation come with 202."""

    breaks = {
        "conversation_item/rules/documented-status",
        "conversation_items/rules/documented-status",
        "response_input_items/rules/documented-status",
    }

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        items = call.method == "GET" and "items" in call.path
        await super().respond(call, 202 if items and status == 200 else status, body, headers)


class SmallAnswersAccepted(Http):
    """Tokens, their texts and numbers, what was cancelled and a new conversation come with 202."""

    breaks = {
        "count_tokens/rules/documented-status",
        "detokenize/rules/documented-status",
        "input_tokens/rules/documented-status",
        "compact/rules/documented-status",
        "conversations/rules/documented-status",
        "response_cancel/rules/documented-status",
        "tokenize/rules/documented-status",
    }

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        ends = ("tokenize", "/cancel", "/input_tokens", "/compact", "/conversations", "/count_tokens")
        small = call.path.endswith(ends)
        await super().respond(call, 202 if small and status == 200 else status, body, headers)


class FailsInstead(Http):
    """Whatever should be refused is a failure of the server."""

    breaks = {
        "chat/rules/no-server-error",
        "completions/rules/no-server-error",
        "count_tokens/rules/no-server-error",
        "detokenize/rules/no-server-error",
        "input_tokens/rules/no-server-error",
        "compact/rules/no-server-error",
        "conversation/rules/no-server-error",
        "conversation_update/rules/no-server-error",
        "conversation_deletion/rules/no-server-error",
        "conversation_items/rules/no-server-error",
        "conversation_items_creation/rules/no-server-error",
        "conversation_item/rules/no-server-error",
        "conversation_item_deletion/rules/no-server-error",
        "messages/rules/no-server-error",
        "model/rules/no-server-error",
        "response/rules/no-server-error",
        "response_cancel/rules/no-server-error",
        "response_input_items/rules/no-server-error",
        "responses/rules/no-server-error",
        "tokenize/rules/no-server-error",
        "transport/rules/no-server-error",
        "ollama_chat/rules/no-server-error",
        "ollama_generate/rules/no-server-error",
    }

    def status(self, refusal: Refusal) -> int:
        return 500
