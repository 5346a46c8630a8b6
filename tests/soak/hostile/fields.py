"""Requests with extreme values of any field that the document has: a new field is among them the day it comes."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from soak.hostile.attacker import Attack, Attacker
from specvino.document.beyond_bounds import samples
from specvino.document.loading import whole
from specvino.document.operations import Operation, Schema, operations
from specvino.document.pointers import resolved

# The most characters of a text, elements of a list and keys of an object, where the document allows more.
LONGEST, MOST = 200_000, 3000

# The largest integer, where the document has no bound.
LARGEST = 2**31 - 1

# Requests of one attack, the most fields that one of them has extreme values of, and seconds until its client leaves.
REQUESTS, AT_ONCE, PATIENCE = 10, 3, 4.0

Make = Callable[[Random], Any]


class Field(NamedTuple):
    """A field of a request: its name from the top, such as `messages[].content`, and how to make an extreme value of
    the top field that has it."""

    top: str
    name: str
    make: Make


def fields(document: Mapping[str, Any], schema: Schema) -> list[Field]:
    """Returns all fields of a body."""
    return [
        Field(top, f"{top}{below}", make)
        for top, child in resolved(document, schema).get("properties", {}).items()
        for below, make in extremes(document, child)
    ]


def extremes(document: Mapping[str, Any], schema: Schema, seen: tuple[str, ...] = ()) -> Iterator[tuple[str, Make]]:
    """Yields how to make extreme values of a schema, and of everything in it, with its place: the largest ones that the
    schema allows. A recursive schema is visited once."""
    if reference := schema.get("$ref"):
        if reference not in seen:
            yield from extremes(document, resolved(document, schema), (*seen, reference))
        return
    branches = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in schema.get(keyword, ())]
    for branch in branches:
        yield from extremes(document, branch, seen)
    if chosen := schema.get("enum") or [schema[key] for key in ("const",) if key in schema]:
        yield "", lambda random: random.choice(chosen)
        return
    # Without a type, and what implies one, anything is allowed.
    kinds = schema.get("type", ("object",) if branches or "properties" in schema else tuple(_OF_TYPE))
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind != "object" or not branches or "properties" in schema:
            yield from _OF_TYPE[kind](document, schema, seen)


def _nulls(*_: Any) -> Iterator[tuple[str, Make]]:
    yield "", lambda _: None


def _booleans(*_: Any) -> Iterator[tuple[str, Make]]:
    yield "", lambda random: random.random() < 0.5


def _numbers(_: Mapping[str, Any], schema: Schema, __: tuple[str, ...]) -> Iterator[tuple[str, Make]]:
    bounds = [
        schema.get("maximum", schema.get("exclusiveMaximum", LARGEST)),
        schema.get("minimum", schema.get("exclusiveMinimum", -LARGEST)),
    ]
    yield "", lambda random: random.choice(bounds)


def _texts(_: Mapping[str, Any], schema: Schema, __: tuple[str, ...]) -> Iterator[tuple[str, Make]]:
    length: int = min(schema.get("maxLength", LONGEST), LONGEST)
    words = ("a", "word ", "<|im_end|>", "é", "\U0001f600", "\\", "{{ ", "../", "\u202e", "((", "%00", "\n")

    def text(random: Random) -> str:
        one = random.choice(words)
        return (one * (length // len(one) + 1))[: random.choice((length, length // 10))]

    yield "", text
    if examples := schema.get("examples"):
        yield "", lambda random: random.choice(examples)


def _lists(document: Mapping[str, Any], schema: Schema, seen: tuple[str, ...]) -> Iterator[tuple[str, Make]]:
    items, most = schema.get("items", {}), min(schema.get("maxItems", MOST), MOST)
    for element in samples(dict(document), items):
        yield "", _constant([element] * most)
    if items:
        for below, make in extremes(document, items, seen):
            yield f"[]{below}", _some(make, min(most, 5))


def _objects(document: Mapping[str, Any], schema: Schema, seen: tuple[str, ...]) -> Iterator[tuple[str, Make]]:
    others, most = schema.get("additionalProperties"), min(schema.get("maxProperties", MOST), MOST)
    longest = schema.get("propertyNames", {}).get("maxLength", 100)
    for least in samples(dict(document), {"properties": {}, **schema, "type": "object"}):
        if others is not False:
            value = next(samples(dict(document), others), "a") if isinstance(others, dict) else "a"
            more = {f"{index:x}".zfill(longest)[:longest]: value for index in range(most)}
            yield "", _constant({**more, **least})
        for name, child in schema.get("properties", {}).items():
            for below, make in extremes(document, child, seen):
                yield f".{name}{below}", _with(least, name, make)


def _constant(value: Any) -> Make:
    return lambda _: value


def _some(make: Make, most: int) -> Make:
    return lambda random: [make(random)] * random.choice((1, most))


def _with(least: Mapping[str, Any], name: str, make: Make) -> Make:
    return lambda random: {**least, name: make(random)}


_TEXT: Make = next(make for _, make in _texts({}, {}, ()))

_OF_TYPE: Mapping[str, Callable[..., Iterator[tuple[str, Make]]]] = {
    "null": _nulls,
    "boolean": _booleans,
    "integer": _numbers,
    "number": _numbers,
    "string": _texts,
    "array": _lists,
    "object": _objects,
}


# Headers of every request that the server reads, beside those of the document.
_HEADERS = ("accept", "content-type", "idempotency-key", "origin", "user-agent", "x-request-id")


class Requests:
    """Requests of one operation, or with its `schema` messages on its WebSocket."""

    def __init__(self, operation: Operation, schema: Schema | None = None) -> None:
        self.operation = operation
        document = dict(operation.document)
        self._schema = operation.body if schema is None else schema
        self._fields = fields(document, self._schema) if self._schema else []
        self._least: dict[str, Any] = next(samples(document, self._schema), {}) if self._schema else {}
        # Its model is unknown: the server's counts, unless a hostile one is drawn.
        self._least.pop("model", None)
        self._parameters = [
            (parameter, [make for _, make in extremes(document, parameter["schema"])])
            for parameter in operation.parameters
        ]

    def body(self, random: Random) -> dict[str, Any] | None:
        """Returns a body with extreme values of some fields; None if there is none."""
        if not self._schema:
            return None
        drawn = random.sample(self._fields, min(random.randint(1, AT_ONCE), len(self._fields)))
        return {**self._least, **{field.top: field.make(random) for field in drawn}}

    def path(self, random: Random, ids: Mapping[str, str]) -> str:
        """Returns a path with extreme values of its parameters, or with ids of what there is."""
        path, query = self.operation.path, {}
        for parameter, makes in self._parameters:
            name, value = parameter["name"], str(random.choice(makes)(random))[: random.choice((10, 3000))]
            if parameter["in"] == "path":
                known = ids.get(name) if random.random() < 0.5 else None
                path = path.replace(f"{{{name}}}", quote(known or value, safe=""))
            elif parameter["in"] == "query":
                query[name] = value
        return f"{path}?{urlencode(query)}" if query else path

    def headers(self, random: Random) -> dict[str, str]:
        """Returns an extreme value of one header: of a parameter, of a scheme of keys, or of any request's."""
        name = random.choice(headers(self.operation))
        makes = [make for parameter, made in self._parameters if parameter["name"].lower() == name for make in made]
        value = str(random.choice(makes or [_TEXT])(random))[: random.choice((10, 3000, 20_000))]
        # What HTTP has no bytes for isn't sent by any client.
        return {name: "".join(one for one in value if one.isascii() and one.isprintable()).strip() or "a"}


@cache
def _schemes() -> tuple[str, ...]:
    schemes = whole()["components"]["securitySchemes"].values()
    return tuple(scheme["name"].lower() if scheme["type"] == "apiKey" else "authorization" for scheme in schemes)


def headers(operation: Operation) -> list[str]:
    """Returns the lower-case names of the headers of a request."""
    return [*(one["name"].lower() for one in operation.parameters_in("header")), *_schemes(), *_HEADERS]


async def _ids(attacker: Attacker) -> dict[str, str]:
    """Returns ids of a response and a conversation of the attackers, by the names of parameters."""
    made = {}
    for endpoint, name, body in (
        ("responses", "response_id", {"input": "hello", "max_output_tokens": 1}),
        ("conversations", "conversation_id", {}),
    ):
        exchange, end = await attacker.caller.ask(f"fields of {endpoint}", endpoint, body)
        if end.outcome == "answered":
            made[name] = exchange.answer["id"]
    return made


@cache
def _requests(operation_id: str) -> Requests:
    return Requests(next(operation for operation in operations(whole()) if operation.id == operation_id))


def _attack(operation: Operation) -> Attack:
    kind = f"fields of {operation.endpoint}"

    async def fields_of(attacker: Attacker) -> None:
        requests, random = _requests(operation.id), attacker.random
        ids = await _ids(attacker) if "{" in operation.path else {}
        for _ in range(REQUESTS):
            body, path = requests.body(random), requests.path(random, ids)
            await attacker.caller.ask(
                kind,
                operation.endpoint,
                body,
                method=operation.method,
                path=path,
                headers=requests.headers(random) if random.random() < 0.3 else None,
                leave_at=PATIENCE,
            )

    return fields_of


@cache
def _messages(operation_id: str) -> Requests:
    operation = _requests(operation_id).operation
    return Requests(operation, operation.definition["x-websocket"]["request"])


def _attack_by_messages(operation: Operation) -> Attack:
    kind = f"fields of a message of {operation.endpoint}"

    async def fields_of(attacker: Attacker) -> None:
        requests, messages, random = _requests(operation.id), _messages(operation.id), attacker.random
        for _ in range(REQUESTS):
            sent = requests.headers(random) if random.random() < 0.3 else None
            # A message has the fields of a body, and its own.
            body = {**(requests.body(random) or {}), **(messages.body(random) or {})}
            await attacker.caller.message(kind, operation.endpoint, body, headers=sent, leave_at=PATIENCE)

    return fields_of


ATTACKS: tuple[Attack, ...] = (
    *(_attack(operation) for operation in operations(whole()) if operation.body or operation.parameters),
    *(_attack_by_messages(operation) for operation in operations(whole()) if "x-websocket" in operation.definition),
)
