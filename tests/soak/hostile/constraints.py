"""Schemas and grammars that cost, of which nothing is remembered: each is a new one."""

import asyncio
from typing import Any

from soak.hostile.attacker import Attack, Attacker

_BOMB = "((((((a|b){1,999}c?){1,999}d?){1,999}e?){1,999}f?){1,999}g?){1,999}"


async def heavy_schemas_whose_clients_leave(attacker: Attacker) -> None:
    async def one() -> None:
        names = [f"{attacker.unique()}_{number}" for number in range(3500)]
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        await attacker.chat("heavy schemas", response_format=_schema(schema), leave_at=1.0)

    await asyncio.gather(*(one() for _ in range(6)))


async def schemas(attacker: Attacker) -> None:
    """Many small ones, refused and allowed, so that what is remembered is full."""
    name = attacker.unique()
    for number in range(20):
        await attacker.chat("schemas", response_format=_schema({"const": f"{name}{number}"}))
        await attacker.chat("schemas", response_format=_schema({"type": f"{name}{number}"}))


async def an_ambiguous_grammar(attacker: Attacker) -> None:
    grammar = f'root ::= s\ns ::= s s | [a-z] | "" | "{attacker.unique()}"'
    await attacker.chat("an ambiguous grammar", response_format=_tag({"type": "grammar", "grammar": grammar}))


async def nested_brackets(attacker: Attacker) -> None:
    """Crash the compiler."""
    grammar = "root ::= " + "(" * 90_000 + f'"{attacker.unique()}"' + ")" * 90_000
    await attacker.chat("nested brackets", response_format=_tag({"type": "grammar", "grammar": grammar}))


async def counted_repetitions(attacker: Attacker) -> None:
    pattern = f"{attacker.unique()}{_BOMB}"
    await attacker.chat("counted repetitions", response_format=_tag({"type": "regex", "pattern": pattern}))
    await attacker.chat("counted repetitions", response_format=_schema({"type": "string", "pattern": pattern}))


async def a_schema_that_is_never_done(attacker: Attacker) -> None:
    endless = {"type": "array", "items": {"type": "string", "minLength": 200}, "title": attacker.unique()}
    body = {"response_format": _schema(endless), "max_tokens": 300, "stream": True}
    await attacker.chat("a schema that is never done", **body, leave_after=20)


def _schema(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}


def _tag(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


ATTACKS: tuple[Attack, ...] = (
    heavy_schemas_whose_clients_leave,
    schemas,
    an_ambiguous_grammar,
    nested_brackets,
    counted_repetitions,
    a_schema_that_is_never_done,
)
