"""Answers to messages that the server cannot serve, so that no request waits."""

from __future__ import annotations

import logging
from typing import Any, TypeGuard

import attrs
from cattrs import transform_error
from cattrs.errors import BaseValidationError
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)

from ..protocol.wire import FullgraphProtocol
from ..text.visible import visible

_log = logging.getLogger(__name__)

_MOST_CHARACTERS = 200
"""The most characters of a message that an error quotes."""


class AnsweringProtocol(FullgraphProtocol):
    """The LSP protocol that answers every request; an invalid request gets an error."""

    def structure_message(self, data: Any) -> Any:
        """Return ``data`` unchanged; pygls calls this method for each object in a message."""
        return data

    def read_message(self, data: dict[str, Any]) -> Any:
        """Convert a client's message to an object of lsprotocol.

        Raises :class:`JsonRpcException` if the message is invalid.
        """
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            raise JsonRpcInvalidParams(_fault(error.__cause__ or error)) from None

    def handle_message(self, message: Any) -> None:
        """Serve a JSON value from the client; answer an invalid request with an error."""
        try:
            self._serve(message)
        except BrokenPipeError:
            raise
        except JsonRpcException as error:
            self._refuse(message, error)
        except Exception as error:
            _log.exception("a message cannot be read")
            self._refuse(message, JsonRpcInvalidParams(_fault(error)))

    def refuse_text(self, error: Exception) -> None:
        """Answer a text that is not JSON."""
        self._refuse(None, JsonRpcParseError(f"The message is not JSON: {_shown(str(error))}."))

    def _serve(self, message: Any) -> None:
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            raise JsonRpcInvalidRequest("A message is a JSON object with jsonrpc 2.0.")
        if "method" not in message:
            self._take_response(message)
        elif "id" in message:
            self._check_request(message)
            super().handle_message(self.read_message(_call(message)))
        elif self._is_ready or message["method"] in (types.EXIT, types.CANCEL_REQUEST):
            super().handle_message(self.read_message(_call(message)))

    @property
    def _is_ready(self) -> bool:
        return self._workspace is not None and not self._shutdown

    def _check_request(self, message: dict[str, Any]) -> None:
        """Raise an error if the request cannot be served, whatever its parameters are."""
        method = message["method"]
        if not isinstance(method, str) or not _is_id(message["id"]):
            raise JsonRpcInvalidRequest("A request needs a method, and an id that is a string or an integer.")
        if self._shutdown:
            raise JsonRpcInvalidRequest("The server has shut down.")
        if self._workspace is None and method != types.INITIALIZE:
            raise JsonRpcServerNotInitialized("The server is not initialized yet.")
        if self._workspace is not None and method == types.INITIALIZE:
            raise JsonRpcInvalidRequest("The server is initialized already.")
        self._get_handler(method)
        kind = self.get_message_type(method)
        if kind is not None and "id" not in attrs.fields_dict(kind):
            raise JsonRpcInvalidRequest(f"{method} is a notification: it has no id.")

    def _take_response(self, message: dict[str, Any]) -> None:
        """Pass a response to the code that awaits it.

        If the response cannot be read, that code gets an error.
        """
        request = message.get("id")
        if not _is_id(request) or request not in self._result_types:
            _log.info("ignored a response that belongs to no request of the server")
            return
        try:
            read = self.read_message(message)
        except JsonRpcException as error:
            read = types.ResponseErrorMessage(id=request, error=error.to_response_error())
        self._result_types.pop(request, None)
        super().handle_message(read)

    def _refuse(self, message: Any, error: JsonRpcException) -> None:
        is_notification = isinstance(message, dict) and "method" in message and "id" not in message
        _log.info("a message is refused: %s", error.message)
        request = message.get("id") if isinstance(message, dict) else None
        if _is_id(request):
            self._send_response(request, error=error.to_response_error())
        elif not is_notification:
            fault = {"code": error.code, "message": error.message}
            # A response class of lsprotocol would leave the id out.
            self._send_data({"jsonrpc": self.VERSION, "id": None, "error": fault})


def _call(message: dict[str, Any]) -> dict[str, Any]:
    """Return a request or notification, with ``params`` even if they were left out.

    Keys by which pygls would take the message for a response are dropped.
    """
    known: dict[str, Any] = {key: message[key] for key in ("jsonrpc", "id", "method") if key in message}
    return {**known, "params": message.get("params")}


def _is_id(value: Any) -> TypeGuard[str | int]:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _fault(error: BaseException) -> str:
    """Describe what is invalid in the parameters of a request or in a response."""
    is_described = isinstance(error, BaseValidationError)
    faults = transform_error(error, path="") if is_described else [type(error).__name__]
    return f"Invalid parameters: {_shown('; '.join(fault.replace(' @ .', ' for ') for fault in faults))}."


def _shown(text: str) -> str:
    line = visible(text)
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}…"
