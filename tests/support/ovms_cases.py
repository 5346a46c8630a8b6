"""Requests and the kind of answer that OpenVINO Model Server gives them (tests/ovms/cases)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specvino.document import yaml_text

FOLDER = Path(__file__).parents[1] / "ovms" / "cases"

# In one piece, as a stream, refused, failed.
KINDS = ("200", "sse", "4xx", "5xx")

# More words than a tiny model's context has tokens.
LONG = "word " * 5000

CASE_KEYS = {"name", "request", "body", "with", "without", "raw", "headers", "server", "ovms", "ours", "rule", "answer"}


@dataclass(frozen=True)
class Case:
    id: str
    method: str
    path: str
    content: Any
    """A text as it is sent, an object to send as JSON, or None for no body."""
    headers: dict[str, str]
    server: str
    """Which of the tests' servers it is meant for."""
    status: int
    """The status of OVMS's answer."""
    ovms: str
    """The kind of OVMS's answer, one of KINDS."""
    ours: str
    """The kind of our answer."""
    rule: str | None
    """The rule of the ovms dialect on which the difference hangs."""
    answer: dict[str, Any] = field(default_factory=dict)
    """JSON Schemas of what our answer has, by dotted path; there OVMS's has the same."""


def load() -> Iterator[Case]:
    """A file gives a request and a body; its cases say what they change of them, `with` and `without` fields."""
    for file in sorted(FOLDER.glob("*.yaml")):
        subject = yaml_text.load(file.read_text("utf-8"))
        assert subject.keys() == {"request", "body", "cases"}
        for entry in subject["cases"]:
            assert entry.keys() <= CASE_KEYS, entry
            method, path = entry.get("request", subject["request"]).split()
            status, ovms = _answer(str(entry["ovms"]))
            yield Case(
                f"{file.stem}: {entry['name']}",
                method,
                path,
                entry["raw"] if "raw" in entry else _body(subject["body"], entry),
                entry.get("headers", {}),
                entry.get("server", "text"),
                status,
                ovms,
                str(entry.get("ours", ovms)),
                entry.get("rule"),
                entry.get("answer", {}),
            )


def _answer(text: str) -> tuple[int, str]:
    """Returns the status and the kind of an answer: a status as it stands, or `sse`."""
    if text == "sse":
        return 200, text
    return int(text), text if text == "200" else f"{text[0]}xx"


def _body(base: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any] | None:
    if "body" in entry:
        whole: dict[str, Any] | None = entry["body"]
        return whole
    body: dict[str, Any] = base | entry.get("with", {})
    for name in entry.get("without", ()):
        del body[name]
    for message in body.get("messages") or ():
        if isinstance(message, dict) and message.get("content") == "$LONG":
            message["content"] = LONG
    return body
