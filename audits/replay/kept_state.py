"""State kept between calls: a call in a copy of the process that served no other data, beside one that did."""

import os
import select
import threading
import warnings
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from audits.replay.one_call import Player

_SECONDS, _STREAM = 5.0, 9_311
_LENGTH = 64


def fresh_digest(player: Player, data: Any) -> str:
    """Return a digest of what a call on a fixed stream returns in a copy of this process; empty where none is known.

    Nothing is known where processes cannot be copied, where other threads run (a copy of the process has their locks
    without them), where the call takes longer than five seconds, and where two calls on the same stream differ.
    """
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return ""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        with suppress(BaseException):
            first, again = (output_digest(player, data) for _ in range(2))
            os.write(writing, (first if first == again else "").encode())
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], _SECONDS)
    answer = os.read(reading, _LENGTH).decode() if ready else ""
    os.close(reading)
    if not ready:
        os.kill(child, 9)
    os.waitpid(child, 0)
    return answer


def output_digest(player: Player, data: Any) -> str:
    """Return a digest of what a call on the fixed stream returns."""
    columns = player.call(data, _STREAM).columns
    return blake2b(repr(sorted(columns.items())).encode(), digest_size=16).hexdigest()
