"""What a chat template's rendering costs beside GenAI's own, which served until Jinja2 did (decision 073)."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from openvino_genai import Tokenizer
from rich.console import Console

from specvino.engine.chat_template import messages
from specvino.engine.chat_template.capabilities import Capabilities
from specvino.engine.chat_template.special_token_escaping import marker, seam_for, split
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.request import Conversation, Message, Tool

MODEL = Path(__file__).parents[1] / "models" / "tiny_text"
GOAL = 1.0  # of GenAI's CPU time
_ROUNDS = 9
_IN_A_ROW = 20  # OpenVINO's threads spin for a while behind each call


def compare(console: Console) -> None:
    """Renders and tokenizes 100 messages with 20 tools in turns, and prints the CPU times and their ratio."""
    tokenizer = load_tokenizer(str(MODEL))
    preprocessor = Preprocessor(tokenizer)
    asked = _conversation()
    ratios = []
    for _ in range(_ROUNDS):
        ours, genai = (
            _seconds(lambda: preprocessor.preprocess(asked)),
            _seconds(lambda: _by_genai(tokenizer, preprocessor, asked)),
        )
        ratios.append(ours / genai)
    console.print(f"templates, 100 messages with 20 tools, ms of CPU time: {ours * 1e3:.1f}, GenAI {genai * 1e3:.1f}")
    console.print(f"ours / GenAI: {min(ratios):.2f} to {max(ratios):.2f}; median {median(ratios):.2f}, at most {GOAL}")


def _by_genai(tokenizer: Tokenizer, preprocessor: Preprocessor, asked: Conversation) -> None:
    """The same but for the rendering: what users wrote is kept apart from control tokens, too."""
    seam = seam_for(list(messages.texts(asked)))
    mark = marker(preprocessor._marked, seam)
    turns = messages.turns(asked, Capabilities(), mark)
    rendered = tokenizer.apply_chat_template(turns, True, tools=messages.tools(asked, mark))
    preprocessor._encode_prompt(split(rendered, seam))


def _conversation() -> Conversation:
    turns = tuple(
        Message("assistant" if number % 2 else "user", f"Message {number}: the weather in Paris, again. " * 4)
        for number in range(99)
    )
    properties = {f"field_{number}": {"type": "string", "description": "A field."} for number in range(8)}
    parameters = {"type": "object", "properties": properties, "required": ["field_0"]}
    tools = tuple(Tool(f"tool_{number}", "Does something.", json.loads(json.dumps(parameters))) for number in range(20))
    return Conversation((*turns, Message("user", "hello")), tools)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    for _ in range(_IN_A_ROW):
        work()
    return (time.process_time() - begun) / _IN_A_ROW
