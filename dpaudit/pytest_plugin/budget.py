"""The false-alarm budget of a suite: one probability, with a share for every check.

A session without a file of evidence knows its tests: each gets an equal part, and within a test the n-th check gets
1 / (n (n + 1)) of that. A file of evidence cannot know what is still to come: its n-th check gets 1 / (n (n + 1)) of
the whole. These shares sum to 1 over any number of checks, and a small share costs an e-process little: the number of
runs to refute a claim grows with the logarithm of 1 / share.
"""

import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any

from dpaudit.pytest_plugin.store import EvidenceEntry, EvidenceStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Allotment:
    """The significance of one check, its seed, and the evidence of earlier runs."""

    significance: float
    seed: int
    entry: EvidenceEntry | None = None

    @property
    def state(self) -> Any:
        """Evidence of earlier runs as plain data, or None."""
        return None if self.entry is None else self.entry.state

    @property
    def refuted(self) -> str:
        """What an earlier run with the same code found, or nothing."""
        return "" if self.entry is None else self.entry.refuted


def share_of(number: int) -> float:
    """Return the share of the n-th of unknown many: these sum to 1.

    >>> sum(share_of(n) for n in range(1, 1000)) < 1
    True
    """
    return 1 / (number * (number + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBudget:
    """The budget of one session of `tests` tests; with the same seed, by default each check's own, nothing changes."""

    significance: float
    tests: int
    seed: int | None = None

    def allot(self, test: str, name: str, number: int, identity: Any) -> Allotment:
        """Return the share of a check; what exactly is checked makes no difference to its seed."""
        own = int.from_bytes(hashlib.sha256(f"{test}\n{number}\n{name}".encode()).digest()[:6])
        share = self.significance / max(1, self.tests) * share_of(number)
        return Allotment(significance=share, seed=own if self.seed is None else self.seed)

    def keep(self, allotment: Allotment, state: Any, *, runs: int, refuted: str) -> bool:
        """Keep nothing."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBudget:
    """The budget of a file of evidence, for all runs that share it. Each run draws fresh randomness.

    A check whose identity changes (its claim, or the code) is another check, with a new share and no past.
    """

    store: EvidenceStore

    def allot(self, test: str, name: str, number: int, identity: Any) -> Allotment:
        """Return the share that the store has for this very check."""
        text = json.dumps([test, name, number, identity], sort_keys=True, default=str)
        entry = self.store.entry(hashlib.sha256(text.encode()).hexdigest(), f"{test} {name}")
        return Allotment(
            significance=self.store.significance * share_of(entry.place), seed=secrets.randbits(48), entry=entry
        )

    def keep(self, allotment: Allotment, state: Any, *, runs: int, refuted: str) -> bool:
        """Hand the evidence to the store."""
        if allotment.entry is None:
            return False
        return self.store.keep(allotment.entry, state, seed=allotment.seed, runs=runs, refuted=refuted)
