"""The models that are served."""

from urllib.parse import quote

from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import HELLO, Session, require_answer
from specvino.conformance.session.steps import expect
from specvino.conformance.verdict import Failed, NotExercised


async def served_is_listed(session: Session, endpoint: str) -> None:
    """The model of this run is listed; or it is an alias of the only listed one, which then can be used."""
    listed = await session.send("models")
    require_answer(listed)
    names = _names(listed)
    if session.model in names:
        return
    if len(names) != 1:
        raise Failed(f"the model {session.model!r} is not among {', '.join(map(str, names[:20])) or 'none'}", listed)
    used = await session.send("chat", {**HELLO, "model": names[0]})
    if not used.ok:
        raise Failed(f"only {names[0]!r} is listed, which can't be used", listed, used)


async def listed_alike(session: Session, endpoint: str) -> None:
    """The list stays the same, and has no name twice."""
    first, second = await session.send("models"), await session.send("models")
    require_answer(first)
    require_answer(second)
    names = _names(first)
    if len(set(map(str, names))) < len(names):
        raise Failed(f"a name is listed twice: {', '.join(map(str, names))}", first)
    if sorted(map(str, names)) != sorted(map(str, _names(second))):
        raise Failed(f"the list is {names} and then {_names(second)}", first, second)


async def retrieved(session: Session, endpoint: str) -> None:
    """A model's object in the list is the one at its own path; slashes in the name may be encoded."""
    listed = await session.send("models")
    require_answer(listed)
    matches = [model for model in listed.answer.get("data", []) if model.get("id") == session.model]
    if not matches:
        raise NotExercised("the model of this run is not in the list")
    single = await _model(session, quote(session.model, safe=""))
    require_answer(single)
    for name in ("id", "object", "owned_by"):
        if name in matches[0] and name not in single.answer:
            raise Failed(f"GET {paths()['models']}/{session.model} has no {name}", listed, single)
        if single.answer.get(name) != matches[0].get(name):
            raise Failed(
                f"{name} is {matches[0].get(name)!r} in the list, but {single.answer.get(name)!r} alone", listed, single
            )


async def unknown_model(session: Session, endpoint: str, *, name: str) -> None:
    """A name that isn't served is refused at its own path, whatever characters it has, like any other unknown name."""
    await _require_paths(session)
    exchange = await _model(session, name)
    expect(exchange, {"refused": "unknown_model"}, session.dialect, "model")
    plain = await _model(session, "another-such-model")
    if exchange.error.get("code") != plain.error.get("code"):
        codes = [refusal.error.get("code") for refusal in (exchange, plain)]
        raise Failed(f"the code is {codes[0]!r}, but that of another unknown model {codes[1]!r}", exchange, plain)


async def unknown_model_named(session: Session, endpoint: str, *, name: str) -> None:
    """The error of a name that isn't served has the code for that, and names the parameter."""
    await _require_paths(session)
    expected = {"status": [404], "param": ["model"], "body": {"error.code": "model_not_found"}}
    expect(await _model(session, name), expected, session.dialect, "model")


async def _require_paths(session: Session) -> None:
    """Raises NotExercised if the model of this run has no path of its own, either."""
    served = await _model(session, quote(session.model, safe=""))
    if not served.ok:
        status = f"{served.status or served.ended}"
        raise NotExercised(f"the model that is served is answered {status}, so that no path is that of an unknown one")


async def _model(session: Session, name: str) -> Exchange:
    return await session.raw("GET", f"{paths()['models']}/{name}", endpoint="model")


def _names(listed: Exchange) -> list[object]:
    return [model.get("id") for model in listed.answer.get("data") or () if isinstance(model, dict)]
