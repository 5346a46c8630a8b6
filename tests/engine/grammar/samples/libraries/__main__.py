"""Writes exceptions.yaml: `python -m samples.libraries`."""

from collections import defaultdict

import yaml

from samples.libraries import EXCEPTIONS, refusal, schemas


def main() -> None:
    reasons: dict[str, dict[str, str]] = defaultdict(dict)
    for library, name, schema in schemas():
        if reason := refusal(schema):
            reasons[library][name] = reason
    text = yaml.safe_dump(dict(reasons), sort_keys=False, allow_unicode=True, width=1000)
    head = "# What a strict request of a library's schema is refused for. Written by `python -m samples.libraries`.\n"
    EXCEPTIONS.write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
