"""The correct server: everything that the document says, with a model that has words but no sense.

`ReferenceServer` is an ASGI app. Each of its methods has one idea, so that a mutant can override just one. By module:

* http: the way of a request (`serve`), `now`, `request_id`, `route`, `without_base`, `wrong_method`, `authorize`,
  `is_key`, `read`, `require_size`, `require_media`, `parse`, `object` (keys twice), `encode`, `common_headers`,
  `json_headers`, `stream_headers`, `respond`, `refuse`, `status`, `envelope`, `refusal_headers`, `allowed`, `answer`,
  `stream`, `work`, `wait`, `is_left` (the client is gone), `frame`, `event_name`, `end` (the terminator),
  `is_preflight`, `preflight_headers`, `allowed_headers`, `origin_headers`
* models: `list_models`, `retrieve_model`, `described`, `require_model`, `health`, `version`
* requests: `accepted`, `given` (null is absent), `violations`, `refusal`, `message`, `param`, `unsupported`,
  `unsupported_headers`
* tools: `offer`, `functions`, `choice`, `several`, `chosen`, `refuse_unknown`
* generation: `require_settings`, `require_context`, `form`, `satisfied`, `thinks`, `outputs`, `output`, `index`,
  `seed`, `is_greedy`, `budget`, `script`, `length`, `wants_call`, `calls`, `arguments`, `call_id`, `formed`, `stops`,
  `stopped`, `kept`, `cut`, `reason`, `completion_tokens`, `total`
* chat: `chat`, `chat_id`, `chat_asked`, `chat_limit`, `turn`, `role`, `content_text`, `part_text`, `rendered`,
  `shown`, `chat_completion`, `chat_choices`, `chat_choice`, `chat_message`, `chat_text`, `chat_thoughts`,
  `tool_call`, `function`, `chat_reason`, `chat_usage`, `chat_logprobs`, `token_logprob`, `shown_logprob`,
  `token_bytes`, `top_logprobs`; of streams: `chat_events`, `steps`, `role_delta`, `deltas`, `text_deltas`,
  `call_delta`, `function_delta`, `finishes`, `chunk_choice`, `reason_so_far`, `chat_chunk`, `chunk_id`,
  `chunk_created`, `chunk_model`, `usage_so_far`, `wants_usage`, `usage_events`
* completions: `completions`, `completion_id`, `completion_asked`, `completion_limit`, `prompts`, `prompt_ids`,
  `completion`, `completion_choice`, `completion_text`, `echoed`, `completion_usage`, `completion_logprobs`,
  `text_offsets`, `completion_top`; of streams: `completion_events`, `text_chunk`, `completion_finishes`,
  `text_choice`, `completion_chunk`
* tokenize: `tokenize`, `listed`, `text_tokens`, `with_special`, `shortened`, `padded`, `pads_left`
* items: `input_items`, `whole_item`, `plain_part`, `item_turns`, `item_text`, `item_part_text`, `thoughts_of`,
  `unsealed`, `runs`, `items`, `item_status`, `item`, `item_id`, `message_item`, `text_part`, `output_logprobs`,
  `call_item`, `reasoning_item`, `wants_summary`, `sealed`, `begun`
* item_events: `item_events`, `item_added`, `item_done`, `item_id_of`, `call_events`, `arguments_delta`,
  `arguments_done`, `part_events`, `empty_part`, `part_delta`, `part_text_done`
* responses: `responses`, `response_stream`, `stores`, `response_asked`, `instructed`, `response_limit`, `resolved`,
  `begun_response`, `response_id`, `is_background`, `echo`, `echoed_tools`, `echoed_choice`, `echoed_text`,
  `echoed_metadata`, `response`, `response_status`, `incomplete_details`, `response_usage`, `response_events`,
  `first_events`, `last_events`, `numbered`, `sequence_number`
* stored: `keep`, `record`, `stored_item`, `earlier`, `retrieve_response`, `looked_at`, `delete_response`, `forget`,
  `cancel_response`, `cancelled`, `list_input_items`, `ordered`, `start`, `page_size`, `has_more`, `flag`, `integer`

The model says the same again at temperature 0 and with the same seed. It calls a function when it must, or when the
user names the weather: once for each of `generation.CITIES` that is named. It thinks when `reasoning_effort` or
`enable_thinking` ask for it. What waits in the background is done when it is looked at a second time.
"""

from typing import ClassVar

from reference_server.stored import Stored


class ReferenceServer(Stored):
    """`key` is what clients must send, `model` the name of the one model."""

    breaks: ClassVar[set[str]] = set()
    """Of a mutant: the rules that it is there for, or patterns of which it breaks every rule. `mutants/broken.yaml` has
    all that it breaks."""
