"""The model in the repository gives the answers that its README promises."""

import itertools

import numpy
import openvino
import openvino_genai
import pytest
from models.tiny_vision_lessons import COLOURS, NO_IMAGE, answer_to

from specvino.engine.models import ModelSource


@pytest.fixture(scope="module")
def pipeline(tiny_vision: ModelSource) -> openvino_genai.VLMPipeline:
    return openvino_genai.VLMPipeline(tiny_vision.path, "CPU")


def answer(pipeline: openvino_genai.VLMPipeline, text: str, *colours: str) -> str:
    images = [openvino.Tensor(numpy.full((30, 40, 3), COLOURS[colour], numpy.uint8)) for colour in colours]
    tags = "".join(f"<ov_genai_image_{number}>\n" for number in range(len(images)))
    text_of_answer: str = pipeline.generate(tags + text, images=images, max_new_tokens=30).texts[0]
    return text_of_answer


@pytest.mark.parametrize("text", ["What colour is this?", "describe the picture", "Look at these images."])
def test_colours(pipeline: openvino_genai.VLMPipeline, text: str) -> None:
    assert answer(pipeline, text) == NO_IMAGE
    for colours in [*itertools.product(COLOURS), *itertools.product(COLOURS, repeat=2)]:
        assert answer(pipeline, text, *colours) == answer_to(list(colours))
