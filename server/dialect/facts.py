"""What only this server knows of what other systems' answers have."""

from collections.abc import Callable, Mapping
from time import time
from typing import Any
from uuid import uuid4

from specvino.engine.protocol import Engine
from specvino.server.dialect.system import System


def speaker(name: str, engines: Mapping[str, Engine], *, named: bool) -> System:
    """Returns the system as which a server speaks; `engines` are given by all names of their models, which are `named`
    if the operator chose them."""
    return System(name, tuple(engines), _given(engines), named=named)


def _given(engines: Mapping[str, Engine]) -> Mapping[str, Mapping[str, Callable[[Any], Any]]]:
    """Returns members by component and name, each as what makes it of the object that it is in."""
    return {
        "Model": {
            "root": lambda model: model["id"],
            "max_model_len": lambda model: engines[model["id"]].model.context_length,
        },
        "ModelPermission": {"id": lambda _: f"modelperm-{uuid4().hex}", "created": lambda _: int(time())},
        "DetokenizeResponse": {"text": _said, "content": _said},
        "CompletionLogprobs": {"top_logprobs": _chosen_alone},
    }


def _said(answer: dict[str, Any]) -> str:
    """Returns the text of tokens, which has another name in each system."""
    text: str = answer["prompt"]
    return text


def _chosen_alone(logprobs: dict[str, Any]) -> list[dict[str, float]]:
    """Returns the likely tokens where none were asked for: systems that always have them show the chosen one."""
    chosen = zip(logprobs["tokens"], logprobs["token_logprobs"], strict=True)
    return [{} if logprob is None else {token: logprob} for token, logprob in chosen]
