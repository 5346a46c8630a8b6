"""The answers of other systems that `answers/` holds, as the judge sees them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange, Request

FOLDER = Path(__file__).with_name("answers")
SYSTEMS = tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, as a file of `answers/` says it (see its README)."""

    system: str
    endpoint: str
    name: str
    said: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.system}/{self.endpoint}/{self.name}"

    @property
    def request(self) -> Any:
        """The JSON body; None where there is none."""
        return self.said.get("request")

    @property
    def is_valid(self) -> bool:
        """Whether the system's document should find the request valid."""
        return bool(self.said.get("valid", True))

    @property
    def status(self) -> int:
        return int(self.said.get("status", 200))

    @property
    def headers(self) -> dict[str, str]:
        media = "text/event-stream" if "stream" in self.said else "application/json" if "body" in self.said else ""
        return {"content-type": media, **self.said.get("headers", {})}

    @property
    def content(self) -> bytes:
        """What stands on the wire. A block of YAML ends in one line end, an event in two."""
        if "stream" in self.said:
            return f"{self.said['stream']}\n".encode()
        if "body" in self.said:
            return json.dumps(self.said["body"], ensure_ascii=False).encode()
        return str(self.said.get("text", "")).encode()

    def exchange(self, dialect: Dialect) -> Exchange:
        """The answer as if a server had just given it."""
        operation = dialect.operations[self.endpoint]
        sent = None if self.request is None else json.dumps(self.request).encode()
        request = Request(self.endpoint, operation.method, operation.path, {}, sent, self.request)
        return Exchange(0, request, self.status, self.headers, self.content, "complete", 0.0)


def answers(system: str | None = None) -> tuple[Answer, ...]:
    """The answers of a system, or of all, in the order of the files."""
    return tuple(
        Answer(name, path.stem, each, said)
        for name in (SYSTEMS if system is None else (system,))
        for path in sorted((FOLDER / name).glob("*.yaml"))
        for each, said in yaml.safe_load(path.read_text("utf-8")).items()
    )
