"""Answers held to a form, by the real engine; and forms that can't be had cost nobody else anything."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from samples.judge import judge
from samples.schemas import SCHEMAS
from support import worker_requests
from support.conversation import answer, ask, reasons, text, until_text
from support.engines import Sharing, idle, running

from specvino.engine.errors import ConstraintError, EngineUnavailable
from specvino.engine.grammar import LoweredConstraint
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.messages.worker import Generate, LoadModel
from specvino.engine.openvino.worker import grammar_compiler
from specvino.engine.openvino.worker.pipeline import load
from specvino.engine.openvino.worker.scheduler import Scheduler
from specvino.engine.request import Constraint, GenerationRequest, JsonSchema, StructuralTag
from specvino.engine.segments import Started
from specvino.engine.structured_output import lower

if TYPE_CHECKING:
    from specvino.engine.openvino.worker.grammar_compiler import GrammarCompiler

MANY = {"max_tokens": 3000, "ignore_eos": True}

HELLO = "Hello! How can I help you today?"
CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "size": {"type": "integer", "minimum": 1, "maximum": 99},
    },
    "required": ["city", "size"],
}
# Takes minutes, or all memory.
BOMB = "((((((a|b){1,999}c?){1,999}d?){1,999}e?){1,999}f?){1,999}g?){1,999}"


def held(prompt: str, constraint: Constraint, n: int = 1, **sampling: Any) -> GenerationRequest:
    return replace(ask(prompt, n=n, **sampling), constraint=constraint)


def schema(value: Any, *, strict: bool = False) -> JsonSchema:
    return JsonSchema(value, strict)


def regex(pattern: str) -> StructuralTag:
    return StructuralTag({"type": "structural_tag", "format": {"type": "regex", "pattern": pattern}})


def own(grammar: str) -> StructuralTag:
    return StructuralTag({"type": "structural_tag", "format": {"type": "grammar", "grammar": grammar}})


def test_answers_satisfy_their_schemas(tiny_text: ModelSource, sharing: Sharing) -> None:
    """Several at a time, also drawn, also several choices of one request."""

    async def one(engine: OpenVINOEngine, value: dict[str, Any], few: asyncio.Semaphore) -> int:
        async with few:
            segments = await answer(engine, held("hello", schema(value), n=2, temperature=1.0, seed=1, max_tokens=300))
        whole = [text(segments, choice) for choice, reason in reasons(segments).items() if reason == "stop"]
        assert [written for written in whole if not judge(value)(written)] == []
        return len(whole)

    async def test(engine: OpenVINOEngine) -> None:
        few = asyncio.Semaphore(32)  # more would be refused
        finished = await asyncio.gather(*(one(engine, value, few) for _, value in SCHEMAS))
        assert sum(finished) > len(SCHEMAS)

    sharing(tiny_text, test)


def test_a_regular_expression(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        segments = await answer(engine, held("hello", regex("(yes|no), [0-9]{3}")))
        assert text(segments)[-3:].isdigit()
        assert reasons(segments) == {0: "stop"}

    sharing(tiny_text, test)


def test_what_is_not_enforced_is_said_at_the_start(tiny_text: ModelSource, sharing: Sharing) -> None:
    unique = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}

    async def test(engine: OpenVINOEngine) -> None:
        (started,) = [
            s for s in await answer(engine, held("hello", schema(unique), max_tokens=9)) if isinstance(s, Started)
        ]
        assert started.unenforced == (("uniqueItems",),)
        with pytest.raises(ConstraintError) as caught:
            await answer(engine, held("hello", schema(unique, strict=True)))
        assert caught.value.unsupported

    sharing(tiny_text, test)


def test_schemas_that_can_not_be_compiled_disturb_nobody(tiny_text: ModelSource, sharing: Sharing) -> None:
    """Twenty wrong ones and one that would take minutes: a request that runs meanwhile gets every token."""
    wrong: list[Constraint] = [schema({"type": f"nonsense {i}"}) for i in range(10)]
    wrong += [regex(f"({i}(") for i in range(10)]

    async def refused(engine: OpenVINOEngine, constraint: Constraint) -> str:
        with pytest.raises(ConstraintError) as caught:
            await answer(engine, held("hello", constraint))
        return str(caught.value)

    async def test(engine: OpenVINOEngine) -> None:
        alone = text(await answer(engine, ask("count", **MANY)))
        held_before = await answer(engine, held("hello", schema(CITY)))
        stream = asyncio.create_task(answer(engine, ask("count", **MANY)))
        reasons = await asyncio.gather(*(refused(engine, constraint) for constraint in (regex(BOMB), *wrong)))
        assert "counted repetitions have" in reasons[0]
        assert not any("counted" in reason for reason in reasons[1:])
        await stream
        assert text(stream.result()) == alone
        assert text(await answer(engine, ask("hello"))) == HELLO
        assert await answer(engine, held("hello", schema(CITY))) == held_before
        assert engine.stats().restarts == 0

    sharing(tiny_text, test)


def test_what_takes_too_much_computing_is_refused_and_remembered(tiny_text: ModelSource) -> None:
    """A client's own grammar, and a schema: each ends its process, whose other questions are answered."""
    lengths = {"type": "array", "prefixItems": [{"type": "string", "maxLength": i} for i in range(1, 2000)]}

    async def test(engine: OpenVINOEngine) -> None:
        await answer(engine, held("hello", own('root ::= "a"')))
        both: list[Constraint] = [own('root ::= s\ns ::= s s | [a-z] | ""'), schema(lengths)]
        for digit, hostile in enumerate(both):
            late = asyncio.create_task(answer(engine, held("hello", hostile)))
            await asyncio.sleep(0)
            behind = asyncio.gather(
                answer(engine, held("hello", own(f'root ::= "b{digit}"'))),
                answer(engine, held("hello", schema({"const": digit}))),
            )
            with pytest.raises(ConstraintError, match=r"takes more than 0\.8 s of computing"):
                await late
            assert [text(segments) for segments in await behind] == [f"b{digit}", f"{digit}"]
            restarts = engine.stats().restarts
            with pytest.raises(ConstraintError, match=r"takes more than 0\.8 s of computing"):
                await answer(engine, held("hello", hostile))
            assert engine.stats().restarts == restarts
        assert engine.stats().state == "ready"

    running(tiny_text, test, grammar_computing=0.8)


def test_what_crashes_the_compiler_is_refused_and_remembered(tiny_text: ModelSource) -> None:
    deep = own("root ::= " + "(" * 125_000 + '"a"' + ")" * 125_000)

    async def test(engine: OpenVINOEngine) -> None:
        for _ in range(2):
            with pytest.raises(ConstraintError, match="XGrammar crashes on it"):
                await answer(engine, held("hello", deep))
        assert engine.stats().restarts == 2
        assert text(await answer(engine, held("hello", own('root ::= "b"')))) == "b"

    running(tiny_text, test)


def test_those_behind_a_slow_schema_are_answered(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        await answer(engine, held("hello", schema(CITY)))
        os.kill(engine.pids["grammar"] or 0, signal.SIGSTOP)
        first = asyncio.create_task(answer(engine, held("hello", schema({"const": 1}))))
        behind = [asyncio.create_task(answer(engine, held("hello", schema({"const": 2})))) for _ in range(2)]
        with pytest.raises(EngineUnavailable, match="took more than 5 s") as caught:
            await first
        assert caught.value.retry_after > 0
        assert [text(await task) for task in behind] == ["2", "2"]
        # What the clock said is not remembered.
        assert text(await answer(engine, held("hello", schema({"const": 1})))) == "1"

    running(tiny_text, test, grammar_deadline=5.0)


def test_a_client_that_goes_away_leaves_no_trace(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        await answer(engine, held("hello", schema(CITY)))
        os.kill(engine.pids["grammar"] or 0, signal.SIGSTOP)
        waiting = asyncio.create_task(answer(engine, held("hello", schema({"const": 3}))))
        await asyncio.sleep(0)
        waiting.cancel()
        os.kill(engine.pids["grammar"] or 0, signal.SIGCONT)
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert text(await answer(engine, held("hello", schema({"const": 4})))) == "4"
        stream = engine.generate(held("hello", schema({"type": "string", "minLength": 2000})))
        await until_text(stream)
        await stream.aclose()
        await idle(engine)

    sharing(tiny_text, test)


def test_schemas_whose_clients_left_are_not_made(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        os.kill(engine.pids["grammar"] or 0, signal.SIGSTOP)
        leaving = [asyncio.create_task(answer(engine, held("hello", schema({"const": i})))) for i in range(10)]
        staying = asyncio.create_task(answer(engine, held("hello", schema({"const": 9}))))
        while len(engine._grammars._asked) < 10:  # noqa: ASYNC110 - only tests wait for it
            await asyncio.sleep(0.01)
        for task in leaving:
            task.cancel()
        await asyncio.wait(leaving)
        os.kill(engine.pids["grammar"] or 0, signal.SIGCONT)
        assert text(await staying) == "9"
        # The one that was being made, and the one that somebody else waited for.
        assert [json.loads(question.text) for question in engine._grammars._known] == [{"const": 0}, {"const": 9}]

    running(tiny_text, test)


def test_a_server_without_a_grammar_process_is_not_ready(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        os.kill(engine.pids["grammar"] or 0, signal.SIGKILL)
        while engine.stats().state != "restarting":  # noqa: ASYNC110 - only tests wait for it
            await asyncio.sleep(0)
        while engine.stats().state != "ready":  # noqa: ASYNC110 - only tests wait for it
            await asyncio.sleep(0.01)
        assert engine.stats().restarts == 1

    running(tiny_text, test)


def test_closing_ends_those_that_wait_for_a_grammar(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        await answer(engine, held("hello", schema(CITY)))
        os.kill(engine.pids["grammar"] or 0, signal.SIGSTOP)
        waiting = asyncio.create_task(answer(engine, held("hello", schema({"const": 3}))))
        await asyncio.sleep(0)
        await engine.close()
        with pytest.raises(EngineUnavailable):
            await waiting

    running(tiny_text, test)


def generate(id: int, lowered: LoweredConstraint, worker: Scheduler, client: str = "") -> Generate:
    ids = worker.pipeline.get_tokenizer().encode("hello").input_ids.data[0]
    return worker_requests.generate(id, ids.astype("int64").tobytes(), 50, lowered=lowered, client=client)


def test_a_grammar_that_fails_in_the_worker_alone_fails_its_request_alone(tiny_text: ModelSource) -> None:
    """None is known that does, but what raises within a step stops every request."""
    worker = Scheduler(load(LoadModel(str(tiny_text.path), 4)), 4)
    good = lower(schema({"const": "yes"}))
    worker.receive(generate(1, LoweredConstraint("grammar", "root ::= "), worker))
    worker.receive(generate(2, good, worker))
    outputs = []
    while not worker.idle:
        outputs += worker.step().outputs
    assert [output.id for output in outputs if output.error] == [1]
    assert [output.id for output in outputs if output.finish == "stop"] == [2]


def test_clients_take_turns_at_compiling(tiny_text: ModelSource) -> None:
    worker = Scheduler(load(LoadModel(str(tiny_text.path), 16)), 16)
    for id in range(8):
        worker.receive(generate(id, lower(schema({"const": id})), worker, client="many"))
    worker.receive(generate(8, lower(schema({"const": "one"})), worker, client="one"))
    ended: list[int] = []
    while not worker.idle:
        ended += [output.id for output in worker.step().outputs if output.finish]
    assert sorted(ended) == list(range(9))
    assert ended.index(8) <= 2, ended


def test_a_worker_that_keeps_too_many_grammars_is_renewed(
    tiny_text: ModelSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammar_compiler, "MOST_COMPILED", 2)
    settings = LoadModel(str(tiny_text.path), 4)
    worker = Scheduler(load(settings), 4)
    renewed = 0
    for id in range(5):
        worker.receive(generate(id, lower(schema({"const": id})), worker))
        outputs = []
        while not worker.idle:
            outputs += worker.step().outputs
        assert outputs[-1].finish == "stop"
        before: GrammarCompiler = worker._compiler
        worker.renew(lambda: load(settings))
        renewed += worker._compiler is not before
    assert renewed == 2


def test_the_process_that_makes_grammars_needs_no_openvino() -> None:
    """So it is there soon when it is replaced, which others wait for."""
    code = "import sys, specvino.engine.openvino.sandbox.grammar; sys.exit('openvino' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_is_tried_keeps_nobody_waiting(tiny_text: ModelSource, sharing: Sharing) -> None:
    """A client's own grammar waits for a process that stands still; schemas don't."""

    async def test(engine: OpenVINOEngine) -> None:
        assert text(await answer(engine, held("hello", own('root ::= "a"')))) == "a"
        os.kill(engine.pids["trial"] or 0, signal.SIGSTOP)
        waiting = asyncio.create_task(answer(engine, held("hello", own('root ::= "b"'))))
        assert text(await answer(engine, held("hello", schema({"const": 5})))) == "5"
        assert not waiting.done()
        os.kill(engine.pids["trial"] or 0, signal.SIGCONT)
        assert text(await waiting) == "b"

    sharing(tiny_text, test)
