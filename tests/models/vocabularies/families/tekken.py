"""Mistral's Tekken: byte-level BPE behind a thousand control tokens, most without a use. These are Devstral's."""

import base64
import json

from models.vocabularies.byte_level import ByteLevel
from models.vocabularies.family import Family, numbered
from models.vocabularies.packaged import Packaged

FILE = Packaged(
    "mistral-common",
    "1.13.1",
    "mistral_common/data/tekken_240911.json",
    "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
)
_SIZE = 131_072
_CONTROL = 1_000
_NAMES = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)
_ARGUMENTS = 32


def tekken() -> Family:
    file = json.loads(FILE.bytes())
    entries = file["vocab"][: _SIZE - _CONTROL]  # it has more than the models use
    names = [*_NAMES, *(f"<SPECIAL_{id}>" for id in range(len(_NAMES), _CONTROL))]
    names[_ARGUMENTS] = "[ARGS]"
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in entries}
    return Family(
        name="tekken",
        tokens=ByteLevel(ranks, file["config"]["pattern"], first=_CONTROL),
        control=numbered(0, names),
        begin="<s>",
        end="</s>",
        pad="<pad>",
        model_size=_SIZE,
        template="tekken.jinja",
    )
