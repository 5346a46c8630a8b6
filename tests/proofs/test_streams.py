"""Whether there is a stream, and what it says at its end."""

from proofs import everywhere, proves
from proofs.asking import Ask

RUNNING = ("chat.stream_options.continuous_usage_stats", "completions.stream_options.continuous_usage_stats")


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


@proves(*RUNNING, ways=["streamed"])
def test_all_chunks_of_a_stream_have_the_usage_up_to_them(ask: Ask) -> None:
    answer = ask("hello", n=2, stream_options={"include_usage": True, "continuous_usage_stats": True})
    usages = [event.get("usage") for event in answer.events]
    assert all(usages)
    *chunks, last = filter(None, usages)
    counts = [usage["completion_tokens"] for usage in chunks]
    assert counts == sorted(counts)
    assert counts[-1] == last["completion_tokens"]
    assert len(set(counts)) > 5
    assert {usage["prompt_tokens"] for usage in chunks} == {last["prompt_tokens"]}
    assert all(usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] for usage in chunks)


@proves(*RUNNING, ways=["streamed"])
def test_the_usage_up_to_a_chunk_needs_no_last_chunk(ask: Ask) -> None:
    events = ask("hello", stream_options={"continuous_usage_stats": True}).events
    assert all(event["choices"] and event.get("usage") for event in events)
