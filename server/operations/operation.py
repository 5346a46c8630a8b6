"""The innermost middleware: validation, handler and response, for one operation of the document.

During shutdown (`Drain`), new requests are rejected, and running ones may finish.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from connexion.middleware.abstract import RoutedAPI, RoutedMiddleware
from connexion.operations import AbstractOperation
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.engine.protocol import CLIENT, REQUEST
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import OPERATIONS, Operation, Reply, RequestContext
from specvino.handlers.allowance import Allowances
from specvino.handlers.errors import ApiError
from specvino.server.dialect.requests import appended
from specvino.server.dialect.system import ExtraPath, System
from specvino.server.operations.answer import ByModel, ByStatus, Described, send_json
from specvino.server.operations.errors import internal_error
from specvino.server.operations.exchange import exchange_of
from specvino.server.operations.streaming import send_events
from specvino.server.settings import Settings
from specvino.server.validation import support
from specvino.server.validation.bodies import Bodies, ClientGone, require_json
from specvino.server.validation.parsing import parse_json, parse_query
from specvino.server.validation.schema import SchemaCheck

# The readiness check of load balancers.
READINESS = "get_health"


class Drain:
    """The shutdown of a server: counts running requests, and rejects new ones once it has begun, without counting
    them.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self._begun = False

    def begin(self) -> None:
        self._begun = True

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts a request while it is running."""
        counts = not self._begun
        self.under_way += counts
        try:
            yield
        finally:
            self.under_way -= counts

    def require_open(self) -> None:
        """Raises ApiError once the drain has begun."""
        if self._begun:
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, "The server is shutting down.", retry_after=1)


class BoundOperation:
    """An operation with its handler, as an ASGI app."""

    def __init__(
        self,
        operation: Operation,
        handler: Callable[..., Awaitable[Reply[Any]]],
        settings: Settings,
        bodies: Bodies,
        drain: Drain,
        allowances: Allowances,
    ) -> None:
        self._operation = operation
        self._handler = handler
        self._settings = settings
        self._bodies = bodies
        self._drain = drain
        self._allowances = allowances
        self._body = SchemaCheck.of_component(operation.body) if operation.body else None
        self._system = settings.system
        self._of_any_type = self._system is not None and self._system.reads_any_type(operation.id)
        self._requests = self._system.requests(operation) if self._system else None
        self._parameters = SchemaCheck.of_parameters(operation.id)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        policy = self._settings.unsupported_fields
        exchange = exchange_of(scope)
        exchange.operation = self._operation
        owner, turn = scope["state"].get("owner", ""), scope["state"].get("turn")
        exchange.allowance = self._allowances.of(owner) if self._operation.limited else None
        context = RequestContext(
            exchange.request_id,
            refuses_unsupported=policy == "reject",
            owner=owner,
            notes=exchange.notes,
            extensions=self._system is not None,
            refuses_unmatched_calls=turn is not None
            or (self._system is not None and self._system.refuses_unmatched_calls),
            answers_empty_input=self._system is not None and self._system.answers_empty_input,
            limited_by_context=self._system is not None and self._system.limits_by_context,
            turn=turn,
            allowance=exchange.allowance,
            path=scope["path"],
        )
        CLIENT.set(owner or (scope["client"][0] if scope.get("client") else ""))
        REQUEST.set(exchange.request_id)
        arguments = {name: scope["path_params"][name] for name in self._operation.parameters}
        if "" in arguments.values():  # the router matches a greedy parameter with an empty string
            raise ApiError(ErrorCode.NOT_FOUND, f"The path {scope['path'][:200]} doesn't exist.")
        try:
            if self._operation.id == READINESS:
                self._drain.require_open()
            if exchange.allowance:
                await exchange.allowance.admit()
            query_arguments, unsupported = self._query(scope)
            arguments |= query_arguments
            self._parameters.require(arguments)
            if self._system:
                arguments = self._system.arguments(self._operation.id, arguments)
            arguments = {name: parameter.default for name, parameter in self._operation.query.items()} | arguments
            suffix = ""
            if self._body:
                arguments["body"], names, suffix = await self._read(scope, receive, self._body)
                unsupported = [*unsupported, *names]
            with self._drain.counted():
                await _until_gone(receive, self._answer(send, context, arguments, unsupported, suffix))
        except (ApiError, ClientGone) as error:
            if isinstance(error, ApiError):
                raise
        except Exception:
            raise internal_error(context.id) from None

    def _query(self, scope: Scope) -> tuple[dict[str, Any], list[str]]:
        """Returns the known query parameters, not validated yet, and the names of parameters without effect."""
        if not self._operation.query:
            return {}, []
        query = parse_query(scope["query_string"], self._operation.query)
        unsupported = support.apply(self._settings.unsupported_fields, query, f"{self._operation.id}.query")
        return {name: value for name, value in query.items() if name in self._operation.query}, unsupported

    async def _read(self, scope: Scope, receive: Receive, check: SchemaCheck) -> tuple[Any, list[str], str]:
        """Returns the body as an object built from the validated value, the names of its fields without effect, and the
        suffix to append to each text of the response."""
        require_json(scope, of_any_type=self._of_any_type)
        raw = await self._bodies.read(scope, receive)
        self._drain.require_open()  # after reading the body: a client that is still sending would miss the response
        policy, name = self._settings.unsupported_fields, self._operation.body or ""
        async with self._bodies.turn(len(raw)) as step:
            value, suffix, unused = await step(parse_json, raw), "", list[str]()
            if self._requests:
                original, value = value, await step(self._requests.read, value)
                suffix = self._requests.suffix(original)
                if policy != "reject":
                    value, unused = await step(self._requests.usable, value)
            await step(check.require, value)
            unsupported = [*unused, *await step(support.apply, policy, value, name)]
            return await step(self._operation.model.model_validate, value), unsupported, suffix

    async def _answer(
        self,
        send: Send,
        context: RequestContext,
        arguments: dict[str, Any],
        unsupported: Sequence[str],
        suffix: str,
    ) -> None:
        """Sends the handler's reply, with `suffix` appended to each of its texts. `unsupported` are the fields without
        effect that validation found."""
        try:
            reply = await self._handler(context, **arguments)
        except ApiError as error:
            if not (self._system and self._system.ignores_unusable_formats and _is_about_format(error)):
                raise
            free = arguments["body"].model_copy(update={"response_format": None})
            reply = await self._handler(context, **{**arguments, "body": free})
        if suffix:
            reply = appended(reply, suffix)
        headers = []
        names = [*unsupported, *reply.unsupported]
        if names and self._settings.unsupported_fields != "ignore":
            headers.append((b"x-unsupported-params", support.header(names).encode("ascii")))
        if isinstance(reply.body, AsyncGenerator):
            await send_events(send, reply.body, headers, self._operation, context.id, self._system)
        else:
            body = self._system.answer(self._operation.id, reply.body) if self._system else reply.body
            await send_json(send, body, headers)


def _is_about_format(error: ApiError) -> bool:
    """Returns whether an error says that a response_format can't constrain the answer."""
    unusable = error.code in (ErrorCode.INVALID_SCHEMA, ErrorCode.UNSUPPORTED_SCHEMA)
    return unusable and (error.param or "").partition(".")[0] == "response_format"


async def _until_gone(receive: Receive, work: Awaitable[None]) -> None:
    """Runs `work`, or cancels it when the client disconnects."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        for pending in (task, gone):
            pending.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def operations_middleware(
    handlers: dict[str, Callable[..., Awaitable[Reply[Any]]]],
    settings: Settings,
    drain: Drain,
    allowances: Allowances,
) -> type[Any]:
    """Returns a Connexion middleware that ends in the operations' handlers.

    It replaces Connexion's own validation (decision 038).
    """
    bodies = Bodies(settings.max_body)
    system = settings.system

    def bind(name: str, settings: Settings) -> ASGIApp:
        return BoundOperation(OPERATIONS[name], handlers[name], settings, bodies, drain, allowances)

    def at(extra: ExtraPath, system: System) -> ASGIApp:
        """Returns an operation as it responds at one of a system's extra paths."""
        if extra.by_status is not None:
            return ByStatus(bound[extra.operation], extra.by_status)
        if extra.by_model is not None:
            return ByModel(bound[extra.operation], extra.by_model)
        if extra.answer is not None:
            return Described(bind(extra.operation, replace(settings, system=None)), extra, bodies, system.version)
        return bound[extra.operation]

    bound: dict[str, ASGIApp] = {name: bind(name, settings) for name in OPERATIONS}
    if system:
        bound |= {extra.id: at(extra, system) for extra in system.extra_paths}

    class OperationsAPI(RoutedAPI):  # type: ignore[misc]
        def __init__(self, *args: Any, next_app: ASGIApp, **kwargs: Any) -> None:
            super().__init__(*args, next_app=next_app, **kwargs)
            self.add_paths()

        def make_operation(self, operation: AbstractOperation) -> ASGIApp:
            return bound[operation.operation_id]

    class OperationsMiddleware(RoutedMiddleware):  # type: ignore[misc]
        api_cls = OperationsAPI

    return OperationsMiddleware
