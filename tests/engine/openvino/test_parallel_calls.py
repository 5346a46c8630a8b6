"""Several calls that must be made: in every format they come to an end, and show no markup wherever they are cut."""

import pytest
from support.conversation import answer, reasons, text
from support.engines import running
from support.tools import TIME, WEATHER, calls, with_tools

from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.output_parsers import TOOL_PARSERS


@pytest.mark.parametrize("name", TOOL_PARSERS)
def test_in_every_format(name: str, tiny_text: ModelSource) -> None:
    """There are four calls that differ, and any of them may come again."""

    async def test(engine: OpenVINOEngine) -> None:
        segments = await answer(engine, with_tools("hello", WEATHER, TIME, must_call=True, max_tokens=600))
        made = calls(segments)
        assert 1 <= len(made) == len(set(made))
        assert (text(segments), reasons(segments)) == ("", {0: "tool_calls"})
        for most in (1, 2, 3, 5, 8, 13, 21, 34):
            segments = await answer(engine, with_tools("hello", WEATHER, TIME, must_call=True, max_tokens=most))
            assert text(segments) == ""

    running(tiny_text, test, tool_parser=name, reasoning_parser="none")
