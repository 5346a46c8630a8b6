"""Every rule that a run can have."""

from functools import cache

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import all_cases
from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.options import SAYS
from specvino.conformance.rules import RULES, RULES_OF_TRANSPORT


@cache
def all_rules() -> frozenset[str]:
    """Returns all rules by their ids."""
    whole = Dialect(WHOLE)
    found = {case.rule for case in all_cases()}
    found |= {each.rule for each in all_capabilities().values()}
    for endpoint in (*whole.operations, "transport"):
        rules = RULES_OF_TRANSPORT if endpoint == "transport" else RULES
        found |= {f"{endpoint}/rules/{rule(whole).name}" for rule in rules}
        found |= {f"{endpoint}/fuzz/{check}" for check in SAYS}
    return frozenset(found)
