"""Every rule that a run can have."""

from functools import cache

from specvino.conformance.cases.capabilities import CAPABILITIES
from specvino.conformance.cases.case import all_cases
from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.check_texts import SAYS
from specvino.conformance.rules import RULES, RULES_OF_TRANSPORT


@cache
def all_rules() -> frozenset[str]:
    """Returns all rules by their ids."""
    whole = Dialect(WHOLE)
    found = {case.rule for case in all_cases()}
    found |= {each.rule for each in CAPABILITIES.values()}
    for endpoint in (*whole.operations, "transport"):
        rules = RULES_OF_TRANSPORT if endpoint == "transport" else RULES
        found |= {f"{endpoint}/rules/{rule(whole).name}" for rule in rules}
        found |= {f"{endpoint}/fuzz/{check}" for check in SAYS}
    return frozenset(found)
