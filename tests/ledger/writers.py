"""Many writers at once, as one program: `writers.py race|kill|careless PLACE`; prints what every writer was told.

It imports once, certifies once, and forks; so it is a process of its own and not a part of the test's.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpaudit import Certificate, Claim, Release, certify
from dpaudit.budgets import Refusal
from dpaudit.ledger import Account, Entry, Ledger, store_at
from mechanisms import Laplace

BUDGET = Claim(epsilon=1.0, neighbours="replace_one", unit="one person")
WRITERS, TRIES, AFFORDED = 16, 4, 32
NOW = "2026-01-01T00:00:00+00:00"


def certificate() -> Certificate:
    """Return a certificate that costs exactly 1/32: of 64 attempts 32 fit."""
    claim = Claim(epsilon=1 / AFFORDED, neighbours="replace_one", unit="one person")
    noise = Laplace(scale=float(AFFORDED), l1_sensitivity=1.0, neighbours="replace_one")
    return certify(Release(label="count", mechanism=noise), claim)


class Careless:
    """The broken twin of a store: it reads, decides and appends without taking a turn."""

    def __init__(self, place: Any) -> None:
        self.path = Path(place)
        self.path.touch()

    def entries(self) -> tuple[Entry, ...]:
        return tuple(Entry(text=line) for line in self.path.read_text().splitlines())

    def append(self, writing: Any) -> Any:
        added = writing(self.entries())
        with self.path.open("a") as file:
            file.writelines(f"{entry.text}\n" for entry in added)
        return added


def write(store: Any, held: Certificate, writer: int | str, tries: int, told: int) -> None:
    """Book `tries` labels and write down each answer after it came."""
    ledger = Ledger(store)
    for number in range(tries):
        label = f"{writer}-{number}"
        result = ledger.book("data", held, label, NOW)
        word = "refused" if isinstance(result, Refusal) else "booked"
        os.write(told, f"{word} {label}\n".encode())


def fork(work: Callable[..., None]) -> int:
    """Return the id of a child that does `work` and ends."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    return child


def main(mode: str, place: Any) -> None:
    """Run one mode on one store."""

    def make(where: Any) -> Any:
        return Careless(where) if mode == "careless" else store_at(where, create=True)

    Ledger(make(place)).open(Account(name="data", budget=BUDGET, rule="basic"), NOW)
    held, told = certificate(), sys.stdout.fileno()
    if mode != "kill":
        children = [fork(lambda w=w: write(make(place), held, w, TRIES, told)) for w in range(WRITERS)]
        failed = [child for child in children if os.waitpid(child, 0)[1]]
        sys.exit(len(failed))
    chance = random.Random(5)  # noqa: S311 - when to kill
    for life in range(6):
        child = fork(lambda life=life: write(make(place), held, f"life{life}", 30, told))
        time.sleep(chance.uniform(0.02, 0.25))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
