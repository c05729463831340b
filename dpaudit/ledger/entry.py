"""One entry of the ledger: canonical JSON, chained to the entry before by its digest."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dpaudit.errors import LedgerError

Kind = Literal["open", "book"]
GENESIS = "0" * 64
"""The digest before the first entry."""
_KEYS = ("account", "body", "created", "digest", "kind", "previous", "sequence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An account opened or a certificate booked: entry number `sequence`, counted from 1.

    `text` is the entry as it is kept: one line of canonical JSON, its digest included. Two entries are equal where
    their texts are.
    """

    text: str

    @property
    def data(self) -> dict[str, Any]:
        """The entry as plain data.

        Raises: LedgerError: the text is no entry, or is not written as entries are.
        """
        try:
            data = json.loads(self.text)
            written = canonical(data)
        except (ValueError, RecursionError):
            raise LedgerError("the line is no JSON") from None
        if not isinstance(data, dict) or tuple(sorted(data)) != _KEYS or written != self.text:
            raise LedgerError("the line is not an entry as this ledger writes them")
        if data["kind"] not in get_args(Kind) or not isinstance(data["body"], dict):
            raise LedgerError(f"there are no entries of kind {data['kind']!r:.40}")
        return data


def canonical(data: Any) -> str:
    """Return `data` as JSON in the one form that is hashed: sorted keys, no spaces, ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def whole_digest(text: str) -> str:
    """Return the digest of an entry that a user kept elsewhere.

    Raises: LedgerError: not all of its 64 hexadecimal digits; a beginning might be that of several entries.
    """
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise LedgerError(
            f"Expected head={text!r:.80} to be a whole digest, 64 hexadecimal digits, as `dpaudit ledger show` prints."
        )
    return text
