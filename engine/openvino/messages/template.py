"""The messages between the server and the template process."""

from typing import Self

import msgspec

from specvino.engine.openvino.messages.preprocess import with_parameters, without_parameters
from specvino.engine.request import Conversation
from specvino.engine.segments import Hidden

# What a template may take, beyond what is used when all is loaded: seconds of CPU time, and bytes.
MOST_COMPUTING = 1.0
MOST_MEMORY = 512 << 20

OUT_OF_BOUNDS = f"It needs more than {MOST_COMPUTING:g} s of computing or {MOST_MEMORY >> 20} MB of memory."


class StartTemplateProcess(msgspec.Struct, tag=True):
    """Is the first message to the template process: `variables` and `marked` of the model's `Vocabulary`."""

    variables: dict[str, str]
    marked: tuple[str, ...]


class RenderTemplate(msgspec.Struct, tag=True):
    """Asks for what a conversation's own `chat_template` makes of it. `as_text` and `parameters` are as in
    `Preprocess`."""

    id: int
    prompt: Conversation
    as_text: bool
    parameters: str

    @classmethod
    def of(cls, id: int, prompt: Conversation, *, as_text: bool) -> Self:
        bare, parameters = without_parameters(prompt)
        return cls(id, bare, as_text, parameters)

    def conversation(self) -> Conversation:
        """Returns the prompt with its tools whole again."""
        return with_parameters(self.prompt, self.parameters)


class TemplateRendered(msgspec.Struct, tag=True):
    """Carries the pieces of a prompt, and what of the conversation the template doesn't show."""

    id: int
    pieces: list[str]
    hidden: tuple[Hidden, ...]


class RenderingRefused(msgspec.Struct, tag=True):
    """Says that a conversation can't be rendered; `reason` is a sentence for the client."""

    id: int
    reason: str
