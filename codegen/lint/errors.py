"""Error codes, and the operations that can return them."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.operations import operations

ENTRY = {"status": int, "type": str, "param": bool, "retryable": bool, "meaning": str}
ENVELOPES = tuple(
    {"$ref": f"#/components/schemas/{name}"}
    for name in ("ErrorResponse", "AnthropicErrorResponse", "OllamaErrorResponse")
)


def codes(spec: Spec) -> Iterator[Problem]:
    """The entries of errors.yaml are complete."""
    types = spec.errors["types"]
    for name, meaning in types.items():
        if not meaning:
            yield Problem("error-codes", f"types.{name}", "needs a meaning")
    for name, entry in spec.errors["codes"].items():
        for key, kind in ENTRY.items():
            if type(entry.get(key)) is not kind or entry[key] == "":
                yield Problem("error-codes", f"codes.{name}", f"{key} must be given, as {kind.__name__}")
        for key in entry.keys() - ENTRY.keys():
            yield Problem(
                "error-codes", f"codes.{name}", f"{key!r} is not known (a text with a comma needs quotes inside {{…}})"
            )
        if entry.get("type") not in types:
            yield Problem(
                "error-codes", f"codes.{name}", f"the type {entry.get('type')!r} is not one of {', '.join(types)}"
            )
        if not 400 <= int(entry.get("status") or 0) <= 599:
            yield Problem("error-codes", f"codes.{name}", f"the status {entry.get('status')} is not an error's")
        elif entry["status"] not in spec.errors["anthropic_types"]:
            yield Problem(
                "error-codes", f"codes.{name}", f"anthropic_types has no type for the status {entry['status']}"
            )


def refusals(spec: Spec) -> Iterator[Problem]:
    """The codes of x-refusals are known, and the operation declares their statuses."""
    known = spec.errors["codes"]
    for operation in operations(spec.document):
        location = operation.label
        for refusal in operation.definition.get("x-refusals", ()):
            code = refusal["code"]
            if code not in known:
                yield Problem("refusals", location, f"the code {code!r} is not in errors.yaml")
            elif str(known[code]["status"]) not in operation.definition["responses"]:
                yield Problem(
                    "refusals", location, f"{code} has status {known[code]['status']}, which is not declared here"
                )


def declared(spec: Spec) -> Iterator[Problem]:
    """Operations declare the general errors of the server, with the common envelope."""
    document = spec.document
    for operation in operations(document):
        location, definition = operation.label, operation.definition
        required = {"500": "every operation can fail"}
        if definition.get("security", document["security"]):
            required["401"] = "it takes a key"
        if "requestBody" in definition:
            required |= dict.fromkeys(("400", "413", "415"), "it has a body")
        for status, reason in required.items():
            if status not in definition["responses"]:
                yield Problem("responses", location, f"{status} must be declared, since {reason}")
        errors = {status: operation.content(status) for status in definition["responses"] if status[0] in "45"}
        envelopes = [content.get("application/json", {}).get("schema") for content in errors.values()]
        for (status, content), envelope in zip(errors.items(), envelopes, strict=True):
            if content.keys() != {"application/json"} or envelope not in ENVELOPES:
                fault = (
                    "an error has one content, application/json with the ErrorResponse of OpenAI, Anthropic or Ollama"
                )
                yield Problem("responses", f"{location} {status}", fault)
            elif envelope != envelopes[0]:
                yield Problem("responses", f"{location} {status}", "the errors of an operation have one shape")


def examples(spec: Spec) -> Iterator[Problem]:
    """An error shown under a status has a code of that status, and that code's type, or Anthropic's for the status."""
    for location, status, body in _shown(spec.document):
        error = body["error"] if isinstance(body["error"], dict) else body
        entry = spec.errors["codes"].get(error.get("code"))
        if entry and "type" in body:
            entry = {**entry, "type": spec.errors["anthropic_types"][int(status)]}
        if entry and str(entry["status"]) != status:
            yield Problem("error-examples", location, f"{error['code']} has status {entry['status']}, not {status}")
        if entry and error is not body and entry["type"] != error.get("type"):
            yield Problem(
                "error-examples", location, f"{error['code']} has type {entry['type']}, not {error.get('type')}"
            )
        if entry and not entry["param"] and error.get("param") is not None:
            yield Problem("error-examples", location, f"{error['code']} names no field, so param is null")


def _shown(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for operation in operations(document):
        for status in operation.definition["responses"]:
            if status[0] in "45":
                content = operation.content(status)
                for name, example in content.get("application/json", {}).get("examples", {}).items():
                    value = example.get("value", {})
                    if isinstance(value, dict) and "error" in value:
                        yield f"{operation.label} {status} example {name}", status, value
