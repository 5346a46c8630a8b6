"""Prints failures that exceptions.yaml doesn't have, as entries for it, and entries that no longer fail:
`python -m templates`. `--write` updates docs/chat-templates.md.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import yaml
from openvino_genai import Tokenizer
from support.speaker import Speaker

from templates.corpus import corpus
from templates.exceptions import KNOWN
from templates.oracle import Oracle
from templates.page import PAGE, page
from templates.turns import CASES

TINY_TEXT = Path(__file__).parents[1] / "models" / "tiny_text"

# The checks that fail, by template and case.
Failing = Mapping[tuple[str, str], set[str]]


def failing_checks() -> Failing:
    with tempfile.TemporaryDirectory() as folder:
        says = Speaker(Tokenizer(TINY_TEXT), Path(folder)).says
        oracles = {name: Oracle(text) for name, text in corpus().items()}
        return {
            (name, case): set(oracle.failures(case, says))
            for name, oracle in oracles.items()
            if oracle.writes_calls
            for case in CASES
        }


def entries(failing: Failing) -> str:
    """Returns entries in YAML, in which templates with the same failures are grouped."""
    by_template: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (name, case), checks in failing.items():
        if checks:
            by_template[name][", ".join(sorted(checks))].append(case)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name, by_checks in by_template.items():
        for which, cases in by_checks.items():
            alike[which, tuple(cases)].append(name)
    listed = [
        {"because": "", "templates": names, "cases": list(cases), "checks": which.split(", ")}
        for (which, cases), names in alike.items()
    ]
    return yaml.safe_dump(listed, sort_keys=False, allow_unicode=True, width=120) if listed else ""


def main() -> None:
    failing = failing_checks()
    unknown = {key: checks - KNOWN.failing(*key) for key, checks in failing.items()}
    unneeded = {key: KNOWN.failing(*key) - checks for key, checks in failing.items()}
    for title, part in (("not known", unknown), ("no longer failing", unneeded)):
        count = sum(map(len, part.values()))
        print(f"# {title}: {count}\n{entries(part)}")
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(lambda name, case: failing.get((name, case), set())), encoding="utf-8")


if __name__ == "__main__":
    main()
