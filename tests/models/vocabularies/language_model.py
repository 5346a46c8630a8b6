"""A language model with random weights for a vocabulary of any size: the layers of tiny_text, with other tables."""

from pathlib import Path

import numpy
import openvino
from openvino import opset13

_TINY_TEXT = Path(__file__).parents[1] / "tiny_text" / "openvino_model.xml"
_TABLE = "self.model.embed_tokens.weight"  # tiny_text has one for what goes in and what comes out


def language_model(size: int) -> openvino.Model:
    """Always the same one for a size.

    There are two tables: with a single one, a model that knows nothing repeats its last token for ever.
    """
    model = openvino.Core().read_model(_TINY_TEXT)
    (table,) = (node for node in model.get_ops() if node.get_friendly_name() == _TABLE)
    random = numpy.random.default_rng(0)
    _, width = table.get_output_shape(0)
    for target in sorted(table.output(0).get_target_inputs(), key=lambda target: target.get_node().get_type_name()):
        weights = random.standard_normal((size, width), numpy.float32).astype(numpy.float16)
        target.replace_source_output(opset13.convert(opset13.constant(weights), "f32").output(0))
    model.validate_nodes_and_infer_types()
    return model
