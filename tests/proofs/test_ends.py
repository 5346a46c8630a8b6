"""Where an answer ends, and what is left of its end."""

from proofs import everywhere, proves
from proofs.asking import Ask


@proves("chat.max_tokens", "chat.max_completion_tokens", "completions.max_tokens", "responses.max_output_tokens")
def test_no_more_tokens_than_allowed(ask: Ask) -> None:
    answer = ask("count", **{ask.path: 5})
    assert (answer.tokens, answer.finish) == (5, "length")


@proves(*everywhere("stop"))
def test_the_first_of_the_stop_texts_ends_it(ask: Ask) -> None:
    answer = ask("count", stop=["7", ", 4"])
    assert (answer.text, answer.finish) == ("1, 2, 3", "stop")


@proves(*everywhere("stop_token_ids"))
def test_a_token_ends_it(ask: Ask) -> None:
    (comma,) = ask.http.post("/tokenize", json={"model": "m", "text": ","}).json()["tokens"]
    answer = ask("count", stop_token_ids=[comma])
    assert (answer.text, answer.tokens, answer.finish) == ("1", 2, "stop")


@proves("chat.stop_token_ids", "completions.stop_token_ids")
def test_vllm_s_callers_are_told_what_ended_it(ask: Ask) -> None:
    (comma,) = ask.http.post("/tokenize", json={"model": "m", "text": ","}).json()["tokens"]
    for fields, reason in (({}, comma), ({"stop": "1"}, "1"), ({"min_tokens": 3, "stop": " 2"}, comma)):
        assert ask("count", stop_token_ids=[comma], **fields).choices[0].get("stop_reason", "absent") == reason
    assert ask("yes", stop_token_ids=[comma]).choices[0].get("stop_reason", "absent") is None
    assert ask("count", stop_token_ids=[], **{ask.limit: 3}).choices[0].get("stop_reason", "absent") is None


@proves("chat.include_stop_str_in_output", "completions.include_stop_str_in_output")
def test_vllm_s_callers_are_told_which_stop_text_it_was(ask: Ask) -> None:
    for kept, text in ((True, "1, 2, 3, 4"), (False, "1, 2, 3")):
        answer = ask("count", stop=["9", ", 4"], include_stop_str_in_output=kept)
        assert (answer.text, answer.choices[0].get("stop_reason", "absent")) == (text, ", 4")


@proves("chat.stop", "completions.stop")
def test_others_are_told_nothing_of_it(ask: Ask) -> None:
    answer = ask("count", stop=", 4")
    assert answer.text == "1, 2, 3"
    assert "stop_reason" not in answer.choices[0]


@proves(*everywhere("min_tokens"))
def test_neither_its_turn_nor_a_stop_ends_it_too_early(ask: Ask) -> None:
    assert ask("yes", min_tokens=20, **{ask.limit: 60}).tokens >= 20
    assert ask("count", stop=",", min_tokens=6).text.startswith("1, 2")


@proves(*everywhere("include_stop_str_in_output"))
def test_the_stop_text_stays(ask: Ask) -> None:
    answer = ask("count", stop=", 4", include_stop_str_in_output=True)
    assert (answer.text, answer.finish) == ("1, 2, 3, 4", "stop")


@proves(*everywhere("ignore_eos"))
def test_it_goes_on_after_the_end_of_the_turn(ask: Ask) -> None:
    answer = ask("yes", ignore_eos=True, **{ask.limit: 20})
    assert (answer.tokens, answer.finish) == (20, "length")


@proves(*everywhere("skip_special_tokens"))
def test_control_tokens_stay(ask: Ask) -> None:
    assert ask("hello", skip_special_tokens=False).text == "Hello! How can I help you today?<|im_end|>"
