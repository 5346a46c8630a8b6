"""A model's tokenizer without two faults of GenAI 2026.4.1, which are corrected in copies of its files.

The detokenizer's token names are passed to grammars as if they were the tokens' bytes. In SentencePiece vocabularies
they aren't: "▁" is a space there, and <0x0A> one byte. With such names JSON couldn't contain a space, and a string
could contain a line break. So the names are replaced by the bytes (decision 016).

A tokenizer from GGUF, also in a converted folder, silently keeps the last TRUNCATED_LENGTH tokens of a text. So the
limit is replaced by the largest number (decision 017), but not for a .gguf file that wasn't converted.
"""

import re
import struct
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import numpy
import openvino
from openvino import opset13
from openvino_genai import Tokenizer

_TOKENIZER = "openvino_tokenizer.xml"
_DETOKENIZER = "openvino_detokenizer.xml"

TRUNCATED_LENGTH = 8192
_LIMIT, _NO_LIMIT = struct.pack("<i", TRUNCATED_LENGTH), struct.pack("<i", 2**31 - 1)
_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
_SPACE = "▁".encode()


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Loads the tokenizer of an OpenVINO folder or a .gguf file. Raises RuntimeError for one without an accessible
    vocabulary."""
    own = Path(path) / _DETOKENIZER
    if own.is_file() and b'type="SentencepieceDetokenizer"' in own.read_bytes():
        # Its control tokens, which users mustn't forge, would be unknown, and grammars wouldn't work.
        raise RuntimeError(
            "its tokenizer is SentencePiece's own code, whose vocabulary isn't accessible; convert it again with a "
            "newer openvino-tokenizers, without use_sentencepiece_backend"
        )
    return corrected(path) or Tokenizer(path)


def corrected(path: str | Path) -> Tokenizer | None:
    """Returns the tokenizer if it differs from the one that GenAI would load by itself."""
    own = Path(path)
    detokenizer, constants = _with_byte_names(own / _DETOKENIZER), _without_limit(own / _TOKENIZER)
    if detokenizer is None and constants is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if detokenizer is not None:
            openvino.save_model(detokenizer, folder / _DETOKENIZER)
        if constants is not None:
            (folder / _TOKENIZER).with_suffix(".bin").write_bytes(constants)
        for file in own.iterdir():
            if not (folder / file.name).exists():
                (folder / file.name).symlink_to(file.absolute())
        return Tokenizer(name)


def _without_limit(xml: Path) -> bytes | None:
    """Returns the constants of a tokenizer without the limit; None if it has none."""
    if not xml.is_file() or b'type="Minimum"' not in (text := xml.read_bytes()):
        return None
    try:
        network = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return None  # OpenVINO reports it
    minimums = {layer.get("id") for layer in network.findall(".//layer[@type='Minimum']")}
    sources = {edge.get("from-layer") for edge in network.iter("edge") if edge.get("to-layer") in minimums}
    constants = bytearray(xml.with_suffix(".bin").read_bytes())
    positions = [
        slice(offset := int(data.attrib["offset"]), offset + len(_LIMIT))
        for layer in network.findall(".//layer[@type='Const']")
        for data in layer.findall("data[@element_type='i32'][@size='4']")
        if layer.get("id") in sources
    ]
    limits = [position for position in positions if constants[position] == _LIMIT]
    for limit in limits:
        constants[limit] = _NO_LIMIT
    return bytes(constants) if limits else None


def _with_byte_names(xml: Path) -> openvino.Model | None:
    """Returns a detokenizer whose tokens' names are their bytes; None if they are already."""
    # Without byte tokens, all names are the tokens' bytes.
    if not xml.is_file() or b'type="ByteFallback"' not in xml.read_bytes():
        return None
    import openvino_tokenizers  # noqa: F401 - registers tokenizer operations with OpenVINO; imported only where needed

    detokenizer = openvino.Core().read_model(xml)
    return detokenizer if _name_by_bytes(detokenizer) else None


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
