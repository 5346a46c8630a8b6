"""Names in the product are nouns of what they hold, not the fillers of a sentence."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from structure.imports import modules

FILLERS = {"each", "found", "said", "place", "places"}

# Where one may be bound. Parsing all modules takes four seconds of CPU time.
BINDING = re.compile(rf"(?m)\b_*(?:{'|'.join(FILLERS)})_*(?:\s*(?:[:,()=|+\]]|in\b)|$)")

# Where a system's source defines a field is a place (upstream, `document/system_fields.py`), and `handlers.media.place`
# is a verb. No name is to be added; whoever removes one lowers the number.
LEFT = {"place": 2, "places": 17}


def bound(source: str) -> Iterator[str]:
    """The names that a module binds: variables, attributes, parameters and functions."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name


def fillers(source: str) -> Counter[str]:
    if not BINDING.search(source):
        return Counter()
    return Counter(name.strip("_") for name in bound(source) if name.strip("_") in FILLERS)


def test_fillers_are_no_names() -> None:
    # What the document calls so, generated/ does too.
    sources = [path.read_text("utf-8") for name, path in modules().items() if not name.startswith("generated")]
    assert sum(map(fillers, sources), Counter()) == LEFT


def test_every_kind_of_name_is_seen() -> None:
    source = """
def place(found): self._said = [each for each in found]
async def places(): pass
try: pass
except Error as said: pass
match value:
    case found: pass
"""
    assert fillers(source) == {"place": 1, "places": 1, "each": 1, "found": 2, "said": 2}
