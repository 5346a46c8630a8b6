"""The pipeline's settings for a request."""

from typing import Any

import pytest
from openvino_genai import GenerationConfig

from specvino.engine.openvino.messages.worker import Generate
from specvino.engine.openvino.worker.generation_config import configure
from specvino.engine.protocol import Drafting
from specvino.engine.request import Sampling

ALL_TOKENS = 2**64 - 1


def configured(drafting: Drafting | None = None, **settings: Any) -> dict[str, Any]:
    """The pipeline's settings that differ from those of a request without settings."""
    parts = {name: settings.pop(name) for name in ("max_new_tokens", "n", "echo", "logprobs") if name in settings}
    plain = _shown(configure(_request(Sampling(None)), GenerationConfig(), None, 0))
    made = _shown(configure(_request(Sampling(None, **settings), **parts), GenerationConfig(), drafting, 3))
    return {name: value for name, value in made.items() if value != plain[name]}


def _request(sampling: Sampling, **parts: Any) -> Generate:
    return Generate(1, 1, b"", sampling, **{"max_new_tokens": 5, "seed": 7} | parts)


def _shown(config: GenerationConfig) -> dict[str, Any]:
    values = {name: getattr(config, name) for name in dir(config) if not name.startswith("_")}
    return {name: value for name, value in values.items() if not callable(value)}


def _config(settings: dict[str, Any]) -> GenerationConfig:
    config = GenerationConfig()
    for name, value in settings.items():
        setattr(config, name, value)
    return config


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        ({"temperature": 0.5}, {"temperature": 0.5}),
        ({"top_p": 0.25}, {"top_p": 0.25}),
        ({"top_k": 3}, {"top_k": 3}),
        ({"min_p": 0.5}, {"min_p": 0.5}),
        ({"frequency_penalty": 0.5}, {"frequency_penalty": 0.5}),
        ({"presence_penalty": 0.5}, {"presence_penalty": 0.5}),
        ({"repetition_penalty": 1.5}, {"repetition_penalty": 1.5}),
        ({"min_tokens": 2}, {"min_new_tokens": 2}),
        ({"min_tokens": 9}, {"min_new_tokens": 5}),
        ({"ignore_eos": True}, {"ignore_eos": True}),
        ({"max_new_tokens": 8}, {"max_new_tokens": 8}),
        ({"echo": True}, {"echo": True}),
        ({"logprobs": True}, {"logprobs": 1}),
    ],
)
def test_a_setting(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    assert configured(**settings) == expected


def test_settings_without_effect_keep_every_token() -> None:
    made = configure(_request(Sampling(None)), GenerationConfig(), None, 0)
    assert (made.do_sample, made.temperature, made.top_p, made.top_k, made.min_p) == (True, 1, 1, ALL_TOKENS, 0)
    assert made.rng_seed == 7


@pytest.mark.parametrize("settings", [{"temperature": 0.0}, {"temperature": 1e-7}, {"top_p": 0.0}])
def test_greedy_decoding_draws_nothing(settings: dict[str, Any]) -> None:
    made = configured(**settings, min_p=0.5, top_k=3)
    assert made["do_sample"] is False
    assert "min_p" not in made


def test_min_p_stays_below_1() -> None:
    assert 0.99 < configured(min_p=1.0)["min_p"] < 1


def test_of_the_model_s_own_settings_only_the_ends_of_a_turn_count() -> None:
    own = {"eos_token_id": 4, "stop_token_ids": {4, 5}, "num_beams": 3, "echo": True, "temperature": 0.5}
    made = configure(_request(Sampling(None)), _config(own), None, 0)
    assert (made.eos_token_id, made.stop_token_ids) == (4, {4, 5})
    assert (made.num_beams, made.echo, made.temperature) == (1, False, 1)


def test_a_beam_search() -> None:
    made = configured(best_of=3, n=2, length_penalty=0.5, temperature=0.5)
    assert (made["num_beams"], made["num_return_sequences"], made["length_penalty"]) == (3, 2, 0.5)
    assert "temperature" not in made
    assert "num_beams" not in configured(best_of=3, max_new_tokens=0), "an answer without tokens needs none"


def test_a_beam_search_that_ignores_the_end_of_the_turn() -> None:
    own = {"eos_token_id": 4, "stop_token_ids": {4}}
    request = _request(Sampling(None, best_of=3, ignore_eos=True))
    made = configure(request, _config(own), None, 0)
    assert made.eos_token_id not in range(100_000)
    assert made.stop_token_ids == {made.eos_token_id}


@pytest.mark.parametrize(
    ("drafting", "settings", "expected"),
    [
        ("draft_model", {}, {"num_assistant_tokens": 3}),
        ("draft_model", {"assistant_confidence_threshold": 0.5}, {"assistant_confidence_threshold": 0.5}),
        ("prompt_lookup", {}, {"num_assistant_tokens": 3, "max_ngram_size": 3}),
        ("prompt_lookup", {"max_ngram_size": 2}, {"num_assistant_tokens": 3, "max_ngram_size": 2}),
    ],
)
def test_drafts(drafting: Drafting, settings: dict[str, Any], expected: dict[str, Any]) -> None:
    assert configured(drafting, **settings) == expected


def test_a_confidence_of_0_is_the_smallest_one() -> None:
    assert 0 < configured("draft_model", assistant_confidence_threshold=0.0)["assistant_confidence_threshold"] < 1e-5
