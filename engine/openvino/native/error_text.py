"""OpenVINO's error texts, made fit for a client or a terminal: one line, no C++ file names, no template's text."""

import re

_NOISE = re.compile(r"(Exception from |Check '|\[json\.exception)")
_TEMPLATE = re.compile(r"Minja's error: (.*?)(?: at row \d+, column \d+:|$)", re.MULTILINE)
_POSITION = re.compile(r" at row \d+, column \d+:$")


def one_line(error: Exception) -> str:
    """Returns the first line that tells something, without its position in a template."""
    text = str(error)
    if template := _TEMPLATE.search(text):
        return template.group(1)
    lines = (line.strip() for line in text.splitlines())
    line = next((line for line in lines if line and not _NOISE.match(line)), type(error).__name__)
    return _POSITION.sub("", line).split(": [json.exception")[0]
