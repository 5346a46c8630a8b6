"""Token ids brought to a length."""

from specvino.engine.protocol import PaddingSide


def pad_truncate(ids: list[int], max_length: int | None, pad: PaddingSide | None, pad_id: int) -> list[int]:
    """Keeps the first `max_length` ids, and fills fewer up to it on the side `pad`, unless that is None.

    The own truncation of OpenVINO Tokenizers 2026.4.1 depends on the model: tokenizers exported for text generation
    keep the last ids, and those made from GGUF ignore the length. Here all models do the same.
    """
    if max_length is None:
        return ids
    ids = ids[:max_length]
    padding = [pad_id] * (max_length - len(ids))
    match pad:
        case "left":
            return padding + ids
        case "right":
            return ids + padding
        case None:
            return ids
