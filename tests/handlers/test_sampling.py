"""The request's value, else the model's, else the document's."""

from specvino.generated.models import CreateChatCompletionRequest
from specvino.handlers.sampling import sampling


def settle(model=None, **fields):
    body = CreateChatCompletionRequest.model_validate({"model": "m", "messages": [], **fields})
    return sampling(body, model or {})


def test_the_document_s_defaults() -> None:
    settings = settle()
    assert (settings.temperature, settings.top_p, settings.top_k) == (1, 1, 40)
    assert (settings.frequency_penalty, settings.presence_penalty, settings.repetition_penalty) == (0, 0, 1)
    assert (settings.max_tokens, settings.seed, settings.stop, settings.ignore_eos) == (None, None, (), False)


def test_the_model_s_settings_come_before_the_document_s() -> None:
    settings = settle({"temperature": 0.6, "top_k": 20})
    assert (settings.temperature, settings.top_k, settings.top_p) == (0.6, 20, 1)


def test_the_request_comes_first_even_with_zero() -> None:
    settings = settle({"temperature": 0.6, "top_k": 20}, temperature=0, top_k=-1, max_tokens=5)
    assert (settings.temperature, settings.top_k, settings.max_tokens) == (0, -1, 5)


def test_null_is_absent() -> None:
    settings = settle({"temperature": 0.6}, temperature=None, top_p=None, seed=None, stop=None, ignore_eos=None)
    assert settings == settle({"temperature": 0.6})


def test_stop_forms() -> None:
    assert settle(stop="a").stop == ("a",)
    assert settle(stop=["a", "b"]).stop == ("a", "b")
    assert settle(stop=[]).stop == ()


def test_a_whole_number_may_be_written_as_a_decimal() -> None:
    settings = settle(top_k=3.0, seed=2.0, max_tokens=4.0)
    assert [type(v) for v in (settings.top_k, settings.seed, settings.max_tokens)] == [int, int, int]


def test_a_search_has_no_penalties_of_the_model_s_own() -> None:
    own = {"repetition_penalty": 1.2, "presence_penalty": 0.5, "frequency_penalty": 0.1}
    settings = settle(own, best_of=2)
    assert (settings.repetition_penalty, settings.presence_penalty, settings.frequency_penalty) == (1, 0, 0)
    assert settle(own, best_of=1).repetition_penalty == 1.2


def test_the_other_settings() -> None:
    plain = settle()
    assert (plain.min_p, plain.best_of, plain.length_penalty) == (0, 1, 1)
    assert (plain.include_stop_str_in_output, plain.skip_special_tokens) == (False, True)
    assert (plain.num_assistant_tokens, plain.assistant_confidence_threshold, plain.max_ngram_size) == (None,) * 3
    assert (plain.stop_token_ids, plain.min_tokens) == (frozenset(), 0)
    assert settle(stop_token_ids=[3, 5, 3]).stop_token_ids == {3, 5}
    fields = {
        "min_tokens": 2,
        "min_p": 0.2,
        "best_of": 3,
        "length_penalty": 0,
        "num_assistant_tokens": 4,
        "max_ngram_size": 2,
    }
    given = settle(**fields, include_stop_str_in_output=True, skip_special_tokens=False)
    assert {name: getattr(given, name) for name in fields} == fields
    assert (given.include_stop_str_in_output, given.skip_special_tokens) == (True, False)
    assert settle({"min_p": 0.1}).min_p == 0.1
