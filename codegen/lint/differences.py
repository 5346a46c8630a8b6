"""The rules by which this server answers otherwise than another system, on purpose."""

import re
from collections.abc import Iterator

from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec

# With more of them nobody could say any longer how the two differ.
MOST = 20

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
ENTRY = {"cases": int, "reason": str}


def differences(spec: Spec) -> Iterator[Problem]:
    """Differences are few, and each has a name, a reason and the number of requests that show it."""
    for system, dialect in spec.dialects.items():
        rules = dialect.get("differences", {})
        if len(rules) > MOST:
            yield Problem("differences", system, f"has {len(rules)} differences, but may have {MOST}")
        for name, entry in rules.items():
            place = f"{system} {name}"
            if not NAME.fullmatch(name):
                yield Problem("differences", place, "is not named in small letters and hyphens")
            if entry.keys() != ENTRY.keys():
                yield Problem("differences", place, f"has {', '.join(entry)}, but must have {', '.join(ENTRY)}")
                continue
            for key, kind in ENTRY.items():
                if type(entry[key]) is not kind or not entry[key]:
                    yield Problem("differences", place, f"{key} must be given, as {kind.__name__}")
