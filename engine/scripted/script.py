"""Scripts of the scripted engine, which change its answers. A script may be the first line of the prompt:

    script: delay=0.05 crash_at=3
    the text to be answered

A prompt with an invalid script is refused.
"""

import msgspec

from specvino.engine.errors import PromptError


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Changes of an answer. Tokens are counted from 0, for each choice.

    `delay`: seconds before each token. `crash_at`: the engine is lost before this token (EngineRestarted). `stall_at`:
    this token never comes. `unavailable`: 1 refuses the request as EngineUnavailable. `refused`: 1 refuses the prompt.
    `token_bytes`: above 0, tokens have this number of bytes instead of words, and split code points. `think`: 1 puts
    the text into the reasoning, too. `calls`: this number of calls, of the tools in turn, follows the text; forced
    calls are the whole answer.
    """

    delay: float = 0.0
    crash_at: int = -1
    stall_at: int = -1
    unavailable: int = 0
    refused: int = 0
    token_bytes: int = 0
    think: int = 0
    calls: int = 0


AS_IT_COMES = Script()


def directed(text: str, script: Script) -> tuple[str, Script]:
    """Removes the line with the script from the text, if there is one, and applies it."""
    if not text.startswith("script:"):
        return text, script
    line, _, text = text.partition("\n")
    words = (word.partition("=") for word in line.removeprefix("script:").split())
    directives = {name: value for name, _, value in words}
    try:
        return text, msgspec.convert(msgspec.structs.asdict(script) | directives, Script, strict=False)
    except msgspec.ValidationError as error:
        raise PromptError(f"The script can't be read: {error}") from error
