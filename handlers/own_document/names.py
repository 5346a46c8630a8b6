"""The names of the served models."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import JSON, Operation, operations
from specvino.document.pointers import resolved


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
    return "429" in operation.definition["responses"]


def _examples(operation: Operation) -> Iterator[dict[str, Any]]:
    for example in operation.definition["requestBody"]["content"][JSON].get("examples", {}).values():
        yield example["value"]
