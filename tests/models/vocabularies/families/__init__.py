"""The families by name. A family's file is downloaded when it is asked for."""

from collections.abc import Callable

from models.vocabularies.families.llama3 import llama3
from models.vocabularies.families.mistral import mistral
from models.vocabularies.families.qwen import qwen
from models.vocabularies.families.tekken import tekken
from models.vocabularies.family import Family

FAMILIES: dict[str, Callable[[], Family]] = {
    "qwen": qwen,
    "tekken": tekken,
    "llama3": llama3,
    "mistral": mistral,
}
