"""The comparable parts of an answer: facts by location, and values without what is new in each answer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from itertools import groupby
from typing import Any, NamedTuple

from specvino.conformance.endpoints import OF_PROCESS, VARYING
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.message_shape import shape_of
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.streams.asides import is_aside
from specvino.conformance.streams.sse import NAMELESS, ServerSentEvent
from specvino.conformance.streams.state_machines import StateMachines, classify
from specvino.conformance.streams.strict_json import strict_json
from specvino.conformance.two_servers.headers import header_facts
from specvino.generated.streams import STREAMS, Stream

# The largest number of locations of an answer, and the deepest one: a server may send a million of them.
MOST_LOCATIONS = 2_000
DEEPEST = 40

# The largest number of characters of a name that a server chooses.
LONGEST_NAME = 120

# What values are compared as that may differ: the name of the run's model, of which each server may have its own, ids
# and times.
MODEL, AN_ID, A_TIME = "${the requested model}", "${an id}", "${a time}"

# Seconds since 1970 that are of this time. Of others, such as milliseconds, the number of digits is compared.
THIS_TIME = range(1_000_000_000, 10_000_000_000)

# The texts of an error, which are for people.
FOR_PEOPLE = ("detail", "error", "message", "msg")


# Fields with the name of a model, beside those with `model` in their own names. In others, such as `object` and `role`,
# the same text means something else.
OF_MODELS = ("aliases", "display_name", "id", "name", "parent", "root")

# The fields of objects with logprobs. Other objects there have a member for each token.
OF_LOGPROBS = {"content", "logprob", "refusal", "token", "tokens"}

# What follows the type of an event for all but the first one of the type, which may have fewer fields.
LATER = ", later"


class Kind(StrEnum):
    """The kind of a location. `STREAM_VALUE` is a value of the answer that a stream is folded into; `EVENT` is whether
    a stream has events of a type; `EVENT_FIELD` and `EVENT_VALUE` are in the events of one type; `DRAWN` is whether an
    answer is the same again."""

    STATUS = "status"
    HEADER = "header"
    BODY = "body"
    ERROR = "error"
    FIELD = "field"
    VALUE = "value"
    STREAM_VALUE = "stream-value"
    EVENT = "event"
    ORDER = "order"
    EVENT_FIELD = "event-field"
    EVENT_VALUE = "event-value"
    DRAWN = "drawn"


class Location(NamedTuple):
    """A location in answers. `where` is a path such as `choices.*.message`, or a name; `of` is the type of an event."""

    kind: Kind
    where: str = ""
    of: str = ""


@dataclass(slots=True)
class Observation:
    """The comparable parts of one answer. `facts` are texts by location, such as the types of a field. `values` are
    JSON values by location, of which the same leaves are compared; `orders` are the types of events by what they are
    about, without repetitions. `made` is what the model made, if the answer has it."""

    facts: dict[Location, str] = field(default_factory=dict)
    values: dict[Location, Any] = field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    made: Any = None


def observe(exchange: Exchange, model: str) -> Observation:
    """Returns what is compared of an answer, of a run with this model."""
    seen = Observation()
    facts = seen.facts
    facts[Location(Kind.STATUS)] = _status(exchange)
    if exchange.status is None or exchange.ended != "complete":
        return seen
    facts |= {Location(Kind.HEADER, name): value for name, value in header_facts(exchange).items()}
    facts[Location(Kind.BODY)] = form = _form(exchange)
    normal = _Normal(model)
    if form == "a stream":
        _observe_stream(exchange, seen, normal)
    elif form == "JSON":
        _observe_json(exchange, seen, normal)
    elif exchange.content:
        text = shape_of(exchange.content[:LONGEST_NAME].decode("utf-8", "replace"))
        facts[Location(Kind.ERROR if exchange.status >= 400 else Kind.BODY, "text")] = f'"{text}"'
    return seen


def _status(exchange: Exchange) -> str:
    if exchange.status is None:
        return f"missing: the answer is {exchange.ended}"
    try:
        status = f"{exchange.status} {HTTPStatus(exchange.status).phrase}"
    except ValueError:
        status = str(exchange.status)
    return status if exchange.ended in ("complete", "left") else f"{status}, but the answer is {exchange.ended}"


def _form(exchange: Exchange) -> str:
    if not exchange.content:
        return "empty"
    if exchange.is_stream:
        return "a stream"
    return "text" if _json(exchange.content) is UNREADABLE else "JSON"


UNREADABLE = object()


def _json(content: bytes) -> Any:
    try:
        return strict_json(content.decode())
    except (ValueError, RecursionError):
        return UNREADABLE


def _observe_json(exchange: Exchange, seen: Observation, normal: "_Normal") -> None:
    value = _json(exchange.content)
    is_error = (exchange.status or 0) >= 400
    for where, types in _types(value).items():
        seen.facts[Location(Kind.ERROR if is_error else Kind.FIELD, where)] = types
    seen.values[Location(Kind.ERROR if is_error else Kind.VALUE)] = normal.of(value, is_error=is_error)
    seen.made = None if is_error else _made(exchange)


def _observe_stream(exchange: Exchange, seen: Observation, normal: "_Normal") -> None:
    table = STREAMS.get(exchange.request.endpoint or "")
    machines = StateMachines(table.machines) if table else None
    events: dict[str, list[Any]] = defaultdict(list)
    orders: dict[Any, list[str]] = defaultdict(list)
    common: list[str] = []
    named: dict[str, set[str]] = defaultdict(set)
    for position, event in enumerate(exchange.events):
        value = _json(event.data.encode("utf-8", "surrogatepass"))
        facts = classify(value, table.classify, machines) if table and machines and isinstance(value, Mapping) else []
        type = _type(event, value, table, [fact.name for fact in facts])
        if isinstance(value, Mapping):
            value = _counted_from(value, position)
        events[type].append(value)
        named[type].add("" if event.event == NAMELESS else event.event)
        if isinstance(value, Mapping) and not facts:
            continue  # signs of life and the like come at any time
        keys = {fact.key[0] for fact in facts if fact.key}
        for key in keys:
            if key not in orders:
                orders[key] = [*common]
            orders[key].append("+".join(dict.fromkeys(fact.name for fact in facts if fact.key[:1] in ((), (key,)))))
        if not keys:
            common.append(type)
            for order in orders.values():
                order.append(type)
    orders = orders or {"": common}
    seen.orders = {str(key): tuple(type for type, _ in groupby(order)) for key, order in orders.items()}
    repeated = {type for order in orders.values() for type, run in groupby(order) if sum(1 for _ in run) > 1}
    machines_of = table.machines if table else ()
    once = {fact for machine in machines_of for fact in (machine.open, machine.close, *machine.end)}
    for type, values in list(events.items())[:MOST_LOCATIONS]:
        again = type in repeated and {*type.split("+")} <= once
        seen.facts[Location(Kind.EVENT, type)] = "sent repeatedly" if again else "sent"
        seen.facts[Location(Kind.EVENT_FIELD, "event:", type)] = " or ".join(sorted(named[type])) or "not sent"
        objects = [value for value in values if isinstance(value, Mapping)]
        for of, group in ((type, objects[:1]), (f"{type}{LATER}", objects[1:])):
            for where, types in _types(group, of_event=True).items():
                if where not in ("", "*"):
                    seen.facts[Location(Kind.EVENT_FIELD, where.removeprefix("*."), of)] = types
        if table and type not in repeated and objects:
            seen.values[Location(Kind.EVENT_VALUE, "", type)] = [normal.of(value) for value in objects]
    try:
        seen.values[Location(Kind.STREAM_VALUE)] = normal.of(exchange.answer)
    except Unreadable as error:
        seen.facts[Location(Kind.STREAM_VALUE)] = str(error)
    seen.made = _made(exchange)


def _type(event: ServerSentEvent, value: Any, table: Stream | None, facts: Sequence[str]) -> str:
    """Returns the type of an event: what it states, the value of its field `type`, or the text that isn't JSON."""
    if value is UNREADABLE or not isinstance(value, Mapping):
        return event.data[:LONGEST_NAME] if table and event.data == table.terminator else "what isn't a JSON object"
    if facts:
        return "+".join(dict.fromkeys(facts))
    if table and isinstance(table.classify, str) and isinstance(value.get(table.classify), str):
        return str(value[table.classify])[:LONGEST_NAME]
    return "aside" if table and is_aside(table, value) else "nothing new"


def _counted_from(event: Mapping[str, Any], position: int) -> Mapping[str, Any]:
    """Returns an event whose number is relative to its position: servers may send more or fewer deltas."""
    number = event.get("sequence_number")
    return {**event, "sequence_number": number - position} if type(number) is int else event


def _made(exchange: Exchange) -> Any:
    """Returns what the model made: texts, reasoning and calls; None if the answer has no outputs."""
    try:
        return [(output.text, output.reasoning, output.calls) for output in outputs(exchange)]
    except (Unreadable, LookupError, TypeError, ValueError, AttributeError):
        return None


def _types(value: Any, *, of_event: bool = False) -> dict[str, str]:
    """Returns the types of a value's members by path; `*` is for all elements of a list. An empty string is a type of
    its own, but in events, whose texts may be divided anywhere."""
    types: dict[str, set[str]] = {}
    for where, type in _each_type(value, "", 0):
        type = "a string" if of_event and type == "an empty string" else type
        if where in types or len(types) < MOST_LOCATIONS:
            types.setdefault(where, set()).add(type)
    return {where: " or ".join(sorted(names)) for where, names in types.items()}


def _each_type(value: Any, where: str, depth: int) -> Iterator[tuple[str, str]]:
    yield where, type_of(value)
    if depth == DEEPEST:
        return
    if isinstance(value, Mapping):
        is_map = "logprobs" in where and not value.keys() & OF_LOGPROBS
        for name, member in value.items():
            yield from _each_type(member, below(where, "*" if is_map else name), depth + 1)
    elif isinstance(value, list):
        for element in value:
            yield from _each_type(element, below(where, "*"), depth + 1)


def below(where: str, name: str) -> str:
    return f"{where}.{name[:LONGEST_NAME]}".removeprefix(".")


def type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case "":
            return "an empty string"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


class _Normal:
    """Makes values comparable, of a run with one model."""

    def __init__(self, model: str) -> None:
        self._model = model

    def of(self, value: Any, name: str = "", depth: int = 0, *, is_error: bool = False) -> Any:
        """Returns a value without ids, times, fingerprints, and what else is new in each answer."""
        if depth > DEEPEST:
            return None
        if name in VARYING:
            return bool(value)
        if isinstance(value, Mapping):
            return {
                member: self.of(part, member, depth + 1, is_error=is_error)
                for member, part in value.items()
                if member not in OF_PROCESS
            }
        if isinstance(value, list):
            return [self.of(element, name, depth + 1, is_error=is_error) for element in value]
        if value == self._model and ("model" in name or name in OF_MODELS):
            return MODEL
        is_time = name == "created" or name.endswith("_at")
        if isinstance(value, str):
            if is_time and _is_time(value):
                return A_TIME
            if is_error and name in FOR_PEOPLE:
                return shape_of(value.replace(self._model, MODEL))
            is_id = name == "id" or name.endswith("_id")
            return AN_ID if is_id and any(map(str.isdigit, value)) else value
        if not is_time or type(value) is not int:
            return value
        return A_TIME if value in THIS_TIME else f"${{a time of {len(str(value))} digits}}"


def _is_time(text: str) -> bool:
    """Returns whether a text is a time as RFC 3339 defines it."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
