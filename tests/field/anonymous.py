"""Takes the paths of this machine out of what is published: servers tell them in tracebacks."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from field.listing import HERE

# A path may follow the letter of an escaped line break; in a URL it follows the host.
_START = r"(?:(?<![\w/.])|(?<=\\[nrt]))"

# Where a text ends, as it is or quoted, and where it was cut.
_END = r"(?=…|\\*[\"']|\Z)"


def anonymous(text: str, folder: Path) -> str:
    """Returns a text, which may be JSON, without the paths of the folder of servers, of Python and of this project. Of
    a path that was cut, which may have been any of them, the start is taken out, too."""
    return without(text, {folder: ".field", Path(sys.base_prefix): "python", HERE.parents[1]: "specvino"})


def without(text: str, names: Mapping[Path, str]) -> str:
    """Returns a text with the names of paths in their place, and with `…` in that of a path that was cut."""
    for path, name in names.items():
        text = re.sub(_START + re.escape(str(path)) + r"(?![\w-])", name, text)
    # A first folder alone tells nothing, and may be an endpoint's path.
    shortest = {path: len(str(Path(*path.parts[:2]))) + 1 for path in names}
    starts = {str(path)[:end] for path in names for end in range(shortest[path], len(str(path)))}
    longest_first = "|".join(map(re.escape, sorted(starts, key=len, reverse=True)))
    return re.sub(f"{_START}(?:{longest_first}){_END}…?", "…", text)
