"""Answers and errors of a wrong form."""

from typing import Any

from specvino.conformance.faux.http import Call
from specvino.conformance.faux.refusal import Refusal
from specvino.conformance.faux.server import Faux


class TimesWithFractions(Faux):
    """When an answer was begun is a number with a fraction, which typed clients can't read."""

    breaks = {
        "chat/rules/answer-shape",
        "completions/rules/answer-shape",
        "responses/rules/answer-shape",
        "responses/rules/event-shape",
        "response/rules/answer-shape",
        "response/rules/event-shape",
        "response_cancel/rules/answer-shape",
    }
    also = {
        "chat/basics/created-in-seconds",
        "completions/prompts/answers",
        "chat/rules/event-shape",
        "completions/rules/event-shape",
    }

    def now(self) -> Any:
        return super().now() + 0.25


class ModelsWithoutOwner(Faux):
    """A model has no owned_by."""

    breaks = {"models/rules/answer-shape", "model/rules/answer-shape"}
    also = {"models/list/shape"}

    def described(self, model: str) -> dict[str, Any]:
        return {"id": model, "object": "model", "created": 0}


class TokensAsObjects(Faux):
    """Tokens are objects instead of their ids."""

    breaks = {"tokenize/rules/answer-shape"}
    also = {"tokenize/*"}

    def listed(self, found: list[list[int]]) -> Any:
        return [{"id": id} for ids in found for id in ids]


class DeletedOtherwise(Faux):
    """A deletion says another kind of object."""

    breaks = {"response_deletion/rules/answer-shape"}

    def delete_response(self, call: Call) -> dict[str, Any]:
        return {**super().delete_response(call), "object": "response.deleted"}


class CancelledBriefly(Faux):
    """What was cancelled is said without the response."""

    breaks = {"response_cancel/rules/answer-shape"}
    also = {"response/rules/answer-shape", "responses/background/*"}

    def cancelled(self, response: dict[str, Any]) -> dict[str, Any]:
        return {"id": response["id"], "object": "response", "status": "cancelled", "background": True}


class PagesWithoutEnds(Faux):
    """A page of items doesn't say which are its first and last."""

    breaks = {"response_input_items/rules/answer-shape"}
    also = {"responses/stored/input-items"}

    def list_input_items(self, call: Call) -> dict[str, Any]:
        page = super().list_input_items(call)
        return {name: page[name] for name in ("object", "data", "has_more")}


class ErrorsOfAnotherForm(Faux):
    """Errors are not in OpenAI's form, and clients show "no body"."""

    breaks = {"*/rules/error-envelope"}
    also = {"*/*/*", "*/capabilities/*"}

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"object": "error", "message": refusal.message, "code": refusal.status}


class ErrorsWithNumbers(Faux):
    """The code of an error is its status."""

    breaks = {"*/rules/error-envelope"}
    also = {"*/*/*"}

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": {**refusal.error, "code": refusal.status}}


class Unprocessable(Faux):
    """What is not valid is refused with 422, as some frameworks do of themselves."""

    breaks = {"*/rules/documented-status"}
    also = {"*/*/*"}

    def status(self, refusal: Refusal) -> int:
        return 422 if refusal.status == 400 else refusal.status


class Gone(Faux):
    """What isn't there is refused with 410."""

    breaks = {"model/rules/documented-status", "response*/rules/documented-status"}
    also = {"*/*/*"}

    def status(self, refusal: Refusal) -> int:
        return 410 if refusal.status == 404 else refusal.status


class Forbidden(Faux):
    """A missing or wrong key is refused with 403."""

    breaks = {"models/rules/documented-status"}
    also = {"transport/keys/*"}

    def status(self, refusal: Refusal) -> int:
        return 403 if refusal.status == 401 else refusal.status


class FailsInstead(Faux):
    """Whatever should be refused is a failure of the server."""

    breaks = {"*/rules/no-server-error"}
    also = {"*/*/*", "*/capabilities/*"}

    def status(self, refusal: Refusal) -> int:
        return 500
