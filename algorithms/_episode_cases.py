"""Audits of runs in episodes: what is released beside what others put into it, and what later users are told."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.mechanism import Array

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
