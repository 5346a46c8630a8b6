"""The documents themselves, as JSON."""

import json
from typing import Any


def to_json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
