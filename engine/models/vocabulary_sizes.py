"""How many tokens the tokenizer and the model of an OpenVINO folder have, as far as their graphs state it."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from specvino.engine.errors import UnusableModel

# The inputs of OpenVINO Tokenizers 2026.4.1 at which the operations of these types have the vocabulary.
_PORTS = {"VocabDecoder": "1"} | dict.fromkeys(
    ("BPETokenizer", "UnigramTokenizer", "WordpieceTokenizer", "TrieTokenizer"), "5"
)

# The part of a vocabulary that models don't score: tokens of images and others that were added to the tokenizer only
# (mlc-ai/xgrammar pull request 237). Rex-Omni has 152,655 tokens for 151,936 scores, 0.5% (IDEA-Research/Rex-Omni issue
# 57).
_SURPLUS = 0.01

# The part of the scores without a token, because their number was rounded up: 411 of 50,688 in Pythia 12B, 0.8%
# (EleutherAI/pythia issue 68), 399 of 152,064 in Qwen 2.5 7B (QwenLM/Qwen3 issue 1247), 230 of 65,024 in ChatGLM2
# (zai-org/ChatGLM2-6B issue 564). Tokens that were added later are missing in some graphs of tokenizers.
_PADDING = 0.05

# The model's output, with the sizes of its dimensions.
_LOGITS = re.compile(rb'names="(?:[^"]*,)?logits(?:,[^"]*)?"[^>]*>((?:\s*<dim>-?\d+</dim>)+)')
_DIMENSION = re.compile(rb"<dim>(-?\d+)</dim>")


def unfitting(folder: Path, graph: Path) -> str | None:
    """Returns why the tokenizer in an OpenVINO folder can't be that of the model of this graph; None if it may be.
    OpenVINO would tokenize with it, and generate nonsense. Raises ModelLoadError."""
    scores = _scores(graph)
    if scores is None:
        return None
    for name in ("openvino_tokenizer.xml", "openvino_detokenizer.xml"):
        for tokens in _vocabularies(folder / name):
            if not scores * (1 - _PADDING) <= tokens <= scores * (1 + _SURPLUS):
                return f"{folder / name}: has {tokens:,} tokens, but {graph} scores {scores:,}"
    return None


def _scores(graph: Path) -> int | None:
    """Returns how many tokens a model scores; None if its graph leaves it open."""
    output = _LOGITS.search(graph.read_bytes())
    size = int(_DIMENSION.findall(output[1])[-1]) if output else -1
    return size if size > 0 else None


def _vocabularies(graph: Path) -> Iterator[int]:
    """Yields the size of the vocabulary, if the graph has one (that of SentencePiece's own code is opaque)."""
    try:
        net = ElementTree.parse(graph).getroot()
    except ElementTree.ParseError as error:
        raise UnusableModel(f"{graph}: is truncated, or not a model of OpenVINO") from error
    layers = {layer.get("id"): layer for layer in net.iterfind("layers/layer")}
    for edge in net.iterfind("edges/edge"):
        target, origin = layers.get(edge.get("to-layer")), layers.get(edge.get("from-layer"))
        if target is None or origin is None:
            raise UnusableModel(f"{graph}: is damaged: an edge leads to a layer that it doesn't have")
        port = _PORTS.get(target.get("type", ""))
        data = origin.find("data")
        shape = "" if data is None else data.get("shape", "")
        if edge.get("to-port") == port and shape.isdecimal():
            yield int(shape)
