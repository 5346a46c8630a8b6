"""The correct server: everything that the document says, with a model that has words but no sense.

`Faux` is an ASGI app. Each of its methods has one idea, so that a defect can override just one. By module:

* http: the way of a request (`serve`), `request_id`, `route`, `without_base`, `wrong_method`, `authorize`, `is_key`,
  `read`, `require_size`, `require_media`, `parse`, `object` (keys twice), `encode`, `common_headers`, `json_headers`,
  `stream_headers`, `respond`, `refuse`, `status`, `envelope`, `refusal_headers`, `allowed`, `answer`, `stream`,
  `work`, `wait`, `is_left` (the client is gone), `frame`, `event_name`, `end` (the terminator), `is_preflight`,
  `preflight_headers`, `allowed_headers`, `origin_headers`
* models: `list_models`, `retrieve_model`, `described`, `require_model`, `health`, `version`
* requests: `accepted`, `given` (null is absent), `violations`, `refusal`, `message`, `param`, `unsupported`,
  `unsupported_headers`
* tools: `offer`, `functions`, `choice`, `several`, `chosen`, `refuse_unknown`
* generation: `require_settings`, `require_context`, `form`, `satisfied`, `thinks`, `outputs`, `output`, `index`,
  `seed`, `budget`, `script`, `length`, `wants_call`, `calls`, `arguments`, `call_id`, `formed`, `stops`, `stopped`,
  `kept`, `cut`, `reason`, `completion_tokens`, `total`
* chat: `chat`, `chat_id`, `chat_asked`, `chat_limit`, `turn`, `role`, `content_text`, `part_text`, `rendered`,
  `shown`, `chat_completion`, `chat_choices`, `chat_choice`, `chat_message`, `chat_text`, `chat_thoughts`,
  `tool_call`, `function`, `chat_reason`, `chat_usage`, `chat_logprobs`, `token_logprob`, `shown_logprob`,
  `token_bytes`, `top_logprobs`; of streams: `chat_events`, `steps`, `role_delta`, `deltas`, `text_deltas`,
  `call_delta`, `function_delta`, `finishes`, `chunk_choice`, `reason_so_far`, `chat_chunk`, `chunk_id`,
  `chunk_created`, `chunk_model`, `usage_so_far`, `wants_usage`, `usage_events`

The model says the same again at temperature 0 and with the same seed. It calls a function when it must, or when the
user names the weather: once for each of `generation.CITIES` that is named. It thinks when `reasoning_effort` or
`enable_thinking` ask for it.
"""

from typing import ClassVar

from specvino.conformance.faux.stored import Stored


class Faux(Stored):
    """`key` is what clients must send, `model` the name of the one model. A defect says what it breaks."""

    breaks: ClassVar[set[str]] = set()
    """The rules that must fail, as patterns of which each must match one at least."""
    also: ClassVar[set[str]] = set()
    """Patterns of rules that may fail with them."""
