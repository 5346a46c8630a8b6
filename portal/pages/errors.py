"""The page of errors, from errors.yaml."""

from collections.abc import Iterator

from specvino.generated.errors import ERRORS
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import Page, cell
from specvino.portal.source import Source

HEAD = """\
# Errors

Every answer of 4xx or 5xx has the same shape, and so has an error within a stream, which is its last event:

```json
{"error": {"message": "…", "type": "invalid_request_error", "param": "messages.0.role", "code": "invalid_value"}}
```

`message` names the value that was refused and what is accepted; `param` is the path of the field, down into the
branch of a union that was meant, or null; `code` is one of these. Status and type follow from the code. *Retry* says
whether the same request may succeed later.

| code | status | type | `param` | retry | meaning |
| --- | --- | --- | --- | --- | --- |
"""

SYSTEMS_HEAD = """
## Other systems

The status with which each system refuses what this server refuses with the one in parentheses. *?* is unknown,
*–* means that the system has no such error.

| a request | {systems} |
| --- |{lines}
"""

KINDS = {
    "json": "is no JSON (400)",
    "validation": "isn't what the API describes (400)",
    "key": "has no key, or a wrong one (401)",
    "unknown_model": "names an unknown model (404)",
    "unknown_route": "is for an unknown path (404)",
    "method": "has a method that the path hasn't (405)",
    "too_large": "is too large (413)",
    "media_type": "isn't declared as JSON (415)",
    "fault": "makes the server fail (500)",
    "overload": "is one too many (503)",
    "unavailable": "comes before the server is ready (503)",
}


def pages(source: Source) -> Iterator[Page]:
    yield Page("errors.md", "Errors", "".join(_text(source)))


def _text(source: Source) -> Iterator[str]:
    yield HEAD
    for code, kind in ERRORS.items():
        again = "yes" if kind.retryable else "no"
        param = "set" if kind.param else "null"
        name = f'<a id="{code.value}" href="#{code.value}">`{code.value}`</a>'
        yield f"| {name} | {kind.status} | `{kind.type}` | {param} | {again} | {cell(kind.meaning)} |\n"
    yield SYSTEMS_HEAD.format(systems=" | ".join(SYSTEMS.values()), lines=" --- |" * len(SYSTEMS))
    heads = {system: source.dialect(system)["x-dialect"]["errors"]["statuses"] for system in SYSTEMS}
    for refused, words in KINDS.items():
        yield f"| {words} | {' | '.join(_status(heads[system][refused]) for system in SYSTEMS)} |\n"


def _status(status: int | list[int] | str | None) -> str:
    if status is None:
        return "–"
    if isinstance(status, list):
        return " or ".join(map(str, status))
    return "?" if status == "unknown" else str(status)
