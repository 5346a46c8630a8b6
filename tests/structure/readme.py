"""The table of fields and the number of systems in the README, from the document."""

import re

from support.portal import SOURCE

from specvino.generated.systems import SYSTEMS
from structure.imports import PROJECT

README = PROJECT / "README.md"

# What people ask for: fields that some systems honor and others ignore or refuse.
FIELDS = (
    "temperature",
    "top_k",
    "min_p",
    "repetition_penalty",
    "seed",
    "logit_bias",
    "logprobs",
    "n",
    "max_completion_tokens",
    "response_format.json_schema",
    "structured_outputs",
    "tools",
    "parallel_tool_calls",
    "reasoning_effort",
    "chat_template_kwargs",
    "stream_options.include_usage",
)

_PLACE = re.compile(r"(<!-- drawn: fields -->\n).*?(<!-- end -->)", re.DOTALL)
_BADGE = re.compile(r"!\[\d+ systems\]\(https://img\.shields\.io/badge/systems-\d+-")


def table() -> str:
    """Returns a row for each field: whether this server honors it, and its level in each system."""
    fields = {field.name: field for field in SOURCE.fields}
    rows = [f"| field | {' | '.join(SYSTEMS.values())} |", f"| --- |{' --- |' * len(SYSTEMS)}"]
    for path in FIELDS:
        support = fields[f"chat.{path}"].support
        levels = (support[system].level if system in support else "" for system in SYSTEMS)
        rows.append(f"| `{path}` | {' | '.join(levels)} |")
    return "".join(f"{row}\n" for row in rows)


def drawn(text: str) -> str:
    """Returns the text with the table and the badge made anew."""
    return _BADGE.sub(_badge(), _PLACE.sub(lambda match: match[1] + table() + match[2], text))


def _badge() -> str:
    return f"![{len(SYSTEMS)} systems](https://img.shields.io/badge/systems-{len(SYSTEMS)}-"
