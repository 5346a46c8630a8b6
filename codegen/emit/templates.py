"""Templates of code, by Jinja."""

from pathlib import Path

import jinja2


def templates(folder: Path) -> jinja2.Environment:
    """Returns the templates of a folder. A value that a template doesn't get is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
