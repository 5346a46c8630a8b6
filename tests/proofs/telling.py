"""The tiny model, made to show more of a request: its own chat template and tokenizer have no place for most of it."""

import shutil
from pathlib import Path

import numpy
import openvino
from openvino_genai import Tokenizer
from openvino_tokenizers import _get_factory  # nothing public makes its operations

# Everything that a message can hold, as the user's words: the tiny model's own template has no place for most of it.
# The content "who" asks for the role: a word of which the model knows the answer.
TELLING = """{%- set words = {"user": "hello", "system": "emoji", "assistant": "capital", "tool": "yes"} %}
{%- for message in messages %}
    {{- '<|im_start|>user\n' }}
    {%- if message.name %}{{- message.name + ' ' }}{%- endif %}
    {%- if message.tool_call_id %}{{- message.tool_call_id + ' ' }}{%- endif %}
    {%- if message.reasoning_content %}{{- message.reasoning_content + ' ' }}{%- endif %}
    {%- if message.content %}{{- words[message.role] if message.content == "who" else message.content }}{%- endif %}
    {%- for call in message.tool_calls or [] %}
        {{- call.id + ' ' + call.function.name + ' ' + (call.function.arguments | tojson) }}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"""


def write(tiny_text: Path, folder: Path) -> None:
    """A model that sees all of a conversation, and whose tokenizer begins a text with a special token."""
    shutil.copytree(tiny_text, folder, dirs_exist_ok=True)
    tokenizer = openvino.Core().read_model(tiny_text / "openvino_tokenizer.xml")
    (token,) = Tokenizer(tiny_text).encode("<|im_start|>").input_ids.data[0]
    _begin_with(tokenizer, token)
    tokenizer.set_rt_info(TELLING, "chat_template")
    openvino.save_model(tokenizer, folder / "openvino_tokenizer.xml", compress_to_fp16=False)


def _begin_with(tokenizer: openvino.Model, token: int) -> None:
    """Puts a piece of one token before the text's, as the tokenizers of models with such a token have it."""
    (combine,) = (node for node in tokenizer.get_ops() if node.get_type_name() == "CombineSegments")
    *pieces, _ = (port.get_source_output() for port in combine.inputs())
    begin, end, ids, kinds = (_constant(values) for values in ([0], [1], [token], [0, 0]))
    longer = _get_factory().create("CombineSegments", [begin, end, ids, *pieces, kinds], {})
    for output, other in zip(combine.outputs(), longer.outputs(), strict=True):
        output.replace(other)
    tokenizer.validate_nodes_and_infer_types()


def _constant(values: list[int]) -> openvino.Output:
    return openvino.opset13.constant(numpy.array(values, numpy.int32)).output(0)
