"""The answers of other systems that `answers/` holds, as requests and as what came back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange, Request
from specvino.document import yaml_text
from specvino.document.operations import FRAMINGS, JSON, LINES, Operation

FOLDER = Path(__file__).with_name("answers")
SYSTEMS = tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))

dialect = cache(Dialect)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, as a file of `answers/` says it; its README says how."""

    system: str
    endpoint: str
    name: str
    said: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.system}/{self.endpoint}/{self.name}"

    @property
    def operation(self) -> Operation:
        return dialect(self.system).operations[self.endpoint]

    @property
    def request(self) -> Any:
        """The JSON body; None where there is none."""
        return self.said.get("request")

    @property
    def status(self) -> int:
        return int(self.said.get("status", 200))

    @property
    def media(self) -> str:
        """It is empty where nothing came."""
        default = self._stream if "stream" in self.said else JSON if "body" in self.said else ""
        return str(self.said.get("media", default))

    @property
    def _stream(self) -> str:
        return next(media for media in FRAMINGS.values() if media in self.operation.content())

    @property
    def content(self) -> bytes:
        """What stands on the wire. A block of YAML ends in one line end, a server-sent event in two."""
        if "stream" in self.said:
            return (str(self.said["stream"]) + ("" if self.media == LINES else "\n")).encode()
        if "body" in self.said:
            return json.dumps(self.said["body"], ensure_ascii=False).encode()
        return str(self.said.get("text", "")).encode()

    @property
    def exchange(self) -> Exchange:
        """The answer as if a server had just given it."""
        sent = None if self.request is None else json.dumps(self.request).encode()
        request = Request(self.endpoint, self.operation.method, self.operation.path, {}, sent, self.request)
        return Exchange(0, request, self.status, {"content-type": self.media}, self.content, "complete", 0.0)


@cache
def answers() -> tuple[Answer, ...]:
    """All of them, in the order of the files."""
    return tuple(
        Answer(path.parent.name, path.stem, name, said)
        for path in sorted(FOLDER.glob("*/*.yaml"))
        for name, said in yaml_text.load(path.read_text("utf-8")).items()
    )
