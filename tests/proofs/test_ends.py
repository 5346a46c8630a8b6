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
