"""Tools: what a request offers to the model, what the model may or must call, and the input of custom tools."""

from specvino.handlers.tools.calling import ToolCalling as ToolCalling
from specvino.handlers.tools.calling import arguments_of as arguments_of
from specvino.handlers.tools.calling import tool_calling as tool_calling
from specvino.handlers.tools.custom import CustomInput as CustomInput
from specvino.handlers.tools.custom import custom_arguments as custom_arguments
from specvino.handlers.tools.matching import CallMatcher as CallMatcher
from specvino.handlers.tools.offered import OfferedTool as OfferedTool
from specvino.handlers.tools.offered import anthropic as anthropic
from specvino.handlers.tools.offered import offered as offered
from specvino.handlers.tools.offered import qualified as qualified
