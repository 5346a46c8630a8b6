"""Does the engine allow numbers that a schema forbids, or texts that are no numbers?"""

import json

from grammar_probe import Probe
from verdict import report

WRONG = {
    "1x5": {"type": "number", "minimum": 0.5, "maximum": 1.5},
    "2.4": {"type": "number", "minimum": 2.5},
    "0.5": {"type": "number", "exclusiveMinimum": 0.5},
    "3": {"type": "integer", "multipleOf": 5},
}
probe = Probe()
allowed = [
    f"{text} for {schema}" for text, schema in WRONG.items() if probe.allows(text, json_schema=json.dumps(schema))
]
report(bool(allowed), f"it allows {'; '.join(allowed) or 'none of them'}")
