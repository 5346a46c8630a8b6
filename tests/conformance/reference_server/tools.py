"""What the model may call, and whether it must."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reference_server.part import Part
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class Offer:
    """`functions` may be called, by name. `legacy`: the request has functions instead of tools."""

    functions: Mapping[str, Mapping[str, Any]]
    forced: bool = False
    several: bool = True
    legacy: bool = False


class Tools(Part):
    """Reads `tools`, `tool_choice` and their legacy names."""

    def offer(self, body: Mapping[str, Any]) -> Offer:
        """Raises Refusal."""
        functions, tools = body.get("functions") or [], body.get("tools") or []
        if functions and tools:
            raise Refusal(ErrorCode.INVALID_VALUE, "functions is the legacy name of tools.", "functions")
        if functions or isinstance(body.get("function_call"), Mapping):
            choice = body.get("function_call", "auto")
            mode, names, param = (
                (choice, None, "function_call")
                if isinstance(choice, str)
                else ("required", [choice["name"]], "function_call.name")
            )
            return self.chosen(functions, mode, names, param, several=False, legacy=True)
        mode, names, param = self.choice(body.get("tool_choice", "auto"))
        several = self.several(body) and param not in ("tool_choice.function.name", "tool_choice.name")
        return self.chosen(self.functions(tools), mode, names, param, several=several)

    def functions(self, tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Those among the tools, in either form."""
        functions = []
        for tool in tools:
            if isinstance(tool.get("function"), Mapping):
                functions.append(tool["function"])
            elif tool.get("type") in ("function", "custom") and "name" in tool:
                functions.append(tool)
            elif tool.get("type") == "namespace":
                functions += [self.namespaced(tool["name"], inner) for inner in self.functions(tool["tools"])]
        return functions

    def namespaced(self, namespace: str, tool: Mapping[str, Any]) -> Mapping[str, Any]:
        """The tool under a name of its own, which keeps the other two."""
        return {**tool, "name": f"{namespace}__{tool['name']}", "of": {"namespace": namespace, "name": tool["name"]}}

    def choice(self, choice: Any) -> tuple[str, list[str] | None, str]:
        """The mode, the functions that it is about (None: all), and the field that names them."""
        if isinstance(choice, str):
            return choice, None, "tool_choice"
        if isinstance(choice.get("function"), Mapping):
            return "required", [choice["function"]["name"]], "tool_choice.function.name"
        if choice.get("type") == "function":
            return "required", [choice["name"]], "tool_choice.name"
        if choice.get("type") == "allowed_tools":
            allowed, param = choice.get("allowed_tools", choice), "tool_choice.allowed_tools.tools"
            param = param if "allowed_tools" in choice else "tool_choice.tools"
            return allowed["mode"], [function["name"] for function in self.functions(allowed["tools"])], param
        raise Refusal(ErrorCode.UNSUPPORTED_TOOL, "Only functions can be called here.", "tool_choice")

    def several(self, body: Mapping[str, Any]) -> bool:
        """Whether one answer may hold several calls."""
        return body.get("parallel_tool_calls") is not False

    def chosen(
        self,
        functions: Sequence[Mapping[str, Any]],
        mode: str,
        names: list[str] | None,
        param: str,
        *,
        several: bool,
        legacy: bool = False,
    ) -> Offer:
        known = {function["name"]: function for function in functions}
        for name in names or ():
            if name not in known:
                self.refuse_unknown(name, param)
        if mode == "none":
            return Offer({}, legacy=legacy)
        if mode == "required" and not known:
            raise Refusal(ErrorCode.UNKNOWN_TOOL, f"{param} demands a call, but there are no functions.", param)
        offered = {name: function for name, function in known.items() if names is None or name in names}
        return Offer(offered, forced=mode == "required", several=several, legacy=legacy)

    def refuse_unknown(self, name: str, param: str) -> None:
        raise Refusal(ErrorCode.UNKNOWN_TOOL, f"{param} names {name[:200]!r}, which the request doesn't have.", param)
