"""The batched variant of DP-EBS: each batch is played, summed with noise once, and discarded."""

from collections.abc import Callable

import numpy as np

from algorithms._dueling.voters import Voters
from algorithms.dp_ebs.noise.calibrated import batch_noise
from algorithms.dp_ebs.noise.shuffled import Shuffler
from algorithms.dp_ebs.rounds.lockstep import Outcome
from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.dp_ebs.widths.batches import Batch, batches_for, vote_of
from dpaudit import Recorder, Streams
from dpaudit.model.mechanism import Array, Mechanism

Read = Callable[[Array, Array], None]
"""read(means, best mean of each run): what a removal compares, (n_runs, K) and (n_runs, 1)."""


def play_batches(
    settings: DpEbsSettings, voters: Voters, streams: Streams, n_runs: int, recorder: Recorder, read: Read | None = None
) -> tuple[Outcome, bool]:
    """Return what `n_runs` runs in lock-step did, and whether every answer entered one batch's sums.

    Every option left plays the batch's number of duels against uniform opponents; a batch that the horizon cuts
    short plays the options in turn and releases a sum of nobody. Duels are drawn as counts, exact in law. `read` is
    told what each removal compares.
    """
    batches = batches_for(settings)
    mechanism, recorder = _noise_of(settings, batches, recorder)
    plays = np.zeros((n_runs, settings.arms, settings.arms))
    alive = np.ones((n_runs, settings.arms), dtype=bool)
    eliminated_at = np.full((n_runs, settings.arms), settings.horizon + 1)
    spent, complete = np.zeros(n_runs), True
    for batch in batches:
        going = (alive.sum(axis=1) > 1) & (spent + batch.plays * alive.sum(axis=1) <= settings.horizon)
        duels, wins = _played(batch, alive & going[:, None], spent, voters, streams)
        complete &= bool((duels.sum(axis=2) == batch.plays * (alive & going[:, None])).all() and (wins <= duels).all())
        plays += duels
        spent += duels.sum(axis=(1, 2))
        noisy = recorder.release(batch.label, mechanism, wins.sum(axis=2)) / batch.plays
        best = np.where(alive, noisy, -np.inf).max(axis=1, keepdims=True)
        gone = alive & going[:, None] & (noisy + batch.half_width < best - batch.half_width)
        if read is not None:
            read(noisy, best)
        eliminated_at = np.where(gone, spent[:, None].astype(np.int64), eliminated_at)
        alive &= ~gone
    _fill(plays, alive, settings.horizon - spent, streams)
    return Outcome(plays=plays, eliminated_at=eliminated_at), complete


def _noise_of(settings: DpEbsSettings, batches: tuple[Batch, ...], recorder: Recorder) -> tuple[Mechanism, Recorder]:
    """Return the noise of a batch and who draws it: the learner for a sum, or a shuffler for every vote."""
    if settings.model != "shuffle":
        return batch_noise(settings.epsilon), recorder
    users = {batch.label: batch.plays for batch in batches}
    shuffler = Shuffler(rng=recorder.rng, released=recorder.released, people=recorder.people, users=users)
    return vote_of(settings), shuffler


def _played(batch: Batch, active: Array, start: Array, voters: Voters, streams: Streams) -> tuple[Array, Array]:
    """Return how often each duel was played and won by the left option; shape (n_runs, K, K)."""
    left = active.sum(axis=1, keepdims=True)
    uniform = np.where(left > 0, active / np.maximum(left, 1), 1 / active.shape[1])
    law = np.broadcast_to(uniform[:, None, :], (*active.shape, active.shape[1]))
    duels = streams.actions.multinomial(batch.plays * active.astype(np.int64), law)
    return duels, voters.duel_wins(start.astype(np.int64), duels, streams.environment)


def _fill(plays: Array, alive: Array, rounds_left: Array, streams: Streams) -> None:
    """Play the rounds that are left: those left in turn, against uniform opponents."""
    left = alive.sum(axis=1, keepdims=True)
    for run in range(len(plays)):
        options = np.flatnonzero(alive[run])
        share, more = divmod(int(rounds_left[run]), len(options))
        rounds = share + (np.arange(len(options)) < more)
        law = np.where(alive[run], 1 / left[run], 0.0)
        plays[run, options] += streams.actions.multinomial(rounds, law)
