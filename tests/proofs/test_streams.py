"""Whether there is a stream, and what it says at its end."""

from proofs import everywhere, proves
from proofs.asking import Ask


@proves(*everywhere("stream"), ways=["streamed"])
def test_the_answer_is_a_stream(ask: Ask) -> None:
    response = ask.post("hello", stream_options=None)
    assert response.headers["content-type"].startswith("text/event-stream")


@proves(
    "chat.stream_options",
    "chat.stream_options.include_usage",
    "completions.stream_options",
    "completions.stream_options.include_usage",
    ways=["streamed"],
)
def test_a_stream_ends_with_its_usage(ask: Ask) -> None:
    answer = ask("hello", stream_options={"include_usage": True})
    assert (answer.events[-1]["choices"], answer.events[-1].get("usage") is not None) == ([], True)
