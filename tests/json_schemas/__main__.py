"""Prints what becomes of the schemas of the suite: `python -m json_schemas`. `--write` updates suite.yaml."""

import sys
from collections import defaultdict

from samples.outcomes import outcome

from json_schemas import suite


def main() -> None:
    listed: dict[str, dict[str, str]] = defaultdict(dict)
    for group in suite.groups():
        each = outcome(group.schema)
        if not each.enforced:
            listed[group.file][group.name] = str(each)
    if "--write" in sys.argv[1:]:
        suite.write(listed)


if __name__ == "__main__":
    main()
