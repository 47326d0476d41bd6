"""Send JSON to a service that the user named, one POST at a time: an embedder, or a model that writes summaries.

What is sent leaves the machine, so this is used only where the user configured it. The standard library can do it;
httpx would bring half a dozen packages. Nothing is retried here.

A key goes only to the address it was given for: redirects are refused, and so is a key over plain HTTP to another
machine. A service on this machine is called directly, whatever proxy the environment names. An answer has a longest
time and a largest size. What goes wrong is a ServiceFailed that names its kind only: its text may quote what was sent.
The kinds, as `reason`:

    rate_limited      status 429
    redirected        status 300 to 399
    status_500        any other status of an error, by its number
    timed_out         no whole answer in time
    unreachable       no connection, or one that does not speak HTTP
    broken_off        the connection ended within the answer
    too_large         more bytes than were allowed
    wrong_shape       an answer that is not what the service promises; callers raise it
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Mapping
from functools import partial
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (
    AbstractHTTPHandler,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    build_opener,
)
from urllib.request import Request as HttpRequest

from commonplace.model.errors import InvalidSettings, ServiceFailed

if TYPE_CHECKING:
    from socket import socket

_LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}
_READ_BYTES = 65_536


def make_url(address: str, path: str, *, has_key: bool) -> str:
    """Return the address to post to; the setting may name the base address or the whole of it."""
    try:
        parts = urlsplit(address.rstrip("/"))
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or parts.username is not None or parts.query or parts.fragment:
        raise InvalidSettings(
            "The address of a service is http:// or https://, a host, and no user, query or fragment."
        )
    if has_key and parts.scheme == "http" and host not in _LOCAL_HOSTS:
        raise InvalidSettings("A key is not sent over plain http to another machine.", hint="Use an https:// address.")
    version = path[: path.index("/", 1)]  # people give .../v1 or .../api as the base as often as not
    end = next((end for end in (path, version) if parts.path.endswith(end)), "")
    return parts.geturl().removesuffix(end) + path


class Service:
    """One address that takes JSON. `noun` is what errors call it."""

    def __init__(self, url: str, headers: Mapping[str, str], *, noun: str) -> None:
        self.url, self.noun = url, noun
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "commonplace",
            **headers,
        }

    def post(self, value: object, *, timeout: float, most_bytes: int) -> bytes:
        """Return the body of the answer to a value; raise ServiceFailed within `timeout` seconds of waiting for it."""
        body = json.dumps(value).encode()
        request = HttpRequest(self.url, body, self._headers, method="POST")  # noqa: S310 - http or https: see make_url
        direct = [ProxyHandler({})] if urlsplit(self.url).hostname in _LOCAL_HOSTS else []
        deadline = time.monotonic() + timeout
        opener = build_opener(_NoRedirects, _TimedHttp(deadline), _TimedHttps(deadline), *direct)
        found = bytearray()
        try:
            with opener.open(request, timeout=timeout) as response:
                while piece := response.read1(_READ_BYTES):
                    found += piece
                    if len(found) > most_bytes:
                        raise self.make_error("gave an answer that is too long", "too_large")
                if response.length:  # of the bytes that its header promised
                    raise IncompleteRead(b"")
        except HTTPError as error:
            error.close()
            raise self.make_error(f"answered with status {error.code}", _name_status(error.code)) from None
        except IncompleteRead:
            raise self.make_error("broke off within its answer", "broken_off") from None
        except (OSError, HTTPException, ValueError) as error:
            cause = getattr(error, "reason", error)  # of a URLError
            if isinstance(cause, TimeoutError):
                raise self.make_error(f"did not answer within {timeout:g} s", "timed_out") from None
            raise self.make_error(f"cannot be reached ({type(cause).__name__})", "unreachable") from None
        return bytes(found)

    def make_error(self, what: str, reason: str = "wrong_shape") -> ServiceFailed:
        """Return the error that says what the service did wrong."""
        return ServiceFailed(f"The {self.noun} at {urlsplit(self.url).hostname} {what}.", reason=reason)


def _name_status(status: int) -> str:
    if status == 429:
        return "rate_limited"
    return "redirected" if 300 <= status < 400 else f"status_{status}"


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirects: the caller gets the 3xx, which is an error."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _SocketReader(io.RawIOBase):
    """Reads a socket until a deadline. A socket's own time-out begins anew with every byte."""

    def __init__(self, connection: socket, deadline: float) -> None:
        self._connection, self._deadline = connection, deadline
        self._raw = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """An answer of which headers and body together end before a deadline."""

    def __init__(self, sock: socket, *args: Any, deadline: float, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp.close()
        self.fp = io.BufferedReader(_SocketReader(sock, deadline))


class _Timed(AbstractHTTPHandler):
    """Opens connections whose answers end before a deadline."""

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def do_open(self, http_class: Any, req: HttpRequest, **options: Any) -> HTTPResponse:
        def connect(host: str, **more: Any) -> Any:
            connection = http_class(host, **more)
            connection.response_class = partial(_TimedResponse, deadline=self._deadline)
            return connection

        return super().do_open(connect, req, **options)


class _TimedHttp(_Timed, HTTPHandler):
    """The same for http."""


class _TimedHttps(_Timed, HTTPSHandler):
    """The same for https."""
