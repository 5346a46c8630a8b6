"""What an exchange tells of itself."""

from support.reports import exchange


def test_an_answer_still_came_where_the_last_silence_is_not_the_longest() -> None:
    times = tuple(number / 20 for number in range(1, 600))
    assert exchange(ended="too slow", seconds=30.0, times=times).was_coming
    assert not exchange(ended="too slow", seconds=30.0, times=times[:100]).was_coming
    assert not exchange(ended="too slow", seconds=30.0).was_coming
    assert not exchange(seconds=30.0, times=times).was_coming
