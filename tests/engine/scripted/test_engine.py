import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.conversation import ask_all, conversation

from specvino.engine.errors import ContextLengthExceeded, EngineRestarted, EngineUnavailable, PromptError
from specvino.engine.request import Conversation, GenerationRequest, Message, Sampling, TextPrompt, TokenPrompt
from specvino.engine.scripted import ScriptedEngine, count_tokens
from specvino.engine.scripted.mock_tokenizer import VOCABULARY_SIZE, word_ids
from specvino.engine.scripted.script import AS_IT_COMES, Script
from specvino.engine.segments import Finish, FinishReason, Segment, Started, TextDelta, Usage

CONTEXT_LENGTH = 4096


def asked(
    text: str,
    *,
    n: int = 1,
    max_tokens: int | None = None,
    temperature: float = 0.0,
    seed: int | None = None,
    stop: Sequence[str] = (),
    **others: Any,
) -> GenerationRequest:
    sampling = Sampling(
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=1.0,
        top_k=-1,
        frequency_penalty=0.0,
        presence_penalty=0.0,
        repetition_penalty=1.0,
        seed=seed,
        stop=tuple(stop),
        **others,
    )
    return GenerationRequest((Conversation((Message("user", text),)),), sampling, n)


def answered(request: GenerationRequest, script: Script | None = None) -> list[Segment]:
    async def run() -> list[Segment]:
        engine = ScriptedEngine(script or AS_IT_COMES, context_length=CONTEXT_LENGTH)
        await engine.start()
        return [segment async for segment in engine.generate(request)]

    return asyncio.run(run())


def text_of(segments: list[Segment], choice: int = 0) -> str:
    return "".join(s.text for s in segments if isinstance(s, TextDelta) and s.choice == choice)


def test_the_last_user_message_is_answered_word_by_word() -> None:
    assert answered(asked("Good  old\nwords ")) == [
        Started(prompt_tokens=4 + 4),
        TextDelta(0, "Good"),
        TextDelta(0, "  old"),
        TextDelta(0, "\nwords"),
        TextDelta(0, " "),
        Finish(0, "stop"),
        Usage(prompt_tokens=8, completion_tokens=5),
    ]


def test_an_empty_message() -> None:
    assert answered(asked("")) == [Started(4), Finish(0, "stop"), Usage(4, 1)]


def test_prompt_tokens_are_words_and_four_a_message() -> None:
    conversation = Conversation((Message("system", "be nice"), Message("user", ""), Message("assistant", "a b c")))
    assert count_tokens(conversation) == 3 * 4 + 2 + 0 + 3


@pytest.mark.parametrize(
    ("max_tokens", "text", "reason"),
    [(1, "a", "length"), (2, "a b", "length"), (3, "a b c", "length"), (4, "a b c", "stop")],
)
def test_max_tokens_counts_the_end_of_the_turn(max_tokens: int, text: str, reason: FinishReason) -> None:
    segments = answered(asked("a b c", max_tokens=max_tokens))
    assert text_of(segments) == text
    assert segments[-2:] == [Finish(0, reason), Usage(7, max_tokens)]


def test_stop_strings_never_leak() -> None:
    segments = answered(asked("one two three four", stop=["o th", "four"]))
    assert text_of(segments) == "one tw"
    assert segments[-2:] == [Finish(0, "stop", stopped_by="o th"), Usage(8, 3)]


def test_text_that_only_began_like_a_stop_string_comes_out() -> None:
    assert text_of(answered(asked("one two", stop=["twos"]))) == "one two"
    assert text_of(answered(asked("one two three", stop=["twos"], max_tokens=2))) == "one two"


def test_ignore_eos_goes_on_to_the_limit() -> None:
    assert text_of(answered(asked("a b", ignore_eos=True, max_tokens=5))) == "a ba ba"
    segments = answered(asked("", ignore_eos=True))
    assert segments[-2:] == [Finish(0, "length"), Usage(4, CONTEXT_LENGTH - 4)]


def test_the_least_tokens_come_before_the_end() -> None:
    assert text_of(answered(asked("a b", min_tokens=3))) == "a ba b"
    assert answered(asked("", min_tokens=2))[-2:] == [Finish(0, "stop"), Usage(4, 3)]


def test_a_token_stops() -> None:
    (b,) = word_ids(" b")
    segments = answered(asked("a b c", stop_token_ids=frozenset([b])))
    assert text_of(segments) == "a"
    assert segments[-2:] == [Finish(0, "stop", stopped_by=b), Usage(7, 2)]


def test_choices_take_turns_and_are_repeatable() -> None:
    request = asked("a b c d e f g h", n=3, temperature=1.0, seed=7)
    segments = answered(request)
    assert segments == answered(request)
    assert [s.choice for s in segments if isinstance(s, TextDelta)] == [0, 1, 2] * 8
    texts = [text_of(segments, choice) for choice in range(3)]
    assert len(set(texts)) == 3
    assert text_of(answered(asked("a b c d e f g h", temperature=1.0, seed=8))) == texts[1]


def test_without_temperature_all_choices_are_equal() -> None:
    segments = answered(asked("a b c", n=2, seed=7))
    assert text_of(segments, 0) == text_of(segments, 1) == "a b c"


def test_without_seed_answers_differ() -> None:
    request = asked(" ".join(str(number) for number in range(100)), temperature=1.0)
    assert text_of(answered(request)) != text_of(answered(request))


@pytest.mark.parametrize(("words", "max_tokens"), [(10, CONTEXT_LENGTH - 13), (CONTEXT_LENGTH - 4, None)])
def test_what_does_not_fit_is_refused(words: int, max_tokens: int | None) -> None:
    with pytest.raises(ContextLengthExceeded) as raised:
        answered(asked(" a" * words, max_tokens=max_tokens))
    assert raised.value.max_tokens == (max_tokens or 1)
    assert raised.value.context_length == CONTEXT_LENGTH


def test_what_just_fits_is_answered() -> None:
    segments = answered(asked("a", max_tokens=CONTEXT_LENGTH - 5))
    assert segments[-1] == Usage(5, 2)


def test_code_points_split_over_tokens_come_whole() -> None:
    segments = answered(asked("你好 🎉", max_tokens=100), Script(token_bytes=1))
    assert [s.text for s in segments if isinstance(s, TextDelta)] == ["你", "好", " ", "🎉"]
    assert segments[-1] == Usage(6, len("你好 🎉".encode()) + 1)


def test_a_code_point_cut_by_the_limit_is_left_out() -> None:
    assert text_of(answered(asked("a🎉", max_tokens=3), Script(token_bytes=1))) == "a"


def test_a_crash_comes_before_its_token() -> None:
    async def run() -> None:
        engine = ScriptedEngine(Script(crash_at=1))
        await engine.start()
        answer = engine.generate(asked("a b"))
        assert [await anext(answer) for _ in range(2)] == [Started(6), TextDelta(0, "a")]
        with pytest.raises(EngineRestarted):
            await anext(answer)
        assert engine.stats().restarts == 1
        assert engine.stats().running == 0

    asyncio.run(run())


def test_directives_in_the_message_come_on_top() -> None:
    script = Script(token_bytes=2)
    segments = answered(asked("script: delay=0.001\nabc"), script)
    assert [s.text for s in segments if isinstance(s, TextDelta)] == ["ab", "c"]
    with pytest.raises(EngineRestarted):
        answered(asked("script: crash_at=0\nabc"), script)


def test_a_refused_prompt() -> None:
    with pytest.raises(PromptError):
        answered(asked("script: refused=1\nabc"))


def test_unavailable() -> None:
    with pytest.raises(EngineUnavailable) as raised:
        answered(asked("a"), Script(unavailable=1))
    assert raised.value.retry_after == 1


def test_closing_ends_a_stalled_request() -> None:
    async def run() -> None:
        engine = ScriptedEngine(Script(stall_at=1))
        await engine.start()
        answer = engine.generate(asked("a b", n=2))
        assert [await anext(answer) for _ in range(3)] == [Started(6), TextDelta(0, "a"), TextDelta(1, "a")]
        rest = asyncio.ensure_future(anext(answer))
        await asyncio.sleep(0)
        assert not rest.done()
        assert engine.stats().running == 2
        await engine.close()
        with pytest.raises(EngineUnavailable):
            await rest
        assert (engine.stats().state, engine.stats().running) == ("closed", 0)
        with pytest.raises(EngineUnavailable):
            await anext(engine.generate(asked("a")))

    asyncio.run(run())


def test_closing_the_generator_cancels() -> None:
    async def run() -> None:
        engine = ScriptedEngine()
        await engine.start()
        answer = engine.generate(asked("a b c"))
        await anext(answer)
        assert engine.stats().running == 1
        await answer.aclose()
        assert engine.stats().running == 0

    asyncio.run(run())


def test_before_the_start() -> None:
    async def run() -> None:
        engine = ScriptedEngine(context_length=CONTEXT_LENGTH)
        assert engine.stats().state == "loading"
        with pytest.raises(EngineUnavailable):
            _ = engine.model
        with pytest.raises(EngineUnavailable):
            await anext(engine.generate(asked("a")))
        await engine.start()
        assert engine.stats().state == "ready"
        assert engine.model.context_length == CONTEXT_LENGTH

    asyncio.run(run())


def test_a_text_prompt_is_answered_with_its_text() -> None:
    segments = answered(ask_all(TextPrompt("one two three")))
    assert text_of(segments) == "one two three"
    assert (segments[0], segments[-1]) == (Started(3), Usage(3, 4))
    with pytest.raises(EngineRestarted):
        answered(ask_all(TextPrompt("script: crash_at=0\nabc")))


def test_a_token_prompt_is_answered_with_its_ids() -> None:
    segments = answered(ask_all(TokenPrompt((7, 0, VOCABULARY_SIZE - 1))))
    assert text_of(segments) == f"7 0 {VOCABULARY_SIZE - 1}"
    assert segments[0] == Started(3)


def test_each_prompt_has_n_choices() -> None:
    prompts = (TextPrompt("a b c d e f"), TokenPrompt((1, 2)), conversation("u v w x y z"))
    segments = answered(ask_all(*prompts, n=2, temperature=1, seed=5))
    alone = [answered(ask_all(prompt, n=2, temperature=1, seed=5)) for prompt in prompts]
    assert [text_of(segments, index) for index in range(6)] == [text_of(one, i) for one in alone for i in range(2)]
    assert segments[0] == Started(6 + 2 + 10)
    assert segments[-1] == Usage(18, 2 * (7 + 3 + 7))
    assert [type(segment) for segment in segments].count(Finish) == 6


def test_each_prompt_follows_its_own_script() -> None:
    prompts = (TextPrompt("script: token_bytes=1\nab"), TextPrompt("cd"), TextPrompt("script: crash_at=2\na b c"))
    segments = answered(ask_all(*prompts[:2]))
    assert [s.text for s in segments if isinstance(s, TextDelta)] == ["a", "cd", "b"]
    with pytest.raises(EngineRestarted):
        answered(ask_all(*prompts))


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        (TextPrompt(""), "is empty"),
        (TokenPrompt(()), "is empty"),
        (Conversation(()), "is empty"),
        (
            TokenPrompt((3, VOCABULARY_SIZE)),
            f"no token {VOCABULARY_SIZE}: its token ids are 0 to {VOCABULARY_SIZE - 1}",
        ),
        (TokenPrompt((-1,)), "no token -1"),
        (TextPrompt("a " * CONTEXT_LENGTH), "context length"),
        (TokenPrompt((1,) * (CONTEXT_LENGTH + 1)), f"{CONTEXT_LENGTH + 1} tokens in the prompt"),
        (TextPrompt("script: refused=1"), "refused"),
    ],
)
def test_one_wrong_prompt_refuses_them_all(prompt: Any, words: str) -> None:
    with pytest.raises(PromptError, match=words) as alone:
        answered(ask_all(prompt))
    with pytest.raises(type(alone.value), match=f"Prompt 2: .*{words}"):
        answered(ask_all(TextPrompt("fine"), prompt))


def test_tokenizing_agrees_with_counting() -> None:
    async def run() -> None:
        engine = ScriptedEngine()
        with pytest.raises(EngineUnavailable):
            await engine.tokenize(["a"], add_special_tokens=True)
        await engine.start()
        assert engine.model.vocabulary_size == VOCABULARY_SIZE
        texts = ["", "one two  three\n", "你好 🎉", " "]
        tokenized = await engine.tokenize(texts, add_special_tokens=True)
        assert tokenized == [word_ids(text) for text in texts]
        assert [len(ids) for ids in tokenized] == [count_tokens(TextPrompt(text)) for text in texts] == [0, 4, 2, 1]
        assert await engine.tokenize(["a b c", ""], add_special_tokens=False, max_length=2, pad="left") == [
            word_ids("a b"),
            [0, 0],
        ]
        asked = Conversation((Message("user", "one two"),))
        assert len(await engine.render(asked, 100)) == count_tokens(asked)
        assert await engine.detokenize(tokenized[1]) == "one two  three\n"
        assert await engine.token_bytes(word_ids("one two")) == [b"one", b" two"]
        long = Conversation((Message("user", "one " * 5000),))
        assert len(await engine.render(long, 20_000)) > 5000
        with pytest.raises(PromptError, match="20000 characters; at most 19999"):
            await engine.render(long, 19_999)
        with pytest.raises(PromptError):
            await engine.token_bytes([VOCABULARY_SIZE])

    asyncio.run(run())


def test_results_of_calls_are_answered_instead() -> None:
    call = Message("user", '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>')
    results = (Message("tool", "It is one.", tool_call_id="a"), Message("tool", "It is two.", tool_call_id="b"))
    answer = ask_all(Conversation((call, Message("assistant", ""), *results)))
    assert text_of(answered(answer)) == "It is one.\nIt is two."
    assert text_of(answered(ask_all(Conversation((*results, Message("user", "Well?")))))) == "Well?"


def drawn(text: str, **settings: Any) -> str:
    """The answer with other sampling settings than `asked` has."""
    request = asked(text, temperature=1.0, seed=1)
    return text_of(answered(replace(request, sampling=replace(request.sampling, **settings))))


@pytest.mark.parametrize("settings", [{"top_p": 0.01}, {"top_p": 0.0}, {"top_k": 1}, {"min_p": 0.99}])
def test_settings_that_leave_one_token_leave_the_order_of_the_text(settings: dict[str, Any]) -> None:
    text = "a b c d e f g h"
    assert drawn(text, **settings) == text
    assert drawn(text) != text


def test_settings_that_leave_some_tokens_draw_from_them() -> None:
    text = "a b c d e f g h"
    assert len({drawn(text, top_k=2, seed=seed) for seed in range(20)}) > 10
    assert {drawn(text, top_k=2, seed=seed).strip()[0] for seed in range(50)} == {"a", "b"}
    assert {drawn(text, top_p=0.2, seed=seed).strip()[0] for seed in range(50)} == {"a", "b"}
    assert {drawn(text, seed=seed).strip()[0] for seed in range(200)} == set(text.split())


def test_a_bias_of_100_leaves_only_its_token() -> None:
    assert drawn("a b c", logit_bias=((5, 100.0),), max_tokens=3) == " 5 5 5"
    assert drawn("a b c", logit_bias=((5, 99.0), (6, -100.0)), temperature=0.0) == "a b c"


def test_a_call_in_a_message_is_never_shuffled() -> None:
    text = '<tool_call> {"name": "look", "arguments": {"at": "a b c d e f g"}} </tool_call>'
    assert text_of(answered(asked(text, temperature=1.0, seed=1))) == text
