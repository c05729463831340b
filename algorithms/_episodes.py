"""Runs in episodes: what they lose, show and release, the transcript made of it, and the audits of what users see."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from dpaudit import AuditCase, Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Released


@dataclass(slots=True, kw_only=True, eq=False)
class EpisodeLog:
    """Sums over the episodes so far. Shape: `total` (n_runs,), the regret; `shown` (n_runs, H, S, A), means over users.

    `message` is what was released after the first episode, `released` after the latest one.
    """

    episodes: int
    total: Any = 0.0
    shown: Any = 0.0
    regrets: list[Array] = field(default_factory=list)
    message: Array = field(default_factory=lambda: np.zeros(0))
    released: Array = field(default_factory=lambda: np.zeros(0))

    def add(self, number: int, gap: Array, actions: Array, released: Array, *, keep: bool = True) -> None:
        """Add episode `number`, from 1: what its policy loses, the values of actions shown, and the sums released.

        The regret so far is kept where `keep` is set.
        """
        self.total = self.total + gap
        self.shown = self.shown + actions / self.episodes
        if keep:
            self.regrets.append(self.total)
        if number == 1:
            self.message = released
        self.released = released

    def transcript(
        self,
        further: Mapping[str, Array],
        trace: tuple[Released, ...],
        conditions: tuple[Condition, ...],
        *,
        local: bool,
    ) -> Transcript:
        """Return the transcript, with `further` arrays: in the local model one message is looked at, else the sums."""
        return Transcript(
            n_runs=len(self.total),
            arrays={
                "regret": np.stack(self.regrets, axis=1),
                **further,
                "released": self.released,
                "message": self.message,
                "policies": self.shown,
            },
            views={
                **({"message": ("message",)} if local else {"billboard": ("released",)}),
                "policies": ("policies",),
            },
            trace=trace,
            conditions=conditions,
        )


def stacked(records: Sequence[Any], *names: str) -> dict[str, Array]:
    """Return fields of all records, each under the last part of its name. Shape: (n_runs, number of records, ...)."""
    return {
        name.rpartition(".")[2]: np.stack([attrgetter(name)(record) for record in records], axis=1) for name in names
    }


Told = Callable[[Any, Streams, Recorder, int], Iterable[Array]]
"""told(first user, streams, recorder, n_runs) -> the values of actions of each episode. Shape: (n_runs, H, S, A)."""


def billboard_of(episodes: Iterable[tuple[Array, Array]], own: int = 1) -> dict[str, Array]:
    """Return what each episode released, and the sum of what others put in so far, which the adversary knows.

    `episodes` hold what was released and what entered; `own` is the number, from 1, of the target's episode.
    """
    released, others = [], []
    total: Any = 0.0
    for number, (shown, entered) in enumerate(episodes, start=1):
        total = total + (0.0 if number == own else 1.0) * entered
        released.append(shown)
        others.append(total)
    return {"released": np.stack(released, axis=1), "others": np.stack(others, axis=1)}


def nodes_holding(prefixes: Array, number: int = 1) -> list[Array]:
    """Return the nodes of a tree that hold element `number`, from its prefix sums.

    Shape: (n_runs, prefixes, ...) to (n_runs, ...) a node, which ends at k: prefix k less prefix k - lowbit(k).
    """
    nodes: list[Array] = []
    k = number
    while k <= prefixes.shape[1]:
        before = k & (k - 1)
        nodes.append(prefixes[:, k - 1] - (prefixes[:, before - 1] if before else 0.0))
        k += k & -k
    return nodes


def actions_case(name: str, pair: tuple[Any, Any], told: Told) -> AuditCase:
    """Return the audit of joint privacy in its literal form: what users after the first are told to do."""

    def run(data: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        actions = [values[:, 0, 0].argmax(axis=1) for values in told(data, streams, Recorder(streams.noise), n_runs)]
        return {"actions": np.stack(actions, axis=1)[:, 1:]}

    return AuditCase(
        name=f"{name} actions",
        view="actions",
        description="The first actions that the users after the first are told to play, from one state.",
        neighbours=pair,
        relation="replace_one",
        run=run,
    )
