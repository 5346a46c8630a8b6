import pytest

from specvino.engine.errors import PromptError
from specvino.engine.scripted.script import AS_IT_COMES, Script, directed


def test_text_without_directives_stays() -> None:
    assert directed("a script: delay=1\nb", AS_IT_COMES) == ("a script: delay=1\nb", AS_IT_COMES)


def test_directives_come_on_top_and_off_the_text() -> None:
    script = Script(delay=1, crash_at=3)
    assert directed("script: crash_at=4 token_bytes=1\na\nb", script) == ("a\nb", Script(1, 4, token_bytes=1))
    assert directed("script:", script) == ("", script)


@pytest.mark.parametrize("line", ["script: speed=1", "script: delay=soon", "script: crash_at", "script: stall_at=1.5"])
def test_a_script_that_cannot_be_read(line: str) -> None:
    with pytest.raises(PromptError, match=r"^The script can't be read: "):
        directed(f"{line}\nabc", AS_IT_COMES)
