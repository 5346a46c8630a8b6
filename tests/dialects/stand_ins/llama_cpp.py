"""llama.cpp b11434, on a model whose chat template has tools and reasoning. `answers/llama-cpp` is what it answers."""

from typing import Any

TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 500: "server_error"}
FINGERPRINT = "b11434-0f1e2d3"
EOS = 1
"""The token that ends a turn is one of the answer's, though nothing is shown of it."""


def timings(prompt: int, made: int) -> dict[str, Any]:
    return {
        "cache_n": 0,
        "prompt_n": prompt,
        "prompt_ms": 2.0 * prompt,
        "prompt_per_token_ms": 2.0,
        "prompt_per_second": 500.0,
        "predicted_n": made,
        "predicted_ms": 4.0 * made,
        "predicted_per_token_ms": 4.0,
        "predicted_per_second": 250.0,
    }


class LlamaRequests(TheirRequests):
    """One model is served, under any name."""

    system = "llama-cpp"

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        for error in self.violations(component, call.body):
            raise self.refusal(component, error)
        body = {**self.given(call.body), "model": self.server.model}
        return {**body, "tool_choice": self.choice(body)} if "tool_choice" in body else body

    def choice(self, body: Mapping[str, Any]) -> Any:
        """What is no text counts as auto."""
        choice = body["tool_choice"]
        return choice if isinstance(choice, str) else "auto"


class LlamaHttp(TheirHttp):
    statuses: ClassVar = {
        ErrorCode.INVALID_API_KEY: 401,
        ErrorCode.NOT_FOUND: 404,
        ErrorCode.METHOD_NOT_ALLOWED: 404,
    }

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        status = self.status(refusal)
        return {"error": {"code": status, "message": refusal.message, "type": TYPES[status]}}

    def json_headers(self, call: Call) -> Headers:
        return [(b"content-type", b"application/json; charset=utf-8")]
