"""What a model's scores (logits) say of its tokens, before anything is done to them."""

from collections.abc import Iterable

import numpy

from specvino.engine.openvino.full_logits.model import Logits
from specvino.engine.openvino.messages.worker import Likeliest


def log_softmax(logits: Logits) -> Logits:
    """Returns the logarithms of the tokens' probabilities: log p(i) = x(i) - log(sum(exp(x))), in rows of the
    vocabulary."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    normalized: Logits = shifted - numpy.log(numpy.exp(shifted).sum(axis=-1, keepdims=True, dtype=numpy.float64))
    return normalized.astype(numpy.float32)


def rank(logprobs: Logits, token: int) -> int:
    """Returns a token's place among all, of which the likeliest has 1; of equals that of the lower id."""
    likelier = logprobs > logprobs[token]
    return int(likelier.sum() + (logprobs[:token] == logprobs[token]).sum()) + 1


def those(logprobs: Logits, ids: Iterable[int]) -> Likeliest:
    """Returns these tokens with their logprobs, each once."""
    return [(id, float(logprobs[id])) for id in dict.fromkeys(ids)]


def likeliest(logprobs: Logits, count: int) -> Likeliest:
    """Returns so many of the likeliest tokens with their logprobs, the likeliest first; of equals that of the lower
    id."""
    if not count:
        return []
    count = min(count, len(logprobs))
    least = numpy.partition(logprobs, -count)[-count]
    ids = numpy.flatnonzero(logprobs >= least)
    order = ids[numpy.lexsort((ids, -logprobs[ids]))][:count]
    return [(int(id), float(logprobs[id])) for id in order]
