"""Operations of a server's document: keys, names of models, store, and adaptations of links and streams for
Schemathesis.
"""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import JSON, Operation, by_endpoint, operations
from specvino.document.pointers import resolved
from specvino.document.walk import media_types

CREATE = "create_response"


def ask_for_no_key(document: dict[str, Any]) -> None:
    """Removes the key requirement and its errors, for a server without keys."""
    document["security"] = []
    document["components"].pop("securitySchemes", None)
    for operation in operations(document):
        operation.definition.pop("security", None)
        operation.definition["responses"].pop("401", None)


def name_models(document: dict[str, Any], names: tuple[str, ...]) -> None:
    """Adds the names of the served models. If only an unknown model makes a request fail, the names are the only valid
    values. Otherwise they are no bound, and the bodies have no examples (decision 065).
    """
    for operation in operations(document):
        for parameter in operation.parameters_in("path"):
            if parameter["name"] == "model":
                parameter["schema"] = {**parameter["schema"], "enum": list(names)}
                parameter["examples"] = {f"model_{index}": {"value": name} for index, name in enumerate(names)}
        model = _model(document, operation)
        if model is None:
            continue
        if _generates(operation):
            served = ", ".join(f"`{name}`" for name in names)
            model["description"] = f"{model['description']} Served here: {served}."
            operation.definition["requestBody"]["content"][JSON].pop("examples", None)
        else:
            model["enum"] = list(names)
            for example in _examples(operation):
                example["model"] = names[0]


def _model(document: dict[str, Any], operation: Operation) -> dict[str, Any] | None:
    """Returns the schema of the body's `model`."""
    schema: dict[str, Any] | None = resolved(document, operation.body or {}).get("properties", {}).get("model")
    return schema


def _generates(operation: Operation) -> bool:
    """Returns whether the operation has a prompt, which may be too long for the model: no schema can express that."""
    return any(refusal["code"] == "context_length_exceeded" for refusal in operation.definition.get("x-refusals", ()))


def _examples(operation: Operation) -> Iterator[dict[str, Any]]:
    for example in operation.definition["requestBody"]["content"][JSON].get("examples", {}).values():
        yield example["value"]


def store_nothing(document: dict[str, Any]) -> None:
    """Removes conversations and the links that need a stored response, for a server that stores nothing."""
    for path in [path for path in document["paths"] if path.startswith("/conversations")]:
        del document["paths"][path]
    create = by_endpoint(document)["responses"]
    create.definition["responses"]["200"].pop("links", None)
    for link in links(document):
        if link["operationId"] == CREATE:
            link["requestBody"].pop("background")


def links(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the links of all answers."""
    for operation in operations(document):
        for answer in operation.definition["responses"].values():
            yield from answer.get("links", {}).values()


def send_bodies_as_they_are(document: dict[str, Any]) -> None:
    """Keeps Schemathesis from adding random fields to the bodies of links, its default (decision 064)."""
    for link in links(document):
        if "requestBody" in link:
            link["x-schemathesis"] = {"merge_body": False}


def say_only_events(document: dict[str, Any]) -> None:
    """Removes the text schema of whole streams from OpenAPI 3.1: Schemathesis applies it to events (decision 064)."""
    for _, media in media_types(document):
        if "x-itemSchema" in media:
            media.pop("schema", None)
