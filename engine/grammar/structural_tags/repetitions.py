"""Counted repetitions: what they come to in a language that only XGrammar reads: it writes most of them out."""

import re

from specvino.engine.json_schema.errors import Path, SchemaError

MOST_REPEATED = 512

# What counts: an escaped character, a set, a text in quotes (alone in XGrammar's notation; in a regular expression it
# counts as one, which is no harm), a count, a parenthesis, or anything else.
_PART = re.compile(r'\\.|\[(?:\\.|[^\]\\])*\]|"(?:\\.|[^"\\\n])*"|\{\s*(\d*)\s*,?\s*(\d*)\s*\}|[()]|\S', re.DOTALL)


def require_few_repetitions(text: str, path: Path) -> None:
    """Refuses what is written out too long; `text` is a regular expression or a grammar in XGrammar's notation. Raises
    SchemaError."""
    count = repeated(text)
    if count > MOST_REPEATED:
        raise SchemaError(
            path,
            f"its counted repetitions come to {count} parts when they are written out, accepted are {MOST_REPEATED}",
        )


def repeated(text: str) -> int:
    """Tells how many parts there are more, when counted repetitions are written out."""
    added = last = 0
    sizes = [0]
    for part in _PART.finditer(text):
        match part[0][0], part[1]:
            case "{", str():
                times = max(int(part[1] or 0), int(part[2] or 0), 1)
                added += last * (times - 1)
                sizes[-1] += last * (times - 1)
                last *= times
            case "(", _:
                sizes.append(0)
            case ")", _ if len(sizes) > 1:
                last = sizes.pop()
                sizes[-1] += last
            case _:
                last = 1
                sizes[-1] += 1
    return added
