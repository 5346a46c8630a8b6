"""The source of the portal's pages: the documents and their fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from specvino.document.loading import VOCABULARY, dialect_file, load, whole
from specvino.document.operations import Operation, Schema, operations
from specvino.document.walk import followed
from specvino.portal.variants import Owner, owners
from specvino.portal.words import remark, taken

# The headings of the endpoints, and of the envelope of errors.
TITLES = {
    "chat": "Chat completions",
    "completions": "Completions",
    "responses": "Responses",
    "messages": "Messages",
    "count_tokens": "Token counts of messages",
    "response": "A stored response",
    "response_deletion": "Deleting a response",
    "response_cancel": "Cancelling a response",
    "response_input_items": "Input items of a response",
    "compact": "Compaction of a conversation",
    "conversations": "Conversations",
    "conversation": "A conversation",
    "conversation_update": "Changing a conversation",
    "conversation_deletion": "Deleting a conversation",
    "conversation_items": "Items of a conversation",
    "conversation_items_creation": "Adding items to a conversation",
    "conversation_item": "An item of a conversation",
    "conversation_item_deletion": "Deleting an item of a conversation",
    "input_tokens": "Input tokens of a response",
    "ollama_chat": "Chat, in Ollama's API",
    "ollama_generate": "Prompts, in Ollama's API",
    "tokenize": "Tokenize",
    "detokenize": "Detokenize",
    "models": "Models",
    "model": "One model",
    "health": "Health",
    "liveness": "Liveness",
    "version": "Version",
    "openapi": "The document",
    "error": "Errors",
}


@dataclass(frozen=True, slots=True)
class Support:
    """The support of a field by one system.

    `level` is full, partial, ignored, refused, absent or unknown; `taken` names the values that it accepts or sends, if
    the dialect does.
    """

    level: str
    note: str
    taken: str

    @property
    def remark(self) -> str:
        return remark(self.note, self.taken)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an endpoint. `name` is `chat.stop`; `part` is request, response or stream; `path` is its path in the
    JSON (`stop`)."""

    name: str
    endpoint: str
    part: str
    path: str
    owners: Sequence[Owner]
    support: Mapping[str, Support]
    around: "Field | None"
    """The nearest enclosing field."""

    @property
    def origins(self) -> list[str]:
        """Returns who defined the field."""
        return list(dict.fromkeys(owner.schema["x-origin"] for owner in self.owners))

    def handling(self, schema: Schema) -> str:
        """How this server handles it, by one of its owners: supported, accepted or unsupported; for fields of answers,
        when they are present. Fields inside one without effect have none either."""
        if self.part != "request":
            return str(schema["x-emit"])
        outer = {self.around.handling(owner.schema) for owner in self.around.owners} if self.around else {"supported"}
        return str(schema["x-handling"]) if "supported" in outer else outer.pop()


class Source:
    """The whole document and those of the systems."""

    @cached_property
    def document(self) -> dict[str, Any]:
        return whole()

    def dialect(self, system: str) -> dict[str, Any]:
        """Returns the OpenAPI 3.1 document of a system."""
        return load(dialect_file(system))

    @cached_property
    def vocabulary(self) -> dict[str, Any]:
        """Returns the JSON Schemas of the document's own keywords."""
        return load(VOCABULARY)

    @property
    def schemas(self) -> dict[str, Schema]:
        components: dict[str, Schema] = self.document["components"]["schemas"]
        return components

    @cached_property
    def operations(self) -> list[Operation]:
        return list(operations(self.document))

    @cached_property
    def fields(self) -> list[Field]:
        """Returns every field that has a level of its own, by endpoint and in the order of requests and answers; a
        field that branches share is listed once."""
        met: dict[str, None] = {}
        for operation in self.operations:
            for _, node in followed(self.document, operation.definition):
                of_endpoint = (
                    name for name in node.get("x-support", {}) if name.split(".", 1)[0] in (operation.endpoint, "error")
                )
                met.update(dict.fromkeys(of_endpoint))
        # What lies inside a field follows it, even if it was found first inside another one.
        order: dict[str, int] = {}
        for name in met:
            for outer in _outwards(name):
                order.setdefault(outer, len(order))
        made: dict[str, Field] = {}
        owned = owners(self.schemas)
        for name in sorted(met, key=lambda name: name.count(".")):
            made[name] = _field(name, owned[name], made)
        endpoints = [*(operation.endpoint for operation in self.operations), "error"]
        parts = ["request", "response", "stream"]
        return sorted(
            made.values(),
            key=lambda field: (
                endpoints.index(field.endpoint),
                parts.index(field.part),
                [order[outer] for outer in reversed(_outwards(field.name))],
            ),
        )


def _outwards(name: str) -> list[str]:
    """Returns a field's name and those of the fields around it: a.b[].c, a.b, a."""
    steps = name.split(".")
    return [".".join(steps[:count]).removesuffix("[]") for count in range(len(steps), 0, -1)]


def described(node: Mapping[str, Any]) -> str:
    """Returns the description and what applies to this server only."""
    return " ".join(filter(None, [node.get("description", ""), node.get("x-implementation-note", "")]))


def supported(entry: str | Schema) -> Support:
    """Returns the support that an entry of x-support, or of `levels` in an older version's head, states."""
    if isinstance(entry, str):
        return Support(entry, "", "")
    return Support(entry["level"], entry.get("note", ""), taken(entry))


def _field(name: str, owned: Sequence[Owner], made: Mapping[str, Field]) -> Field:
    """Makes a field; `made` contains the fields that may enclose it."""
    endpoint, _, rest = name.partition(".")
    part, _, path = rest.partition(".")
    if not path or part not in ("response", "stream"):  # `chat.stream` is a field of requests
        part, path = "request", rest
    support = {system: supported(entry) for system, entry in owned[0].schema["x-support"][name].items()}
    enclosing = (made.get(outer) for outer in _outwards(name)[1:])
    around = next((outer for outer in enclosing if outer and outer.part == part), None)
    return Field(name, endpoint, part, path, owned, support, around)
