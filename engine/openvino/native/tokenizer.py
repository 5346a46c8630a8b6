"""A model's tokenizer, whose vocabulary has the bytes of its tokens.

GenAI 2026.4.1 passes the detokenizer's token names to grammars as if they were the tokens' bytes. In SentencePiece
vocabularies they aren't: "▁" is a space there, and <0x0A> one byte. With such names JSON couldn't contain a space, and
a string could contain a line break. So the names in the detokenizer are replaced by the bytes before GenAI reads it
(decision 016).
"""

import re
import tempfile
from pathlib import Path

import numpy
import openvino
from openvino import opset13
from openvino_genai import Tokenizer

_FILE = "openvino_detokenizer.xml"
_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
_SPACE = "▁".encode()


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Loads the tokenizer of an OpenVINO folder or a .gguf file. Raises RuntimeError for one without an accessible
    vocabulary."""
    own = Path(path) / _FILE
    if own.is_file() and b'type="SentencepieceDetokenizer"' in own.read_bytes():
        # Its control tokens, which users mustn't forge, would be unknown, and grammars wouldn't work.
        raise RuntimeError(
            "its tokenizer is SentencePiece's own code, whose vocabulary isn't accessible; convert it again with a "
            "newer openvino-tokenizers, without use_sentencepiece_backend"
        )
    return corrected(path) or Tokenizer(path)


def corrected(path: str | Path) -> Tokenizer | None:
    """Returns the tokenizer if it differs from the one that GenAI would load by itself."""
    own = Path(path) / _FILE
    # Without byte tokens, all names are the tokens' bytes.
    if not own.is_file() or b'type="ByteFallback"' not in own.read_bytes():
        return None
    import openvino_tokenizers  # noqa: F401 - registers tokenizer operations with OpenVINO; imported only where needed

    detokenizer = openvino.Core().read_model(own)
    if not _name_by_bytes(detokenizer):
        return None
    with tempfile.TemporaryDirectory() as folder:
        for file in own.parent.iterdir():
            if file.stem != own.stem:
                (Path(folder) / file.name).symlink_to(file.absolute())
        openvino.save_model(detokenizer, Path(folder) / _FILE)
        return Tokenizer(folder)


def _name_by_bytes(detokenizer: openvino.Model) -> bool:
    """Replaces the tokens' names by their bytes, and removes the steps that would convert the names.

    Returns False, and changes nothing, if the detokenizer has other steps.
    """
    vocabulary = _only(detokenizer, "VocabDecoder")
    fallback = _only(detokenizer, "ByteFallback")
    if vocabulary is None or fallback is None or not _makes_spaces(fallback.input_value(0).get_node(), vocabulary):
        return False
    constants = [vocabulary.input_value(port).get_node() for port in (1, 2, 3)]
    if any(constant.get_type_name() != "Constant" for constant in constants):
        return False
    begins, ends, text = (constant.data for constant in constants)
    joined = text.tobytes()
    tokens = [_bytes(joined[begin:end]) for begin, end in zip(begins, ends, strict=True)]
    lengths = numpy.array([len(token) for token in tokens], numpy.int32)
    new_ends = numpy.cumsum(lengths, dtype=numpy.int32)
    new = (new_ends - lengths, new_ends, numpy.frombuffer(b"".join(tokens), numpy.uint8))
    for port, values in enumerate(new, start=1):
        vocabulary.input(port).replace_source_output(opset13.constant(values).output(0))
    # The first two outputs separate the texts of a batch.
    for output, named in zip(fallback.outputs(), vocabulary.outputs()[2:], strict=True):
        for target in output.get_target_inputs():
            target.replace_source_output(named)
    detokenizer.validate_nodes_and_infer_types()
    return True


def _makes_spaces(node: openvino.Node, vocabulary: openvino.Node) -> bool:
    """Returns whether this step only replaces "▁" by a space, as `_bytes` does."""
    if node.get_type_name() != "RegexNormalization" or node.input_value(0).get_node() != vocabulary:
        return False
    pattern, replacement = (node.input_value(port).get_node().data.tobytes() for port in (3, 4))
    return bool(pattern == _SPACE and replacement == b" ")


def _only(model: openvino.Model, kind: str) -> openvino.Node | None:
    nodes = [node for node in model.get_ops() if node.get_type_name() == kind]
    return nodes[0] if len(nodes) == 1 else None


def _bytes(name: bytes) -> bytes:
    if byte := _BYTE.fullmatch(name):
        return bytes.fromhex(byte[1].decode())
    return name.replace(_SPACE, b" ")
