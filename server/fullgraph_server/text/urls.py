"""URLs without secrets, which can be shown, logged and stored.

They have no user, password, query or fragment, since a presigned URL and a URL with a password grant access.
Only :attr:`Url.address` has the whole URL, for the code that opens it.
"""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus

_SCHEME: Final = r"[a-z][a-z0-9+.-]{1,30}"
_CHAIN: Final = re.compile(rf"::(?={_SCHEME}://)", re.IGNORECASE)
"""The separator of a chained URL: ``zip://a.log::https://host/job.zip``."""
_PART: Final = re.compile(rf"({_SCHEME}:/+)(.*)", re.IGNORECASE | re.DOTALL)
_NO_PORT: Final = re.compile(r":(?!\d*$)")
_IN_TEXT: Final = re.compile(
    # A URL made into a path by ``pathlib`` has one slash. A password can contain quotes.
    rf"{_SCHEME}:/{{1,2}}(?:[^\s/@:'\"]*:[^\s/]*@)?[^\s<>\"'`]*",
    re.IGNORECASE,
)
_ENCODED: Final = re.compile(rf"{_SCHEME}%3a%2f%2f[^\s<>\"'`&]*", re.IGNORECASE)
_QUERY: Final = re.compile(r"(?<=[\w/.%~-])\?[\w.~%+-]+=[^\s<>\"'`]*")
"""The query of a URL that is written without its host: ``/bucket/key?X-Amz-Signature=1``."""
_AFTER: Final = ").,:;]}"
"""Punctuation that, at the end of a URL, belongs to the sentence around the URL."""
_LEFT_OUT: Final = "…"
_SHORT: Final = 4
"""Secrets with fewer characters are removed only where they are whole words."""
_LEAST_VALUE: Final = 3
"""Values of a query with fewer characters do not count as secrets."""


@dataclass(frozen=True, slots=True, repr=False)
class Url:
    """A URL whose :class:`str` has no secrets; ``address`` is the whole URL."""

    address: str

    def __str__(self) -> str:
        return _shown(self.address)

    def __repr__(self) -> str:
        return f"Url({str(self)!r})"

    @property
    def name(self) -> str:
        """The last part of the path; for a chained URL, of the path inside the archive."""
        path = next(filter(is_url, _CHAIN.split(str(self))), "").partition("::")[0]
        return path.rstrip("/").rpartition("/")[2]

    @property
    def schemes(self) -> list[str]:
        """The schemes in the URL; a chained URL has several, the outermost first."""
        return [part.partition("://")[0].lower() for part in filter(is_url, _CHAIN.split(self.address))]


class LogFormatter(logging.Formatter):
    """A formatter of log records and tracebacks that removes the secrets of URLs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of the record without secrets."""
        return without_secrets(super().format(record))


def is_url(place: str) -> bool:
    """Return whether a path or URL is a URL."""
    return "://" in place


def urls_in(words: Iterable[str]) -> list[Url]:
    """Return the URLs with which command-line arguments end.

    Example: ``tcp://host:8786`` in ``--scheduler=tcp://host:8786``.
    """
    found = (re.search(rf"{_SCHEME}://.*", word, re.IGNORECASE | re.DOTALL) for word in words)
    return [Url(url[0]) for url in found if url]


def without_secrets(text: str, urls: Iterable[Url] = ()) -> str:
    """Return a text without the secrets of the URLs in it.

    The secrets of ``urls`` are removed wherever they occur in the text, in any encoding.
    """
    secrets = dict[str, str]()
    for url in urls:
        text = text.replace(url.address, str(url))
        secrets |= {form: mark for secret, mark in _secrets(url.address) for form in _forms(secret)}
    for form in sorted(secrets, key=len, reverse=True):
        edge = r"\b" if len(form) < _SHORT and form.isalnum() else ""
        text = re.sub(f"{edge}{re.escape(form)}{edge}", secrets[form], text, flags=re.IGNORECASE)
    text = _ENCODED.sub(lambda found: quote(_shown(unquote(found[0])), safe=""), text)
    return _QUERY.sub("", _IN_TEXT.sub(_shown_in_text, text))


def _shown_in_text(found: re.Match[str]) -> str:
    url = found[0].rstrip(_AFTER)
    return "::".join(map(_whole, _CHAIN.split(_shown(url)))) + found[0][len(url) :]


def _whole(part: str) -> str:
    """Return a part of a chained URL, without a location that may be half a password.

    A URL that was found in a text ends at the first blank, even if the blank belongs to a password.
    """
    prefix, location, *_ = _divided(part)
    server = re.sub(r"\[[^\[\]]*\]", "", location.partition("/")[0].partition("::")[0])
    is_odd = bool(prefix and _NO_PORT.search(server)) and not server.startswith("arn:")
    return f"{prefix}{_LEFT_OUT}" if is_odd else part


def _shown(url: str) -> str:
    return "::".join(f"{prefix}{location}" for prefix, location, *_ in map(_divided, _CHAIN.split(url)))


def _divided(part: str) -> tuple[str, str, str, str]:
    """Divide a part of a chained URL into scheme, location, user and query.

    The location contains no secrets; the user includes ``@``.
    """
    found = _PART.match(part)
    prefix, rest = (found[1], found[2]) if found else ("", part)
    server = re.split(r"[/?#]", rest, maxsplit=1)[0]
    # An unencoded password can contain the characters that end the name of a host.
    around = server if "@" in server or not _NO_PORT.search(server) else rest
    user = around[: around.rfind("@") + 1]
    location = re.split(r"[?#]", rest[len(user) :], maxsplit=1)[0]
    return prefix, location, user, rest[len(user) + len(location) :]


def _secrets(url: str) -> Iterator[tuple[str, str]]:
    """Yield each secret of a URL with its replacement.

    A user including ``@`` and a query including ``?`` are replaced by nothing, parts of them by an ellipsis.
    """
    for part in _CHAIN.split(url):
        _, _, user, query = _divided(part)
        names = [user[:-1], *user[:-1].split(":", 1)]
        values = (value.partition("=")[2] or value for value in re.split(r"[?#&;]", query))
        texts = [*names, *(value for value in (query[1:], *values) if len(value) >= _LEAST_VALUE)]
        yield from ((text, "") for text in (user, query) if len(text) > 1)
        yield from ((text, _LEFT_OUT) for text in texts if text)


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret unmodified, decoded, URL-encoded, and in Base64 (HTTP headers)."""
    for plain in (secret, unquote(secret), unquote_plus(secret)):
        data = plain.encode(errors="surrogateescape")
        yield from (plain, quote(data), quote(data, safe=""), quote_plus(data))
        yield quote(quote(data, safe=""), safe="")
        yield base64.b64encode(data).decode()
