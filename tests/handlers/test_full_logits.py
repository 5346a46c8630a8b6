"""Settings that need the scores of the whole vocabulary, and what becomes of them without these scores."""

from dataclasses import fields, replace

import pytest

from specvino.document.loading import group
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import FULL_LOGITS_SETTINGS, GenerationRequest, JsonSchema, Sampling
from specvino.handlers.full_logits import without_full_logits

MODEL = ModelInfo(100, 50, {})
NEUTRAL = {setting.name: setting.default for setting in fields(Sampling)}
USED = Sampling(
    max_tokens=5,
    logit_bias=((1, 2.0),),
    allowed_token_ids=(1, 2),
    bad_words=("no",),
    bad_words_token_ids=(3,),
)
REQUEST = GenerationRequest((), USED, logprobs=True, top_logprobs=3)


def without(request=REQUEST, model=MODEL):
    return without_full_logits(request, model, top_param="top_logprobs", held=False)


def test_each_setting_is_used_above() -> None:
    assert all(getattr(USED, name) for name in FULL_LOGITS_SETTINGS)
    assert not any(NEUTRAL[name] for name in FULL_LOGITS_SETTINGS), "a default counts as unused"


def test_conditions_name_the_same_settings() -> None:
    """By the group, the fuzzer accepts that such a request is refused for want of memory."""
    settings = {setting.name for setting in fields(Sampling)}
    assert {*FULL_LOGITS_SETTINGS} == settings & {*group("full_logits").paths}


def test_with_these_scores_nothing_is_dropped() -> None:
    assert without() == (REQUEST, ())


@pytest.mark.parametrize(
    ("request_", "model"),
    [
        (replace(REQUEST, constraint=JsonSchema({})), MODEL),
        (replace(REQUEST, sampling=replace(USED, best_of=2)), MODEL),
        (REQUEST, ModelInfo(100, 50, {}, full_logits=False)),
    ],
    ids=["constraint", "beam search", "model"],
)
def test_without_them_each_setting_is_dropped_and_named(request_, model) -> None:
    rest, dropped = without(request_, model)
    assert dropped == ("top_logprobs", *FULL_LOGITS_SETTINGS)
    assert {name: getattr(rest.sampling, name) for name in FULL_LOGITS_SETTINGS} == {
        name: NEUTRAL[name] for name in FULL_LOGITS_SETTINGS
    }
    assert rest.top_logprobs == 1
