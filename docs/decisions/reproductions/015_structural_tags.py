"""Do structural tags lack the empty text, and a choice between what ends and what may go on?"""

import json
from typing import Any

from grammar_probe import Probe
from verdict import report

ENDLESS = {"type": "any_text"}
ENDING = {"type": "const_string", "value": "x"}
TAGS = {
    "an empty text": {"type": "const_string", "value": ""},
    "an empty sequence": {"type": "sequence", "elements": []},
    "a choice of both kinds": {"type": "or", "elements": [ENDLESS, ENDING]},
}
probe = Probe()


def refused(format: Any) -> bool:
    """Whether the tag doesn't compile."""
    try:
        probe.allows("", structural_tags_config=json.dumps({"type": "structural_tag", "format": format}))
    except RuntimeError:
        return True
    return False


missing = [name for name, format in TAGS.items() if refused(format)]
report(bool(missing), f"refused: {', '.join(missing) or 'none'}")
