"""What grammars cost on real vocabularies: to compile, and at each token.

All is CPU time of the process, all of its threads together, on a pipeline without a model: what is left is the sampler
and the mask that a grammar makes for it.
"""

import contextlib
import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from models.vocabularies.build import build
from models.vocabularies.families import FAMILIES

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.grammar._ebnf.nodes import Grammar
from specvino.engine.grammar._ebnf.size import open_places
from specvino.engine.grammar._from_schema.converter import convert
from specvino.engine.grammar._structural_tags import to_ebnf
from specvino.engine.models import resolve
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline
from specvino.engine.openvino.native.error_output import silence
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.request import Constraint, JsonSchema
from specvino.engine.structured_output import lower

# The default model's, and others by their names in tests/models/vocabularies.
VOCABULARIES = {"Mistral": "mistral", "SmolLM2": None, "Llama 3": "llama3", "Qwen": "qwen"}

TOKENS = 64


@dataclass(frozen=True, slots=True)
class Size:
    """How much work a grammar is, the same on every machine."""

    rules: int
    places: int


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds: to compile for the first time, for each token with sampling, and for one without any form, measured
    at the same time."""

    compile: float
    token: float
    free: float


@dataclass(frozen=True, slots=True)
class Costs:
    """What each form costs on a vocabulary: as our grammar, and as XGrammar reads it by itself, where it does."""

    tokens: int
    ours: Mapping[str, Cost]
    own: Mapping[str, Cost]


def size(constraint: Constraint) -> Size | None:
    """None for a structural tag that only XGrammar knows."""
    grammar = _grammar(constraint)
    return None if grammar is None else Size(len(grammar.rules), open_places(grammar.rules.values()))


def measure(vocabulary: str | None, structured_outputs: Mapping[str, Constraint], compared: Iterable[str]) -> Costs:
    """`compared` are the forms of which XGrammar's own reading is measured too."""
    with _folder(vocabulary) as folder, silence():
        tokenizer = load_tokenizer(folder)
        dummy = DummyPipeline(tokenizer)
        dummy.generate(LoweredConstraint("grammar", 'root ::= "a"\n'), 1)  # with the first one it reads the vocabulary
        ours = {name: _cost(dummy, lower(constraint)) for name, constraint in structured_outputs.items()}
        own = {}
        for name in compared:
            with contextlib.suppress(RuntimeError):  # it knows no such thing
                own[name] = _cost(dummy, _own(structured_outputs[name]))
        return Costs(len(tokenizer.get_vocab()), ours, own)


def token_seconds(
    dummy: DummyPipeline, lowered: LoweredConstraint | None, texts: int = 3, tries: int = 2, length: int = TOKENS
) -> float:
    """CPU seconds per token of texts that are drawn. The form was compiled before."""
    tokens = 0
    seconds = 0.0
    for seed in range(texts):
        times = []
        for _ in range(tries):
            start = time.process_time()
            drawn = dummy.generate(lowered, length, draw=True, seed=seed)
            times.append(time.process_time() - start)
        tokens += len(drawn)
        seconds += min(times)  # whatever else may have disturbed it
    return seconds / tokens


def _cost(dummy: DummyPipeline, lowered: LoweredConstraint) -> Cost:
    start = time.process_time()
    dummy.generate(lowered, 1)
    return Cost(time.process_time() - start, token_seconds(dummy, lowered), token_seconds(dummy, None))


def _own(constraint: Constraint) -> LoweredConstraint:
    if isinstance(constraint, JsonSchema):
        format = {"type": "json_schema", "json_schema": constraint.schema}
        return LoweredConstraint("structural_tags_config", json.dumps({"type": "structural_tag", "format": format}))
    return LoweredConstraint("structural_tags_config", json.dumps(constraint.tag))


def _grammar(constraint: Constraint) -> Grammar | None:
    if isinstance(constraint, JsonSchema):
        return convert(constraint.schema)[0]
    try:
        return to_ebnf.as_grammar(constraint.tag)[0]
    except to_ebnf.Unknown:
        return None


@contextlib.contextmanager
def _folder(vocabulary: str | None) -> Iterator[Path]:
    if vocabulary is None:
        yield resolve(None).path
        return
    with tempfile.TemporaryDirectory() as folder:
        build(FAMILIES[vocabulary](), Path(folder))
        yield Path(folder)
