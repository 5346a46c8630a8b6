"""Who has no key, or wants what belongs to another one."""

from soak.hostile.attacker import Attack, Attacker
from specvino.generated.errors import ErrorCode


async def without_a_key(attacker: Attacker) -> None:
    stranger = attacker.stranger
    _, end = await stranger.ask("no key", "chat", {"messages": [{"role": "user", "content": "hello"}]})
    _require(attacker, end.code == ErrorCode.INVALID_API_KEY, f"without a key: {end}")
    await stranger.ask("no key", "responses", {"input": "x" * 2**22})
    await stranger.ask("no key", None, path="//metrics")


async def of_another_key(attacker: Attacker) -> None:
    """Reads, continues, cancels and deletes what others keep."""
    for id in attacker.others[-3:]:
        one = f"/responses/{id}"
        for endpoint, method, path in (
            ("response", "GET", one),
            ("response_cancel", "POST", f"{one}/cancel"),
            ("response_deletion", "DELETE", one),
            ("response_input_items", "GET", f"{one}/input_items"),
        ):
            _, end = await attacker.caller.ask("of another key", endpoint, method=method, path=path)
            _require(attacker, end.outcome == "refused", f"{method} {path} of another key: {end}")
        _, end = await attacker.caller.ask(
            "of another key", "responses", {"input": "go on", "previous_response_id": id}
        )
        _require(attacker, end.outcome == "refused", f"continuing a response of another key: {end}")


async def ids_that_are_none(attacker: Attacker) -> None:
    for id in ("resp_" + "0" * 40, "..%2f..%2fetc%2fpasswd", "'%20or%201=1--", "x" * 2000):
        await attacker.caller.ask("ids that are none", "response", path=f"/responses/{id}")


async def paths_that_are_none(attacker: Attacker) -> None:
    for path in ("/nothing", "//openapi.json/x", "/chat/completions/..", "/" + "a" * 5000, "//metrics/x"):
        await attacker.stranger.ask("paths that are none", None, path=path)


def _require(attacker: Attacker, condition: bool, sentence: str) -> None:
    if not condition:
        attacker.caller.journal.fault(sentence)


ATTACKS: tuple[Attack, ...] = (without_a_key, of_another_key, ids_that_are_none, paths_that_are_none)
