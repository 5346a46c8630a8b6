"""Is a check of Schemathesis known only to the whole process, and never forgotten?"""

import schemathesis
from schemathesis.checks import CHECKS
from verdict import report


def is_polite(context: object, response: object, case: object) -> None:
    """Checks nothing."""


schemathesis.check(is_polite)
known = is_polite.__name__ in CHECKS.get_all_names()
forgetting = [name for name in dir(schemathesis) if "unregister" in name]
report(known and not forgetting, f"known everywhere: {known}; public ways to forget it: {forgetting or 'none'}")
