"""What the scripted engine answers to constraints."""

import asyncio
from dataclasses import replace

import pytest
from support.conversation import answer, ask, text

from specvino.engine.errors import ConstraintError
from specvino.engine.request import Constraint, JsonSchema, StructuralTag
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Segment, Started


def answered(prompt: str, constraint: Constraint) -> list[Segment]:
    async def run() -> list[Segment]:
        engine = ScriptedEngine()
        await engine.start()
        return await answer(engine, replace(ask(prompt, n=2, temperature=1.0, seed=3), constraint=constraint))

    return asyncio.run(run())


def test_a_constraint_is_answered_with_a_short_example() -> None:
    constraint = JsonSchema({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]})
    segments = answered("hello there", constraint)
    assert [text(segments, choice) for choice in (0, 1)] == ['{"a": true}'] * 2


def test_what_is_not_enforced_is_said_at_the_start() -> None:
    assert Started(5 + 1, (("uniqueItems",),)) in answered(
        "hello there", JsonSchema({"type": "array", "uniqueItems": True})
    )


def test_a_constraint_that_can_not_be_had_is_refused() -> None:
    with pytest.raises(ConstraintError, match="not a valid JSON Schema"):
        answered("x", JsonSchema({"type": "nonsense"}))


def test_a_tag_with_room_for_any_text_changes_nothing() -> None:
    tag = StructuralTag({"type": "structural_tag", "format": {"type": "any_text"}})
    assert text(answered("hello there", tag)) == "hello there"
