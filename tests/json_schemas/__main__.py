"""Prints the page on what becomes of the schemas; `--write` writes it, and suite.yaml."""

import sys
from collections import defaultdict

from samples.outcomes import outcome

from json_schemas import suite
from json_schemas.page import PAGE, figures_of_corpus, figures_of_suite, page


def main() -> None:
    text = page(figures_of_corpus(), figures_of_suite())
    print(text)
    if "--write" not in sys.argv[1:]:
        return
    PAGE.write_text(text, encoding="utf-8")
    listed: dict[str, dict[str, str]] = defaultdict(dict)
    for group in suite.groups():
        result = outcome(group.schema)
        if not result.enforced:
            listed[group.file][group.name] = str(result)
    suite.write(listed)


if __name__ == "__main__":
    main()
