"""The noisy release of an epoch: by the learner once (joint model), or by every user before uploading (local model).

The query is the epoch's sum of reward times h_w, over the epoch's public bound `scale`; so its sensitivity is
2 reward_bound in every epoch, and one mechanism object serves all of them.
"""

import math

import numpy as np

from dpaudit import Mechanism, Recorder
from dpaudit.model.mechanism import Array


def release_sum(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
    """Return the epoch's normalised sum with the learner's noise (joint model; Algorithm 1, line 17).

    Shape: value (n_runs, D). `users` does not matter: one release, however many users it sums.
    """
    return recorder.release(label, mechanism, value)


def release_messages(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
    """Return the sum of `users` messages, each with its own noise (local model; Algorithm 1, line 14).

    Shape: value (n_runs, D), the sum of the messages before noise. The noises of m independent messages sum
    to one draw of the message's noise times sqrt(m): exact in law, and the sampled mechanism stays the one
    that each user runs.
    """
    root = math.sqrt(users)
    return root * recorder.release(label, mechanism, value / root)


def message(recorder: Recorder, label: str, mechanism: Mechanism, vectors: Array, rewards: Array) -> Array:
    """Return what single users upload: reward times the normalised h_w, noised on the device.

    Shape: vectors (users, D), rewards (users,), already clipped.
    """
    return recorder.release(label, mechanism, np.asarray(rewards)[:, None] * vectors)
