"""What is published has no path of the machine that judged."""

import json
import re
from pathlib import Path

import pytest

from field.anonymous import anonymous, without
from field.outside import RESULTS
from field.page import PAGE, PUBLISHED

PATHS = {Path("/home/jane/project/.field"): ".field", Path("/home/jane/project"): "specvino", Path("/usr"): "python"}

# The folders of a Unix or macOS system, and what a traceback of Python names.
OF_A_MACHINE = re.compile(
    r"/(?:home|root|tmp|Users|private|usr|opt|var|mnt|srv|workspace)/|File \\*\"/|[A-Z]:\\+Users|~/\.\w"
)

REPORTS = sorted([*PUBLISHED.glob("*.ndjson"), PAGE, RESULTS])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('File "/home/jane/project/.field/a/b.py", line 1', 'File ".field/a/b.py", line 1'),
        ("in /home/jane/project/tests", "in specvino/tests"),
        ('File "/home/jane/pro', 'File "…'),
        ('File "/home/', 'File "…'),
        ("'File \"/home/jane/proj…'", "'File \"…'"),
        ("one\n/home/jane", "one\n…"),
        ("http://127.0.0.1/home", "http://127.0.0.1/home"),
        ("GET /home", "GET /home"),
        ("GET /home/ of it", "GET /home/ of it"),
        ("a/home/", "a/home/"),
    ],
)
def test_a_path_is_taken_out_even_where_it_was_cut(text, wanted) -> None:
    assert without(text, PATHS) == wanted
    assert json.loads(without(json.dumps({"message": text}, ensure_ascii=False), PATHS)) == {"message": wanted}
    nested = json.dumps({"body": json.dumps({"message": text}, ensure_ascii=False)}, ensure_ascii=False)
    assert json.loads(json.loads(without(nested, PATHS))["body"]) == {"message": wanted}


@pytest.mark.parametrize("file", REPORTS, ids=lambda file: file.name)
def test_what_is_published_has_no_path_of_a_machine(file) -> None:
    text = file.read_text("utf-8")
    assert [text[found.start() - 60 : found.end() + 60] for found in OF_A_MACHINE.finditer(text)] == []
    assert anonymous(text, Path(".field").absolute()) == text
