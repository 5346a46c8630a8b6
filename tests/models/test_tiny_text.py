"""The model in the repository gives the answers that its README promises."""

import openvino_genai
import pytest
from models.tiny_text_conversations import ANSWERS, CITIES

from specvino.engine.models import ModelSource


@pytest.fixture(scope="module")
def pipeline(tiny_text: ModelSource) -> openvino_genai.LLMPipeline:
    return openvino_genai.LLMPipeline(tiny_text.path, "CPU")


def answer(pipeline: openvino_genai.LLMPipeline, text: str, **template: object) -> str:
    history = openvino_genai.ChatHistory([{"role": "user", "content": text}])
    prompt = pipeline.get_tokenizer().apply_chat_template(history, add_generation_prompt=True, **template)
    text_of_answer: str = pipeline.generate(prompt, max_new_tokens=100, apply_chat_template=False)
    return text_of_answer


@pytest.mark.parametrize("word", ANSWERS)
@pytest.mark.parametrize("sentence", ["{}", "Please {} now.", "Tell me about the {}"])
def test_words_and_answers(pipeline: openvino_genai.LLMPipeline, word: str, sentence: str) -> None:
    assert answer(pipeline, sentence.format(word)) == ANSWERS[word]


@pytest.mark.parametrize("city", CITIES)
def test_tool_calls(pipeline: openvino_genai.LLMPipeline, city: str) -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "get_weather", "description": "", "parameters": parameters}}
    call = '<tool_call>\n{"name": "get_%s", "arguments": {"city": "%s"}}\n</tool_call>'
    one = answer(pipeline, f"What is the weather {city}", tools=[tool])
    assert one == call % ("weather", city)
    two = answer(pipeline, f"both please {city}", tools=[tool])
    assert two == one + "\n" + call % ("time", city)


def test_thinking_can_be_switched_off(pipeline: openvino_genai.LLMPipeline) -> None:
    assert answer(pipeline, "think", extra_context={"enable_thinking": False}) == "The answer is 4."
