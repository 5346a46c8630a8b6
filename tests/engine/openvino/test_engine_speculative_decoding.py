"""Drafts change nothing but the speed, and no request can break a pipeline that makes them."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest
from openvino_genai import Tokenizer
from support import worker_requests
from support.conversation import answer, ask, completion_tokens, conversation, prompt_tokens, text
from support.engines import Sharing, idle, running

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.messages.worker import LONGEST_DRAFTED, Generate, LoadModel
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.openvino.worker.pipeline import load
from specvino.engine.openvino.worker.scheduler import Scheduler

QUESTIONS = ["hello", "count", "emoji", "json", "list", "think", "What is the capital of France?"]


def drafting(kind: str, source: ModelSource) -> dict[str, Any]:
    """The engine's setting; the model drafts for itself."""
    return {"draft_model": source} if kind == "draft_model" else {"prompt_lookup": True}


@pytest.mark.parametrize("kind", ["draft_model", "prompt_lookup"])
@pytest.mark.parametrize(
    "sampling",
    [
        {},
        {"num_assistant_tokens": 3},
        {"num_assistant_tokens": 1024, "max_ngram_size": 1},
        {"assistant_confidence_threshold": 0.5},
        {"assistant_confidence_threshold": 0.0},
        {"assistant_confidence_threshold": 1e-300, "max_tokens": 1},
        {"stop": ("o",), "include_stop_str_in_output": True},
        {"repetition_penalty": 1.5, "presence_penalty": 1},
    ],
)
def test_greedy_texts_are_those_without_drafts(
    tiny_text: ModelSource, sharing: Sharing, kind: str, sampling: dict[str, Any]
) -> None:
    texts: dict[str, str] = {}

    async def without(engine: OpenVINOEngine) -> None:
        assert engine.model.drafting is None
        assert engine.stats().accepted_drafts is None
        for question in QUESTIONS:
            texts[question] = text(await answer(engine, ask(question, **sampling)))

    async def test(engine: OpenVINOEngine) -> None:
        assert engine.model.drafting == kind
        assert engine.model.drafted_tokens == (LONGEST_DRAFTED if kind == "draft_model" else None)
        for question in QUESTIONS:
            assert text(await answer(engine, ask(question, **sampling))) == texts[question]
        await idle(engine)
        assert 0 <= (engine.stats().accepted_drafts or 0) <= engine.generated_tokens

    sharing(tiny_text, without)
    sharing(tiny_text, test, **drafting(kind, tiny_text))


def test_drafts_of_the_model_itself_are_accepted(tiny_text: ModelSource) -> None:
    """A step for the prompt gives one token; the others give five drafts each, and what follows them."""

    async def test(engine: OpenVINOEngine) -> None:
        segments = await answer(engine, ask("count", num_assistant_tokens=5, max_tokens=37, ignore_eos=True))
        assert completion_tokens(segments) == engine.generated_tokens == 37
        assert engine.stats().accepted_drafts == 30

    running(tiny_text, test, draft_model=tiny_text)


@pytest.mark.parametrize("kind", ["draft_model", "prompt_lookup"])
def test_logprobs_come_with_speculative_decoding(tiny_text: ModelSource, sharing: Sharing, kind: str) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        for echo in (False, True):
            segments = await answer(engine, replace(ask("count " * 90), logprobs=True, echo=echo))
            tokens = [token for s in segments for token in getattr(s, "logprobs", ())]
            prompt = prompt_tokens(segments) if echo else 0
            assert len(tokens) == completion_tokens(segments) + prompt
            joined = "".join(token.text for token in tokens[prompt:])
            assert joined == text(segments)

    sharing(tiny_text, test, **drafting(kind, tiny_text))


def test_a_draft_of_several_tokens_saves_steps(tiny_text: ModelSource) -> None:
    preprocessor = Preprocessor(Tokenizer(tiny_text.path))
    steps = {}
    for draft in (None, str(tiny_text.path)):
        settings = LoadModel(str(tiny_text.path), 4, draft_path=draft)
        worker = Scheduler(load(settings), 4, drafting=settings.drafting)
        worker.receive(request(preprocessor, 1, num_assistant_tokens=5))
        steps[draft] = 0
        while not worker.idle:
            worker.step()
            steps[draft] += 1
    assert steps[str(tiny_text.path)] * 2 < steps[None]


@pytest.mark.parametrize("kind", ["draft_model", "prompt_lookup", None])
def test_no_mixture_of_settings_breaks_the_pipeline(tiny_text: ModelSource, kind: str | None) -> None:
    # Each of them is what the server lets pass.
    chance = random.Random(7)
    preprocessor = Preprocessor(Tokenizer(tiny_text.path))
    path = str(tiny_text.path)
    settings = LoadModel(
        path, 64, draft_path=path if kind == "draft_model" else None, prompt_lookup=kind == "prompt_lookup"
    )
    worker = Scheduler(load(settings), 64, drafting=settings.drafting)
    finished = 0
    for id in range(0, 20 * 60, 20):
        worker.receive(request(preprocessor, id, **mixture(chance, search=kind is None)))
        for _ in range(chance.choice([0, 1, 5])):
            finished += sum(output.finish is not None for output in worker.step().outputs)
    while not worker.idle:
        outputs = worker.step().outputs
        assert [output.error for output in outputs if output.error] == []
        finished += sum(output.finish is not None for output in outputs)
    assert finished >= 60


def mixture(chance: random.Random, *, search: bool) -> dict[str, Any]:
    best_of = chance.choice([1, 1, 2, 20]) if search else 1
    penalties = {
        "frequency_penalty": chance.choice([-2, 0, 2]),
        "presence_penalty": chance.choice([-2, 0, 2]),
        "repetition_penalty": chance.choice([0.01, 1, 100]),
    }
    drafts: list[dict[str, Any]] = [
        {},
        {"num_assistant_tokens": chance.choice([1, 5, 1024])},
        {"assistant_confidence_threshold": chance.choice([0.0, 1e-300, 0.4, 1.0])},
    ]
    return {
        "question": " ".join(chance.choices(QUESTIONS, k=chance.choice([1, 4, 40]))),
        "max_new_tokens": chance.choice([1, 2, 7, 60]),
        "temperature": chance.choice([0, 1e-9, 0.3, 2]),
        "top_p": chance.choice([0, 1e-9, 0.5, 1]),
        "top_k": chance.choice([-1, 1, 40]),
        "min_p": chance.choice([0, 0.1, 1 - 1e-12]),
        "seed": chance.choice([0, 2**64 - 1]),
        "ignore_eos": chance.random() < 0.3,
        "best_of": best_of,
        "n": chance.randint(1, best_of),
        "length_penalty": chance.choice([-100, 0, 1, 100]),
        "logprobs": chance.random() < 0.5,
        "max_ngram_size": chance.choice([None, 1, 1024]),
        **({} if best_of > 1 else penalties),
        **chance.choice(drafts),
    }


def request(preprocessor: Preprocessor, id: int, question: str = "count", **settings: Any) -> Generate:
    settings = {"max_new_tokens": 60, **settings}
    return worker_requests.generate(id, preprocessor.preprocess(conversation(question)), **settings)


def test_a_draft_model_of_another_vocabulary(tiny_text: ModelSource, smollm2: ModelSource) -> None:
    async def load() -> None:
        with pytest.raises(
            ModelLoadError, match=r"1,000 tokens, but \S+ scores 49,152: a draft model must have the vo"
        ):
            await OpenVINOEngine(smollm2, draft_model=tiny_text).start()

    asyncio.run(load())


def test_requests_together(tiny_text: ModelSource) -> None:
    # Long prompts among them: with less room in a step, texts would be wrong or the step raise (draft_budget.py). Their
    # answers are no near ties, which the company of others could change (decision 050).
    questions = [*QUESTIONS, "hello " * 60, "hello " * 90]

    async def test(engine: OpenVINOEngine) -> None:
        alone = {question: text(await answer(engine, ask(question))) for question in questions}
        asked = questions * 8
        answers = await asyncio.gather(*(answer(engine, ask(question, num_assistant_tokens=31)) for question in asked))
        assert [text(segments) for segments in answers] == [alone[question] for question in asked]
        await idle(engine)

    for kind in ("draft_model", "prompt_lookup"):
        running(tiny_text, test, **drafting(kind, tiny_text))


@pytest.mark.parametrize("kind", ["draft_model", "prompt_lookup"])
def test_a_least_length_is_kept_beside_drafts(tiny_text: ModelSource, kind: str) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        request = ask("hello", max_tokens=60, min_tokens=50)
        assert completion_tokens(await answer(engine, replace(request, n=2))) >= 100
        assert "full_logits" in engine.pids

    running(tiny_text, test, **drafting(kind, tiny_text))
