"""The time zone of timestamps that have none: that of the session which would run the query."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ..problem import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$")
_zone: ContextVar[tzinfo | None] = ContextVar("zone", default=None)


def named(name: str) -> tzinfo:
    """As ``spark.sql.session.timeZone`` has it: ``Europe/Berlin``, ``UTC``, ``+02:00``. Raises UsageError."""
    found = _OFFSET.match(name)
    if name in ("Z", "UTC", "GMT"):
        return timezone.utc
    try:
        if found:
            sign = -1 if found[1] == "-" else 1
            return timezone(sign * timedelta(hours=int(found[2]), minutes=int(found[3] or 0)))
        return ZoneInfo(name)
    # ZoneInfo takes a name for a path, and raises whatever that leads to
    except (KeyError, OSError, ValueError):
        raise UsageError(
            f"There is no time zone {name}: write one such as Europe/Berlin or +02:00."
        ) from None


@contextmanager
def of_session(zone: tzinfo | None) -> Iterator[None]:
    """The zone inside the block; None is this machine's, as in a session with default settings."""
    before = _zone.set(zone)
    try:
        yield
    finally:
        _zone.reset(before)


def placed(time: datetime) -> datetime:
    """The same time of the day in the zone of the session."""
    zone = _zone.get()
    return time.astimezone() if zone is None else time.replace(tzinfo=zone)
