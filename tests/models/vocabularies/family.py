"""What a recipe says of a vocabulary, and what is asked of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import openvino
from openvino_tokenizers.tokenizer_pipeline import (
    AddToken,
    BasePipelineStep,
    CombineSegmentsStep,
    PaddingStep,
    Sequence,
    TokenizerPipeline,
    TruncationStep,
)


class Tokens(Protocol):
    """A vocabulary as it was read: the ids of its texts."""

    def models(self, family: "Family") -> tuple[openvino.Model, openvino.Model]:
        """The tokenizer and the detokenizer as OpenVINO runs them."""
        ...

    def reference(self, family: "Family") -> Callable[[str], list[int]]:
        """The makers' own tokenizer, for texts without control tokens; nothing is added to them."""
        ...


@dataclass(frozen=True)
class Family:
    """A family of models with one vocabulary.

    `control` are the control tokens and their ids; `tags` are tokens that were added too, but are content. `begin` is
    the token that the tokenizer sets before a text. `model_size` is how many tokens a model of the family tells apart,
    which can be more than there are. `template` is the chat template's file beside this one.
    """

    name: str
    tokens: Tokens
    control: Mapping[str, int]
    end: str
    pad: str
    model_size: int
    template: str
    begin: str | None = None
    tags: Mapping[str, int] = field(default_factory=dict)

    @property
    def added(self) -> dict[str, int]:
        return {**self.control, **self.tags}

    @property
    def chat_template(self) -> str:
        return (Path(__file__).parent / "templates" / self.template).read_text("utf-8").strip()


def numbered(first: int, texts: Iterable[str]) -> dict[str, int]:
    """Gives the texts ids from `first` on."""
    return {text: id for id, text in enumerate(texts, first)}


def subgraphs(steps: list[BasePipelineStep]) -> tuple[openvino.Model, openvino.Model]:
    pipeline = TokenizerPipeline()
    pipeline.add_steps(steps)
    return pipeline.get_tokenizer_ov_subgraph(), pipeline.get_detokenizer_ov_subgraph()


def combining(family: Family) -> list[BasePipelineStep]:
    """How a text's tokens become the model's input."""
    begin = [AddToken(token=family.begin, _token_id=family.control[family.begin])] if family.begin else []
    return [
        TruncationStep(TruncationStep.DISABLE_TRUNCATE_MAX_LENGTH),
        CombineSegmentsStep([*begin, Sequence()]),
        PaddingStep(token=family.pad, _token_id=family.control[family.pad]),
    ]
