"""Tables of streams as they are written in the document, and a stream that keeps to one."""

import copy
from pathlib import Path

import yaml

from specvino.codegen.emit import tables
from specvino.generated import streams

_HERE = Path(__file__).parent


def read(name):
    """The content of a file beside this one: `responses_table.yaml`, say."""
    return yaml.safe_load((_HERE / name).read_text(encoding="utf-8"))


def emitted(table):
    """The Stream that codegen makes of an x-stream, of the classes that the judges know."""
    operation = {"x-endpoint": "this", "x-stream": table}
    text = tables.streams({"paths": {"/this": {"post": operation}}})
    namespace = dict(vars(streams))
    exec(text[text.index("STREAMS:") :], namespace)
    return namespace["STREAMS"]["this"]


def numbered(events):
    """Copies of events of a response, with their sequence numbers."""
    return [{**copy.deepcopy(event), "sequence_number": number} for number, event in enumerate(events)]
