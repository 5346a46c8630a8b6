"""The document and the pages state the bounds of the store."""

from pathlib import Path

import pytest

from specvino.handlers.store.protocol import MOST_BYTES, MOST_ITEMS, MOST_LINKS, PAGE_BYTES

ROOT = Path(__file__).parents[3]
WHOLE = f"{MOST_LINKS:,} responses, {MOST_ITEMS:,} stored items or {MOST_BYTES >> 20} MiB"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("openapi/paths/responses.yaml", WHOLE),
        ("openapi/paths/compact.yaml", WHOLE),
        ("openapi/paths/input_tokens.yaml", WHOLE),
        ("openapi/paths/conversations.yaml", f"more than {MOST_BYTES >> 20} MiB"),
        ("openapi/paths/conversation_items.yaml", f"more than {MOST_BYTES >> 20} MiB"),
        ("openapi/paths/conversation_items.yaml", f"would exceed {PAGE_BYTES >> 20} MiB"),
        ("openapi/paths/response_input_items.yaml", f"would exceed {PAGE_BYTES >> 20} MiB"),
        ("docs/deployment.md", f"{MOST_LINKS:,} responses, {MOST_ITEMS:,} items and {MOST_BYTES >> 20} MiB in all"),
    ],
)
def test_the_bounds_are_stated(file: str, text: str) -> None:
    assert text in (ROOT / file).read_text("utf-8")
