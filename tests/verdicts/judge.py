"""Runs in a system's own environment: reads bodies, and says what the system's own classes make of them.

`judge.py PACKAGE FOLDER SETTINGS` first prints the JSON Schema of each class, as one line of JSON, then for each line
of its input, `[endpoint, body]`, the error as JSON: null if the body is valid, and "=" if it is so only because
pydantic converts a value, such as true to 1. Classes need pydantic, and nothing of this project. SETTINGS is JSON:
`classes`, by endpoint, `run` and `absent`, as systems.yaml has them.
"""

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
import types
import typing
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import ValidationError, core_schema


class Reached(Exception):
    """A class called a stub, so that nothing is known of the body."""


class Stub(types.ModuleType):
    """Stands for a module that isn't run, and for whatever is in it: a base class without members, a decorator that
    changes nothing, a type that any value has."""

    is_importing = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> object:
        if name == "__get_pydantic_core_schema__":
            return lambda source, handler: core_schema.any_schema()
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, child := Stub(f"{self.__name__}.{name}"))
        return child

    def __call__(self, *args: object, **named: object) -> object:
        if not Stub.is_importing and "logger" not in self.__name__:  # what is logged decides nothing
            raise Reached(self.__name__)
        if len(args) == 1 and not named and isinstance(args[0], (type, types.FunctionType)):
            return args[0]
        return Stub(self.__name__)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()

    def __getitem__(self, key: object) -> "Stub":
        return self

    def __or__(self, other: object) -> object:
        return typing.Any

    __ror__ = __or__
    __hash__ = object.__hash__


class Package(types.ModuleType):
    """A package whose `__init__.py` isn't run. A name in it is taken from where that file imports it."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        tree = ast.parse((Path(self.__path__[0]) / "__init__.py").read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        module = importlib.import_module("." * node.level + (node.module or ""), self.__name__)
                        return getattr(module, alias.name)
        return Stub(f"{self.__name__}.{name}")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of a system that are run; of the others it finds stubs."""

    def __init__(self, package: str, folder: Path, run: list[str], absent: list[str]) -> None:
        self._package, self._folder, self._run, self._absent = package, folder, {*run}, {*absent}

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        top, _, inside = name.partition(".")
        if top not in {self._package, *self._absent}:
            return None
        location = self._folder.joinpath(*inside.split(".")) if inside else self._folder
        if name in self._run:
            init = location / "__init__.py"
            file, inner = (init, [str(location)]) if init.is_file() else (location.with_suffix(".py"), None)
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=inner)
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = [str(location)]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        (location,) = spec.submodule_search_locations or [""]
        is_own = spec.name.partition(".")[0] == self._package
        return Package(spec.name) if is_own and Path(location).is_dir() else Stub(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """A stub has no code."""


class WithoutMedia:
    """Stands for the tracker of a conversation's media and for its parser: media are never fetched."""

    enable_prompt_embeds = False

    @property
    def model_config(self) -> "WithoutMedia":
        return self

    def create_parser(self, mm_processor_kwargs: object) -> "WithoutMedia":
        return self

    def get_num_items(self, modality: str) -> int:
        return 0

    def mm_placeholder_storage(self) -> dict[str, list[object]]:
        return {}

    def __getattr__(self, name: str) -> object:
        if not name.startswith("parse_"):
            raise AttributeError(name)
        return lambda *args: None


def conversation_of_vllm(request: typing.Any) -> None:
    """renderers/online_renderer.py: the messages are read, for a template that takes their contents as texts. Classes
    of the openai package leave lists unchecked until then."""
    messages = getattr(request, "messages", [])
    if hasattr(request, "input"):
        of_responses = importlib.import_module("vllm.entrypoints.openai.responses.utils")
        messages = of_responses.construct_input_messages(
            request_instructions=request.instructions, request_input=request.input
        )
        of_responses.construct_tool_dicts(request.tools, request.tool_choice)
    if Path(*importlib.import_module("vllm").__path__, "renderers", "chat_utils").is_dir():
        reading = importlib.import_module("vllm.renderers.chat_utils.chat_message")
        read = reading.parse_chat_message_content
    else:  # until 0.29
        reading = importlib.import_module("vllm.entrypoints.chat_utils")
        read = reading._parse_chat_message_content
    conversation = []
    for message in messages:
        conversation += read(message, WithoutMedia(), "string", False)
    reading._postprocess_messages(conversation)


def request_of_vllm(request: typing.Any) -> None:
    """The serving classes ask for the sampling parameters, whose class has checks of its own; utils: get_max_tokens."""
    kind = type(request).__name__
    if kind.startswith("Anthropic"):
        serving = importlib.import_module("vllm.entrypoints.anthropic.serving").AnthropicServingMessages
        request = serving.to_chat_completion_request(request)
    conversation_of_vllm(request)
    if kind == "AnthropicCountTokensRequest":
        return
    names = ("max_completion_tokens", "max_tokens", "max_output_tokens")  # in this order, the first that is there
    fields = vars(request)  # without the warning of a deprecated field
    asked = [fields[name] for name in names if fields.get(name) is not None]
    most = min([*asked[:1], 4096])
    if getattr(request, "use_beam_search", False):
        request.to_beam_search_params(most, {})
    elif hasattr(request, "to_sampling_params"):
        request.to_sampling_params(most, {})


class Rendering(Exception):
    """The chat request that SGLang makes of a request of responses is valid."""


def conversation_of_sglang(request: typing.Any) -> None:
    """serving_responses.py makes a chat request, which is validated, and then renders it."""

    def render(*args: object, **named: object) -> None:
        raise Rendering

    serving_class = importlib.import_module("sglang.srt.entrypoints.openai.serving_responses").OpenAIServingResponses
    serving = object.__new__(serving_class)
    serving.tool_call_parser = None
    serving.msg_store = {request.previous_response_id: []}
    serving.supports_inline_system = False
    serving.tokenizer_manager = types.SimpleNamespace(model_config=types.SimpleNamespace(is_multimodal=True))
    serving._validate_media_content = lambda chat_request: None
    serving._process_messages = render
    with contextlib.suppress(Rendering):
        serving._make_request(request, None, None).send(None)


def chat_of_sglang(request: typing.Any) -> typing.Any:
    """anthropic/serving.py makes a chat request of a request for a message, and of one whose tokens are counted."""
    module = importlib.import_module("sglang.srt.entrypoints.anthropic.serving")
    serving = object.__new__(module.AnthropicServing)
    serving._merge_inline_system = False
    serving.openai_serving_chat = types.SimpleNamespace(
        supports_native_reasoning_history=lambda: True, apply_reasoning_enabled=lambda *arguments: None
    )
    if type(request).__name__ == "AnthropicCountTokensRequest":
        names = ("model", "messages", "system", "thinking", "tools", "tool_choice", "output_config")
        request = module.AnthropicMessagesRequest(max_tokens=1, **{name: getattr(request, name) for name in names})
    return serving._convert_to_chat_completion_request(request)


def request_of_sglang(request: typing.Any) -> None:
    """serving_*.py makes the parameters; the tokenizer manager verifies them."""
    kind = type(request).__name__
    if kind.startswith("Anthropic"):
        request = chat_of_sglang(request)
        asked = {} if kind == "AnthropicCountTokensRequest" else request.to_sampling_params([], {})
    elif kind == "ResponsesRequest":
        conversation_of_sglang(request)
        asked = request.to_sampling_params(16, {})
    elif kind == "CompletionRequest":
        serving = importlib.import_module("sglang.srt.entrypoints.openai.serving_completions").OpenAIServingCompletion
        asked = serving._build_sampling_params(None, request)
    elif kind == "ChatCompletionRequest":
        asked = request.to_sampling_params([], {})
    else:
        return
    importlib.import_module("sglang.srt.sampling.sampling_params").SamplingParams(**asked).verify(32000)


def messages_of_mlc(request: typing.Any) -> None:
    """engine_base.py: process_chat_completion_request."""
    if hasattr(request, "check_message_validity"):
        request.check_message_validity()
        request.check_function_call_usage(types.SimpleNamespace(use_function_calling=False, function_string=""))


def request_of_fastdeploy(request: typing.Any) -> None:
    """engine_client.py and serving_completion.py begin with it."""
    request.to_dict_for_infer()


THEN = {
    "vllm": request_of_vllm,
    "sglang": request_of_sglang,
    "mlc_llm": messages_of_mlc,
    "fastdeploy": request_of_fastdeploy,
}


def _is_strictly_valid(adapter: "TypeAdapter[typing.Any]", text: str) -> bool:
    try:
        adapter.validate_json(text, strict=True)
    except ValidationError as error:
        # An object is no instance of a class that isn't pydantic's, which is no conversion of a value.
        return all(fault["type"] in ("dataclass_exact_type", "is_instance_of") for fault in error.errors())
    return True


def main() -> None:
    package, folder, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    sys.meta_path.insert(0, Finder(package, folder, settings["run"], settings["absent"]))
    classes = {}
    for endpoint, location in settings["classes"].items():
        file, _, name = location.partition(":")
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        classes[endpoint] = TypeAdapter(getattr(module, name))
    Stub.is_importing = False
    print(json.dumps({endpoint: model.json_schema() for endpoint, model in classes.items()}), flush=True)
    then = THEN.get(package, lambda request: None)
    for line in sys.stdin:
        endpoint, body = json.loads(line)
        text = json.dumps(body)  # validators may change the body
        try:
            then(classes[endpoint].validate_python(body))
            verdict = None if _is_strictly_valid(classes[endpoint], text) else "="
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            verdict = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        except Reached as error:
            verdict = f"? {error}"
        except Exception as error:  # any other error of the system refuses the body, too
            verdict = f"{type(error).__name__}: {error}"
        print(json.dumps(verdict), flush=True)


if __name__ == "__main__":
    main()
