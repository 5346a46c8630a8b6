"""Models gone wrong."""

from typing import Any

from reference_server.http import Call, Http, Route
from reference_server.models import Models
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode


class ListsAnother(Models):
    """The list names a model that isn't served."""

    breaks = {"models/list/served"}

    def list_models(self, call: Call) -> dict[str, Any]:
        return {"object": "list", "data": [self.described("another")]}


class CreatedInMilliseconds(Models):
    """The time of a model is in milliseconds."""

    breaks = {"models/list/shape"}

    def described(self, model: str) -> dict[str, Any]:
        description = super().described(model)
        return {**description, "created": description["created"] * 1000}


class ListsTwice(Models):
    """A model is listed twice."""

    breaks = {"models/list/stays"}

    def list_models(self, call: Call) -> dict[str, Any]:
        return {"object": "list", "data": [self.described(self.server.model)] * 2}


class NamesOtherwise(Models):
    """A model has another name at its own path than in the list."""

    breaks = {"models/one/retrieved"}

    def retrieve_model(self, call: Call) -> dict[str, Any]:
        return {**super().retrieve_model(call), "id": f"{self.server.model}:latest"}


class CreatedWhenAsked(Models):
    """A model's own object says that it was created a moment ago."""

    breaks = {"models/one/created"}

    def retrieve_model(self, call: Call) -> dict[str, Any]:
        model = super().retrieve_model(call)
        return {**model, "created": model["created"] + 3600}


class RetrievesAnything(Models):
    """Every name has a model."""

    breaks = {"models/one/unknown*", "models/one/code"}

    def retrieve_model(self, call: Call) -> dict[str, Any]:
        return self.described(call.parameters["model"])


class NoSlashes(Http):
    """A name with a slash is a path that isn't there."""

    breaks = {"models/one/unknown-with-slash"}

    def route(self, call: Call) -> Route:
        route = super().route(call)
        if "/" in call.parameters.get("model", ""):
            raise Refusal(ErrorCode.NOT_FOUND, "There is no such path.")
        return route


class UnknownModelIsUnknownPath(Models):
    """The error of an unknown model is that of an unknown path."""

    breaks = {"models/one/code"}

    def retrieve_model(self, call: Call) -> dict[str, Any]:
        try:
            return super().retrieve_model(call)
        except Refusal:
            raise Refusal(ErrorCode.NOT_FOUND, "There is no such path.") from None
