"""Loads the profiles of client programs from the YAML files of this folder."""

from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from specvino.conformance.cases.case import Case
from specvino.conformance.endpoints import documented_path
from specvino.document import yaml_text
from specvino.document.pointers import escape

# Endpoints that have a capability of this name, since a server may lack them.
ENDPOINTS = ("completions", "messages", "ollama_chat", "ollama_generate", "responses")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reliance(_Part):
    """A feature of servers that a client relies on: `rules` are patterns as in `--filter`, `because` says what for."""

    rules: tuple[str, ...] = Field(min_length=1)
    because: str = Field(min_length=10, max_length=160)


class RecordedRequest(_Part):
    """A request as the client sends it, with texts and lists of tools shortened. `sender` is the version that sent it,
    with the function that was called. Without an answer to an `optional` one the client still works."""

    name: str = Field(pattern="^[a-z0-9_]+$")
    endpoint: str
    sender: str
    note: str = ""
    optional: bool = False
    body: dict[str, Any]


class ClientProfile(_Part):
    """A client program with the rules that it relies on. It doesn't work without what it `needs`, and works with limits
    without what it `uses`. `version` is the version that was run for this; `source` is how its reliances were
    determined. `dialect` is that of the API that it speaks.
    """

    name: str
    title: str
    version: str
    source: str
    dialect: str | None = None
    needs: tuple[Reliance, ...]
    uses: tuple[Reliance, ...] = ()
    requests: tuple[RecordedRequest, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The patterns of all rules that it relies on, without its own requests."""
        return tuple(dict.fromkeys(rule for part in (*self.needs, *self.uses) for rule in part.rules))

    def rule_of(self, request: RecordedRequest) -> str:
        """Returns the id of the case that sends a request: `responses/clients/codex-exec`."""
        return f"{request.endpoint}/clients/{self.name}-{request.name.replace('_', '-')}"

    def cases(self) -> tuple[Case, ...]:
        """Returns a case for each request, which must be answered."""
        return tuple(
            Case(
                rule=self.rule_of(request),
                endpoint=request.endpoint,
                subject=f"Requests of {self.title}",
                layer="cases",
                says=f"A request of {self.title} is answered ({request.sender}).",
                spec=(f"/paths/{escape(documented_path(request.endpoint))}/post",),
                issues=(),
                profile="full",
                # Without the endpoint there is one reason for all its requests.
                needs=(f"{request.endpoint}.endpoint",) if request.endpoint in ENDPOINTS else (),
                needs_full_support=False,
                alone=False,
                steps=({"send": {name: value for name, value in request.body.items() if name != "model"}},),
                check=None,
                arguments={},
                advice=None,
                unchanged=True,
            )
            for request in self.requests
        )

    def reliances(self) -> tuple[tuple[Reliance, bool], ...]:
        """Returns all reliances with whether it needs them, which come first. Its requests are reliances, too."""
        sent = [(self._sent(request), not request.optional) for request in self.requests]
        listed = [*((part, True) for part in self.needs), *((part, False) for part in self.uses), *sent]
        return tuple(sorted(listed, key=lambda item: not item[1]))

    def _sent(self, request: RecordedRequest) -> Reliance:
        name = request.name.replace("_", " ")
        return Reliance(rules=(self.rule_of(request),), because=f"It sends such a request: {name} ({request.sender}).")


@cache
def all_clients() -> dict[str, ClientProfile]:
    """Returns all profiles by name. Raises pydantic's ValidationError for a file that isn't one."""
    folder = files("specvino.conformance") / "clients"
    names = sorted(file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml"))
    return {
        name: ClientProfile(name=name, **yaml_text.load((folder / f"{name}.yaml").read_text("utf-8"))) for name in names
    }
