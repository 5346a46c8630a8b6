"""Reports for tests, and what reads their pages."""

from html.parser import HTMLParser

from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.reports.records import Came, Footer, Found, Header, Line, Report, Sent, Shown
from specvino.conformance.verdict import Verdict

HEADER = Header(
    tool="specvino 0.1.0",
    url="http://127.0.0.1:8000/v1",
    model="m",
    dialect="openai",
    document="0123456789abcdef",
    profile="full",
    layers=("cases", "streams"),
    started="2026-01-02T03:04:05+00:00",
    left_out={"chat/x/y": "x is ignored in openai", "transport/auth/z": "no key was given"},
)

SHOWN = Shown(
    number=3,
    request=Sent(method="POST", url="http://127.0.0.1:8000/v1/chat/completions", headers={}, body='{"n": 2}', size=8),
    response=Came(status=200, headers={"content-type": "application/json"}, body='{"choices": []}', size=15),
    ended="complete",
    seconds=0.25,
    curl="curl http://127.0.0.1:8000/v1/chat/completions --data-raw '{\"n\": 2}'",
)


def line(rule: str, verdict: str = "pass", **more: object) -> Line:
    if verdict in ("fail", "error") and "findings" not in more:
        more["findings"] = (Found(message="there is no choice", exchanges=(SHOWN,)),)
    return Line(rule=rule, layer="cases", says="There is a choice.", verdict=Verdict(verdict), **more)


def report(*lines: Line, **ended: object) -> Report:
    """A whole one, where `ended` says nothing else of its footer."""
    made = Report(HEADER, list(lines))
    made.footer = Footer(counts=dict(made.counts), **{"requests": 9, "seconds": 1.5, "complete": True} | ended)
    return made


def exchange(**more: object) -> Exchange:
    """A chat request with the key `sk-secret-key`, and an answer."""
    headers = {"content-type": "application/json", "authorization": "Bearer sk-secret-key"}
    request = Request("chat", "POST", "/chat/completions", headers, b'{"n": 2}', {"n": 2})
    values = {"number": 1, "request": request, "status": 200, "headers": {}, "content": b"{}", "ended": "complete"}
    return Exchange(**values | {"seconds": 0.1} | more)


class Page(HTMLParser):
    """`tags` that a page has, the places in it, and what it refers to."""

    def __init__(self, text) -> None:
        super().__init__()
        self.tags, self.ids, self.references, self.text = [], set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            if name in ("href", "src"):
                self.references.append(value)

    def handle_data(self, data):
        self.text += data
