"""Does the engine's reading of JSON Schemas allow white space without end?"""

import json

from grammar_probe import Probe
from verdict import report

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
SPACES = 500
endless = Probe().begins("{" + " \n" * (SPACES // 2), json_schema=json.dumps(SCHEMA))
report(endless, f"{SPACES} characters of white space may follow an opening brace")
