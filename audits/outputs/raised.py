"""What an exception shows to whoever gets it: its class, its text, its attributes, and those of what caused it."""

import re
from collections.abc import Iterator
from contextlib import suppress

from audits.outputs.text import text_entries
from audits.outputs.values import record
from dpaudit import DPAuditError

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DEEPEST = 8


def class_name(error: BaseException) -> str:
    """Return the full name of an exception's class; built-in ones by their own name.

    >>> class_name(ValueError("no"))
    'ValueError'
    """
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def text_of(error: BaseException) -> str:
    """Return the text of an exception without addresses in memory, which tell nothing; its class where it has no text.

    >>> text_of(ValueError("<object at 0x7f00> is too large"))
    '<object> is too large'
    """
    with suppress(Exception):  # a text is code of the exception's own class
        return _ADDRESS.sub("", str(error))
    return class_name(error)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what a traceback prints above it: causes, and contexts that are not suppressed."""
    seen: list[BaseException] = []
    raised: BaseException | None = error
    while raised is not None and len(seen) < _DEEPEST and all(raised is not other for other in seen):
        seen.append(raised)
        yield raised
        raised = raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)


def raised_entries(error: BaseException) -> dict[str, float]:
    """Return what an exception shows as numbers by name: of each of its chain text and readable attributes.

    >>> sorted(raised_entries(ValueError("sum 3.5")))
    ['kind  raised text', 'mark  raised length', 'mark  raised#0 decimals', 'number  raised#0']
    """
    entries: dict[str, float] = {}
    for number, raised in enumerate(chain_of(error)):
        path = f" raised{f' {number}' if number else ''}"
        entries |= dict(text_entries(f"{class_name(raised)} " * bool(number) + text_of(raised), path))
        for name, value in vars(raised).items():
            with suppress(DPAuditError, ValueError, TypeError, RecursionError):
                entries |= record(value, f"{path}!{name}")
    return entries


def said_by(error: BaseException) -> str:
    """Return what a traceback's last lines say: class and text of the exception and of what caused it.

    >>> said_by(KeyError("age"))
    "KeyError: 'age'"
    """
    return "\n".join(f"{class_name(raised)}: {text_of(raised)}" for raised in chain_of(error))
