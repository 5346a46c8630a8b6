"""Checks of the list of models, and of single models."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import HELLO, Session, require_answer
from specvino.conformance.session.steps import expect
from specvino.conformance.verdict import Failed, NotExercised


async def model_listed(session: Session, endpoint: str) -> None:
    """The run's model is in the list, or is an alias of the only listed model."""
    listed = await session.send("models")
    require_answer(listed)
    names = _names(listed)
    if session.model in names:
        return
    if len(names) != 1:
        raise Failed(f"the model {session.model!r} is not among {', '.join(map(str, names[:20])) or 'none'}", listed)
    answer = await session.send("chat", {**HELLO, "model": names[0]})
    if not answer.ok:
        raise Failed(f"the only listed model, {names[0]!r}, can't be used", listed, answer)


async def model_list_stable(session: Session, endpoint: str) -> None:
    """The list has each name once, and is the same for two requests."""
    first, second = await session.send("models"), await session.send("models")
    require_answer(first)
    require_answer(second)
    names = _names(first)
    if len(set(map(str, names))) < len(names):
        raise Failed(f"the list has a name twice: {', '.join(map(str, names))}", first)
    if sorted(map(str, names)) != sorted(map(str, _names(second))):
        raise Failed(f"the list is first {names} and then {_names(second)}", first, second)


async def model_retrievable(session: Session, endpoint: str) -> None:
    """A model's own endpoint identifies it as the list does. Slashes in the name may be percent-encoded."""
    listed, single = await _listed_and_single(session)
    require_answer(single)
    _require_same(session, listed, single, ("id", "object", "owned_by"))


async def model_created_once(session: Session, endpoint: str) -> None:
    """A model was created at one time, in the list and at its own endpoint, where it has one."""
    await _require_paths(session)
    listed, single = await _listed_and_single(session)
    require_answer(single)
    _require_same(session, listed, single, ("created",))


async def model_known(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The model of an answer, streamed or not, is the requested or a listed one. Servers may name it by a part of its
    name, or by its version."""
    listed = await session.send("models")
    known = (
        [session.model, *(name for name in _names(listed) if isinstance(name, str))] if listed.ok else [session.model]
    )
    for stream in (False, True):
        exchange = await session.answered(endpoint, {**body, "stream": stream})
        answering = exchange.answer.get("model")
        if not isinstance(answering, str):
            raise NotExercised("the answer has no model")
        if not answering or not any(answering in name or name in answering for name in known):
            asked = f"{session.model!r}, and none of that name is listed"
            raise Failed(f"the answer's model is {answering!r}, the request's {asked}", exchange)


async def unknown_model_refused(session: Session, endpoint: str, *, name: str) -> None:
    """An unknown model is refused at its own path, whatever characters its name has."""
    await _require_paths(session)
    exchange = await _model(session, name)
    expect(exchange, {"refused": "unknown_model"}, session.dialect, "model")
    plain = await _model(session, "another-such-model")
    if exchange.error.get("code") != plain.error.get("code"):
        codes = [refusal.error.get("code") for refusal in (exchange, plain)]
        raise Failed(f"the code is {codes[0]!r}, but {codes[1]!r} for another unknown model", exchange, plain)


async def unknown_model_error(session: Session, endpoint: str, *, name: str) -> None:
    """The error for an unknown model has the code model_not_found and the param model."""
    await _require_paths(session)
    expected = {"status": [404], "param": ["model"], "body": {"error.code": "model_not_found"}}
    expect(await _model(session, name), expected, session.dialect, "model")


async def _require_paths(session: Session) -> None:
    """Raises NotExercised if the server doesn't support paths of single models."""
    served = await _model(session, quote(session.model, safe=""))
    if not served.ok:
        raise NotExercised(f"the path of the served model returns {served.status or served.ended}, too")


async def _model(session: Session, name: str) -> Exchange:
    return await session.raw("GET", f"{paths()['models']}/{name}", endpoint="model")


async def _listed_and_single(session: Session) -> tuple[Exchange, Exchange]:
    """Returns the answers with the list, which has the run's model, and with that model alone."""
    listed = await session.send("models")
    require_answer(listed)
    if session.model not in _names(listed):
        raise NotExercised("the run's model isn't in the list")
    return listed, await _model(session, quote(session.model, safe=""))


def _require_same(session: Session, listed: Exchange, single: Exchange, fields: Sequence[str]) -> None:
    entry = next(model for model in listed.answer["data"] if model.get("id") == session.model)
    for name in fields:
        if name in entry and name not in single.answer:
            raise Failed(f"GET {paths()['models']}/{session.model} has no {name}", listed, single)
        if single.answer.get(name) != entry.get(name):
            raise Failed(
                f"{name} is {entry.get(name)!r} in the list, but {single.answer.get(name)!r} at the model's path",
                listed,
                single,
            )


def _names(listed: Exchange) -> list[object]:
    return [model.get("id") for model in listed.answer.get("data") or () if isinstance(model, dict)]
