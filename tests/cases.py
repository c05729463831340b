"""Audit cases that tests write by hand."""

from collections.abc import Callable
from typing import Any

from dpaudit import AuditCase


def case_of(name: str, run: Callable[..., Any], neighbours: tuple[Any, Any] = (0.0, 1.0), **more: Any) -> AuditCase:
    """Return a case of one function whose neighbours differ by a replaced record: 0 and 1 where none are given."""
    given = {"view": "output", "description": "", "relation": "replace_one"} | more
    return AuditCase(name=name, neighbours=neighbours, run=run, **given)
