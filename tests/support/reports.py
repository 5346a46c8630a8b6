"""Reports for tests, and what reads their pages."""

from html.parser import HTMLParser
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder

from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.reports.records import (
    ExchangeRecord,
    FindingRecord,
    Footer,
    Header,
    Line,
    Report,
    RequestRecord,
    ResponseRecord,
)
from specvino.conformance.verdict import Verdict

HEADER = Header(
    tool="specvino 0.1.0",
    url="http://127.0.0.1:8000/v1",
    model="m",
    rules="1.0",
    dialect="openai",
    document="0123456789abcdef",
    profile="full",
    layers=("cases", "streams"),
    started="2026-01-02T03:04:05+00:00",
    left_out={"chat/x/y": "x is ignored in openai", "transport/auth/z": "no key was given"},
)

SHOWN = ExchangeRecord(
    number=3,
    request=RequestRecord(
        method="POST", url="http://127.0.0.1:8000/v1/chat/completions", headers={}, body='{"n": 2}', size=8
    ),
    response=ResponseRecord(status=200, headers={"content-type": "application/json"}, body='{"choices": []}', size=15),
    ended="complete",
    seconds=0.25,
    curl="curl http://127.0.0.1:8000/v1/chat/completions --data-raw '{\"n\": 2}'",
)


def line(rule: str, verdict: str = "pass", **more: Any) -> Line:
    if verdict in ("fail", "error") and "findings" not in more:
        more["findings"] = (FindingRecord(message="there is no choice", exchanges=(SHOWN,)),)
        more.setdefault("fails", not more.get("accepted") and more.get("severity", "must") == "must")
    return Line(rule=rule, layer="cases", says="There is a choice.", verdict=Verdict(verdict), **more)


def report(*lines: Line, **ended: Any) -> Report:
    """A whole one, where `ended` says nothing else of its footer."""
    made = Report(HEADER, list(lines))
    made.footer = Footer(counts=made.counts, **{"requests": 9, "seconds": 1.5, "complete": True} | ended)
    return made


def exchange(**more: Any) -> Exchange:
    """A chat request with the key `sk-secret-key`, and an answer."""
    headers = {"content-type": "application/json", "authorization": "Bearer sk-secret-key"}
    request = Request("chat", "POST", "/chat/completions", headers, b'{"n": 2}', {"n": 2})
    values: dict[str, Any] = {
        "number": 1,
        "request": request,
        "status": 200,
        "headers": {},
        "content": b"{}",
        "ended": "complete",
    }
    return Exchange(**values | {"seconds": 0.1} | more)


class Page(HTMLParser):
    """`tags` that a page has, the places in it, and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.references: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.add(value or "")
            if name in ("href", "src"):
                self.references.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


class _Tree(HTMLParser):
    VOID = ("input", "link", "meta")

    def __init__(self) -> None:
        super().__init__()
        self.builder = TreeBuilder()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or "" for name, value in attributes})
        if tag in self.VOID:
            self.builder.end(tag)

    def handle_endtag(self, tag: str) -> None:
        self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        self.builder.data(data)


def tree(text: str) -> Element:
    """The elements of a page that closes its tags."""
    parser = _Tree()
    parser.feed(text)
    parser.close()
    return parser.builder.close()


def text_of(element: Element | None) -> str:
    """All text in an element, on one line."""
    assert element is not None
    return " ".join("".join(element.itertext()).split())
