"""The pipeline has as many prompts as fill a step."""

from specvino.engine.openvino.worker.prompt_backlog import PromptBacklog


def test_prompts_come_until_a_step_is_full() -> None:
    backlog = PromptBacklog(256)
    backlog.add(1, 255)
    assert backlog.has_room
    backlog.add(2, 1)
    assert not backlog.has_room


def test_a_long_prompt_is_counted_by_steps() -> None:
    backlog = PromptBacklog(256)
    backlog.add(1, 1024)
    for _ in range(3):
        backlog.stepped()
        assert not backlog.has_room
    backlog.stepped()
    assert backlog.has_room


def test_a_prompt_from_the_cache_takes_no_time() -> None:
    backlog = PromptBacklog(256)
    backlog.add(1, 8000)
    backlog.done(1)
    assert backlog.has_room
    backlog.done(2)


def test_a_step_computes_several_prompts() -> None:
    backlog = PromptBacklog(256)
    for id in range(6):
        backlog.add(id, 100)
    backlog.stepped()
    assert not backlog.has_room
    backlog.stepped()
    assert backlog.has_room
