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
