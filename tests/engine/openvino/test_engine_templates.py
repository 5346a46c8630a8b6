"""Chat templates that aren't the model's own: those of requests, which are bounded, and those of its folder."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.conversation import answer, ask_all, conversation
from support.engines import Sharing, running
from support.templates import with_template

from specvino.engine.errors import PromptError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.request import Conversation, Image, Message, PlacedImage, Tool
from specvino.engine.segments import Started

OUT_OF_BOUNDS = "The chat template refuses these messages: It needs more than 1 s of computing or 512 MB of memory."


async def written(engine: OpenVINOEngine, prompt: Conversation) -> str:
    return await engine.detokenize(await engine.render(prompt, 1_000_000))


def bringing(template: str, *messages: Message) -> Conversation:
    return Conversation(messages or (Message("user", "hello"),), chat_template=template)


def test_a_template_of_the_request_is_rendered_in_a_process_of_its_own(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        assert engine.pids["template"] is None
        prompt = bringing("<{{ messages[0].content }}>{{ eos_token }}", Message("user", "a<|im_end|>b"))
        assert await written(engine, prompt) == "<a<|im_end|>b><|im_end|>"
        ids = await engine.render(prompt, 1_000_000)
        assert [await engine.detokenize([id]) for id in ids].count("<|im_end|>") == 1  # the template's own
        assert engine.pids["template"]

    running(tiny_text, test)


def test_images_have_their_places_in_it(tiny_vision: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        images = (PlacedImage(1, Image(1, 1, b"\0\0\0")),)
        prompt = bringing("{{ messages[0].content }}", Message("user", "\n\n", images=images))
        tokenized = await engine._preprocess.preprocess(prompt)
        assert tokenized.text == "\n<ov_genai_image_0>\n"

    sharing(tiny_vision, test)


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'abcdefgh' * 200000000 }}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 9 ** (9 ** 9) }}",
        "{% set ns = namespace(x='abcdefgh') %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    ],
)
def test_one_that_takes_too_much_is_refused(tiny_text: ModelSource, template: str) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        own = asyncio.create_task(written(engine, conversation("hello")))
        with pytest.raises(PromptError) as error:
            await engine.render(bringing(template), 1000)
        assert str(error.value) == OUT_OF_BOUNDS
        assert "hello" in await own
        assert await written(engine, bringing("{{ messages[0].content }}")) == "hello"
        assert engine.stats().state == "ready"

    running(tiny_text, test)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "RecursionError"),
        ("{% if %}", "line 1: Expected an expression"),
        ("{{ raise_exception('No ' + messages[0].content) }}", "No hello"),
        ("{{ 'x' * 20000000 }}", "It writes more than 16777216 characters."),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ '\\ud800' }}", "surrogates not allowed"),
    ],
)
def test_one_that_can_t_be_rendered_is_refused(
    tiny_text: ModelSource, template: str, reason: str, sharing: Sharing
) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        with pytest.raises(PromptError, match=r"^The chat template refuses these messages: ") as error:
            await engine.render(bringing(template), 1000)
        assert reason in str(error.value)

    sharing(tiny_text, test)


def test_innocent_ones_are_tried_again(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        guilty = asyncio.create_task(engine.render(bringing("{{ 9 ** (9 ** 9) }}"), 1000))
        innocent = [asyncio.create_task(written(engine, bringing("{{ messages[0].content }}"))) for _ in range(3)]
        assert await asyncio.gather(*innocent) == ["hello"] * 3
        with pytest.raises(PromptError):
            await guilty

    running(tiny_text, test)


TOOLS = (Tool("get_time"),)


def test_the_folder_s_templates_win(tiny_text: ModelSource, tmp_path: Path) -> None:
    model = with_template(tiny_text, tmp_path / "model", "own")
    named = [{"name": "default", "template": "named"}, {"name": "tool_use", "template": "named for tools"}]
    (model.path / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))

    async def test(engine: OpenVINOEngine) -> None:
        assert await written(engine, conversation("a")) == "named"
        assert await written(engine, replace(conversation("a"), tools=TOOLS)) == "named for tools"

    running(model, test)
    (model.path / "chat_template.jinja").write_text("file")
    (model.path / "additional_chat_templates").mkdir()
    (model.path / "additional_chat_templates" / "tool_use.jinja").write_text("file for tools")

    async def test_files(engine: OpenVINOEngine) -> None:
        assert await written(engine, conversation("a")) == "file"
        assert await written(engine, replace(conversation("a"), tools=TOOLS)) == "file for tools"

    running(model, test_files)

    async def test_given(engine: OpenVINOEngine) -> None:
        assert await written(engine, replace(conversation("a"), tools=TOOLS)) == "given"

    running(model, test_given, chat_template="given")


def test_what_a_template_lacks_is_told_at_the_start(
    tiny_text: ModelSource, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    template = "{% for m in messages %}{{ raise_exception('?') if m.role == 'system' }}{{ m.content }}{% endfor %}"

    async def test(engine: OpenVINOEngine) -> None:
        assert await written(engine, Conversation((Message("system", "a"), Message("user", "b")))) == "a\n\nb"

    with caplog.at_level("INFO", "specvino.engine.openvino.engine"):
        running(with_template(tiny_text, tmp_path / "model", template), test)
    assert f"{tmp_path / 'model'}: its chat template: it renders no tools" in caplog.messages


def test_a_model_whose_template_is_none_still_completes(
    tiny_text: ModelSource, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        with pytest.raises(PromptError, match="The model's chat template refuses these messages: line 1: "):
            await engine.render(conversation("a"), 1000)
        assert await engine.tokenize(["a"], add_special_tokens=False)

    running(with_template(tiny_text, tmp_path / "model", "{% if %}"), test)
    assert "its chat template can't be used: line 1: " in caplog.text


def test_what_a_template_doesn_t_show_is_told(tiny_text: ModelSource, tmp_path: Path) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        messages = (Message("user", "hello"), Message("assistant", "hi", reasoning="hm"), Message("user", "hello"))
        prompt = Conversation(messages, (Tool("f"),))
        started = (await answer(engine, ask_all(prompt, max_tokens=1)))[0]
        assert isinstance(started, Started)
        assert started.hidden == ("tools", "reasoning")

    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    running(with_template(tiny_text, tmp_path, template), test)
