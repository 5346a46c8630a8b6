"""Writes document.csv from OpenAI's document: `python tests/dialects/openai openapi.yaml COMMIT DATE`.

A field of which this project's document of OpenAI knows nothing is in it without what is inside.
"""

import json
import sys
from importlib.resources import files
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[2]))

from dialects.openai.differences import differences
from dialects.openai.openai_document import parts_of_openai, parts_of_ours
from dialects.openai.table import by_field, write

HEAD = """Facts of OpenAI's OpenAPI document {version} of {date}, commit {commit} of github.com/openai/openai-openapi:
which types a field's values have, whether it must be there, and the values, bounds and default that it has.
Written by `python tests/dialects/openai openapi.yaml COMMIT DATE`."""


def main(source: str, commit: str, date: str) -> None:
    document = yaml.load(Path(source).read_text("utf-8"), yaml.CSafeLoader)
    mine = json.loads((files("specvino.generated") / "dialects" / "openai.json").read_text("utf-8"))
    theirs, ours = by_field(document, parts_of_openai(document)), by_field(mine, parts_of_ours(mine))
    unknown = {each.field for each in differences(theirs, ours) if each.what == "missing here"}
    kept = {name: fact for name, fact in theirs.items() if name in ours or name in unknown}
    write(kept, HEAD.format(version=document["info"]["version"], date=date, commit=commit))


if __name__ == "__main__":
    main(*sys.argv[1:])
