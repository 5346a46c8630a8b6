"""The result of lowering a constraint. It is apart from `_lowering.py` for those who only pass it on."""

from dataclasses import dataclass
from typing import Literal

from specvino.engine.grammar._errors import Path

Kind = Literal["grammar", "structural_tags_config"]


@dataclass(frozen=True, slots=True)
class LoweredConstraint:
    """A JSON Schema or a structural tag as XGrammar compiles it.

    `text` is a grammar in XGrammar's EBNF (`kind` is "grammar"), or the JSON of a structural tag with formats that only
    XGrammar supports ("structural_tags_config"); the kinds are the names of options in OpenVINO GenAI's
    `StructuredOutputConfig`. `unenforced` has the paths of the keywords whose violations the grammar allows.
    """

    kind: Kind
    text: str
    unenforced: tuple[Path, ...] = ()
