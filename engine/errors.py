"""The reasons why an engine doesn't answer, and who is at fault.

EngineError
  PromptError               the caller: this prompt can't be answered
    EmptyPrompt             the caller: it has no tokens
    TextTooLong             the caller: it has too much text to be tokenized at once
    ChatTemplateError       the caller: the chat template doesn't render the conversation
    ContextLengthExceeded   the caller: it does not fit the model
    ImageError              the caller: this image can't be read
  ConstraintError           the caller: the answer can't be constrained this way
  InsufficientMemory        the operator: the machine is too small for the process that this request needs
  EngineUnavailable         nobody: the model is loading or restarting, retry in `retry_after` seconds
    EngineBusy              all clients together: too many requests are waiting
  EngineRestarted           the engine: its process died and took this request with it
  ModelLoadError            the operator: this model can't be loaded
    UnusableModel           the operator: nor by another try
"""


class WrongInput(Exception):
    """What the operator gave is at fault, so that another try fails, too; `str()` is the reason in one line."""


class EngineError(Exception):
    """The base of every failure that an engine reports; `str()` is a sentence for the client."""


class PromptError(EngineError):
    """The model can't process the prompt, or its tokenizer the text."""


class InsufficientMemory(EngineError):
    """The server's memory never has room for the process that the request needs."""


class EmptyPrompt(PromptError):
    """The prompt has no tokens."""


class TextTooLong(PromptError):
    """The text, or the text that the chat template renders, is too long to be tokenized at once."""


class ChatTemplateError(PromptError):
    """The chat template raises an error on the conversation, or doesn't render the message that is to be continued."""


class ContextLengthExceeded(PromptError):
    """The prompt, or prompt and requested completion together, exceed the context (all in tokens).

    `prompt_tokens` is None if the tokens of a prompt with images weren't all counted; with `more` it is a lower bound.
    """

    def __init__(
        self, prompt_tokens: int | None, max_tokens: int | None, context_length: int, *, more: bool = False
    ) -> None:
        self.prompt_tokens = prompt_tokens
        self.max_tokens = max_tokens
        self.context_length = context_length
        needed = f"{'more than ' * more}{prompt_tokens} tokens in the prompt"
        if prompt_tokens is None:
            needed = f"more in the prompt with its images, and {max_tokens} in the completion"
        elif max_tokens is not None:
            needed = f"{prompt_tokens + max_tokens} tokens ({needed}, {max_tokens} in the completion)"
        super().__init__(f"This model's context length is {context_length} tokens, but the request needs {needed}.")


class ImageError(PromptError):
    """The data is no image, is damaged, or has too many pixels."""


class ConstraintError(EngineError):
    """The constraint is invalid, unsatisfiable or too large. `path` is the location of the fault in the schema or
    structural tag; `tool` is the tool's index if the schema is that of its parameters. `unsupported` means that a
    strict schema is valid, but has a keyword that can't be enforced.
    """

    def __init__(self, message: str, path: tuple[str | int, ...] = (), *, unsupported: bool = False) -> None:
        super().__init__(message)
        self.path = path
        self.unsupported = unsupported
        self.tool: int | None = None


class EngineUnavailable(EngineError):
    """The model is loading or restarting."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EngineBusy(EngineUnavailable):
    """The maximum number of requests is waiting."""


class EngineRestarted(EngineError):
    """The process that worked on the request was lost. `logged` says whether the log has it already."""

    logged = False


class ModelLoadError(EngineError):
    """The model can't be loaded; `str()` is the reason in one line."""


class UnusableModel(WrongInput, ModelLoadError):
    """The model, or what options ask of it, is at fault."""
