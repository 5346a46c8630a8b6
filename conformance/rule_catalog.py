"""The ids of all rules, and the version of the rules."""

from functools import cache

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import all_cases
from specvino.conformance.clients.profile import all_clients
from specvino.conformance.dialect import own_dialect
from specvino.conformance.fuzz.options import SAYS
from specvino.conformance.rules import RULES, RULES_OF_TRANSPORT

RULES_VERSION = "6.0"
"""The version of the rules, which reports show as `judged by rules N.M`.

The first number grows if a server may get another verdict on a `must` rule. The second grows if advice, wording or
counts change, so that a baseline may need new entries. Changes of a system's document show in the document's digest.
"""


@cache
def all_rules() -> frozenset[str]:
    """Returns the ids of all rules: cases, capabilities, requests of clients, rules for all answers, fuzz checks."""
    dialect = own_dialect()
    ids = {case.rule for case in all_cases()}
    ids |= {capability.rule for capability in all_capabilities().values()}
    ids |= {client.rule_of(request) for client in all_clients().values() for request in client.requests}
    for endpoint in (*dialect.operations, "transport"):
        rules = RULES_OF_TRANSPORT if endpoint == "transport" else RULES
        ids |= {f"{endpoint}/rules/{rule(dialect).name}" for rule in rules}
        ids |= {f"{endpoint}/fuzz/{check}" for check in SAYS}
    return frozenset(ids)
