"""What no construct of a grammar may cost more than, on the largest vocabulary.

The figures themselves stand in docs/structured-outputs.md. Here a grammar's parts are counted, and its work is compared
with that of a free text, which the same process does at the same time.
"""

import pytest
from bench.constructs import CONSTRUCTS
from bench.grammars import size, token_seconds
from openvino_genai import Tokenizer
from samples.lark_grammars import ARITHMETIC, PATCH
from support.exhaustive import sampled

from specvino.engine.grammar import LoweredConstraint, lark
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline
from specvino.engine.request import Constraint, StructuralTag
from specvino.engine.structured_output import lower

GRAMMARS: dict[str, Constraint] = {
    **CONSTRUCTS,
    "Lark, rules that don't refer to themselves": StructuralTag({"type": "structural_tag", "format": lark(PATCH)}),
    "Lark, rules that do": StructuralTag({"type": "structural_tag", "format": lark(ARITHMETIC)}),
}

# The formats of tool calls and reasoning are grammars of one kind.
DISTINCT = [name for name in GRAMMARS if not name.startswith(("tool calling, ", "reasoning, "))]

# The most has an e-mail address whose characters are counted, 175; others have up to 155.
MOST_PLACES = 180

# The most has a URL whose characters are counted, 4,600: a rule for each number of characters, without places.
MOST_RULES = 5000

# In CPU times of a free token. Constructs take up to twice as much; where a rule ends behind each character it is 14
# times as much and more.
MOST_TIMES = 6

LENGTH = 16

TRIES = 5  # as the machine may have been busy


@pytest.fixture(scope="module")
def dummy(tokenizer: Tokenizer) -> DummyPipeline:
    return DummyPipeline(tokenizer)


@pytest.mark.parametrize("name", GRAMMARS)
def test_it_has_few_parts(name: str) -> None:
    grammar_size = size(GRAMMARS[name])
    # What only XGrammar can read is tried in a process of its own.
    assert grammar_size is None or (grammar_size.places <= MOST_PLACES and grammar_size.rules <= MOST_RULES)


@pytest.mark.parametrize("family", ["qwen"], indirect=True)
@pytest.mark.parametrize("name", sampled(GRAMMARS, *DISTINCT))
def test_a_token_takes_little_more_than_a_free_one(dummy: DummyPipeline, name: str) -> None:
    lowered = lower(GRAMMARS[name])
    dummy.generate(lowered, 1)  # it is compiled
    ratios: list[float] = []
    while not ratios or (min(ratios) > MOST_TIMES and len(ratios) < TRIES):
        ratios.append(_times(dummy, lowered))
    assert min(ratios) <= MOST_TIMES


def _times(dummy: DummyPipeline, lowered: LoweredConstraint) -> float:
    """A token's work in free tokens."""
    own, free = (token_seconds(dummy, asked, texts=1, tries=1, length=LENGTH) for asked in (lowered, None))
    return own / free
