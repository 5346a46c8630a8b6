"""`specvino conform lint`."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from specvino.cli.ending import end
from specvino.conformance.reports.baseline import BadBaseline, read
from specvino.conformance.rule_catalog import all_rules


def problems_of(path: Path) -> Iterator[str]:
    """Yields the problems of a baseline file; ends the command if it can't be read."""
    try:
        accepted = read(path)
    except BadBaseline as error:
        yield str(error)
        return
    except OSError as error:
        end(f"{path} can't be read: {error.strerror}")
    known = all_rules()
    for rule in accepted.unknown(known):
        near = get_close_matches(rule, known, n=1, cutoff=0.9)
        yield f"{path}: unknown rule {rule}{f'; did you mean {near[0]}?' if near else ''}"
