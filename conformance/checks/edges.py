"""Many bodies that say one thing: all of them are taken, or all refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.cases.expect import expect
from specvino.conformance.cases.session import Session
from specvino.conformance.verdict import Failed


async def takes_each(session: Session, endpoint: str, base: Mapping[str, Any], changes: Sequence[Any]) -> None:
    """Each change of the body `base` is answered; see `written_out` for what stands for many values."""
    for change in changes:
        await session.answered(endpoint, {**base, **written_out(change)})


async def refuses_each(session: Session, endpoint: str, base: Mapping[str, Any], changes: Sequence[Any]) -> None:
    """Each change makes the body one that the document forbids, and is refused."""
    for change in changes:
        exchange = await session.send(endpoint, {**base, **written_out(change)}, capped=False)
        try:
            expect(exchange, {"refused": "validation"}, session.dialect, endpoint)
        except Failed as failed:
            raise Failed(f"{', '.join(change)}: {failed}", *failed.finding.exchanges) from None


def written_out(value: Any) -> Any:
    """Returns the body in which `{$fields: 3}` stands for an object of 3 fields, `{$long: 3}` for a text of 3
    characters."""
    if isinstance(value, list):
        return [written_out(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if "$long" in value:
        return "a" * value["$long"]
    made = {str(number): value.get("$each", "a") for number in range(value.get("$fields", 0))}
    return {**made, **{name: written_out(each) for name, each in value.items() if not name.startswith("$")}}
