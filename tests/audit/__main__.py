"""`python -m audit DATABASE`: the advisories in OSV's `all.zip` of PyPI that concern the versions in constraints.txt.

The file is at https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip. With a network, pip-audit does the same.
"""

import sys
from pathlib import Path

from audit.database import audited, constraints

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def main() -> None:
    """Prints what concerns us, and how old the database is. The exit code is 1 if there is anything."""
    newest, findings = audited(Path(sys.argv[1]), constraints(CONSTRAINTS.read_text("utf-8")))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} advisories concern constraints.txt; the newest in the database is of {newest[:10]}")
    sys.exit(bool(findings))


main()
