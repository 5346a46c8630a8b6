"""Prompts with images, in the pipeline of a vision-language model.

The pipeline takes the prompt as text and counts its tokens, including images: it reports whether the prompt fits when
the request is added, and the number of tokens when it has ended (GenAI 2026.4.1, decisions 019, 020).
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy
import openvino
from openvino_genai import ContinuousBatchingPipeline, GenerationConfig

from specvino.engine.openvino.messages.worker import Generate, Refusal, VisionPrompt
from specvino.engine.request import Image

if TYPE_CHECKING:
    from openvino_genai.py_openvino_genai import GenerationHandle

_UNBOUNDED = GenerationConfig().max_new_tokens


# What GenAI 2026.4.1 raises if a prompt's tags of images aren't those of its images (decision 019): `stoul` where the
# number of a tag is too large.
_TAGS = re.compile("(?i:image|vision) tags|image/video with index|older images/videos|pad tokens in prompt|^stoul$")


class Refused(Exception):
    """The pipeline can't take the prompt."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason


def add(
    pipeline: ContinuousBatchingPipeline,
    request: Generate,
    vision_prompt: VisionPrompt,
    images: Sequence[Image],
    config: GenerationConfig,
) -> "GenerationHandle":
    """Adds a request to the pipeline of a vision-language model. Raises Refused, and the pipeline's errors."""
    config.apply_chat_template = False  # the prompt is rendered already
    if not images:
        return _add(pipeline, request.id, vision_prompt.text, [], config)
    tensors = [openvino.Tensor(_pixels(image)) for image in images]
    # GenAI 2026.4.1 requires the prompt to be shorter than this; as a limit of the answer it is ignored if
    # max_new_tokens is set.
    config.max_length = vision_prompt.context_length - request.max_new_tokens + 1
    try:
        return _add(pipeline, request.id, vision_prompt.text, tensors, config)
    except Refused as refused:
        if refused.reason != "too_long" or not vision_prompt.yields:
            raise
    config.max_new_tokens, config.max_length = _UNBOUNDED, vision_prompt.context_length
    return _add(pipeline, request.id, vision_prompt.text, tensors, config)


def prompt_tokens(handle: "GenerationHandle") -> int:
    """Returns the number of tokens of the prompt of a request that has ended."""
    count: int = handle.get_perf_metrics().get_num_input_tokens()
    return count


def _add(
    pipeline: ContinuousBatchingPipeline,
    id: int,
    text: str,
    tensors: list[openvino.Tensor],
    config: GenerationConfig,
) -> "GenerationHandle":
    try:
        return pipeline.add_request(id, text, tensors, config) if tensors else pipeline.add_request(id, text, config)
    except (RuntimeError, IndexError) as error:
        if "'max_length' must be greater" in str(error):
            raise Refused("too_long") from error
        if _TAGS.search(str(error)):
            raise Refused("image_tags") from error
        raise


def _pixels(image: Image) -> "numpy.typing.NDArray[numpy.uint8]":
    return numpy.frombuffer(image.rgb, numpy.uint8).reshape(image.height, image.width, 3)
