"""The champion variant of DP-EBS: one option meets all others until it loses to one, which takes its place.

Each stage releases the champion's noisy wins against each challenger, once. A challenger whose share is below one half
is removed; one whose share is above it removes the champion and reigns. Where the best option beats all others, no
removal takes it. The first champion is drawn at random.
Source: Yue, Broder, Kleinberg and Joachims (2012), Interleaved Filter, here with noise and with stages that grow.
"""

from dataclasses import dataclass

import numpy as np

from algorithms._dueling.voters import Voters
from algorithms.dp_ebs.noise.calibrated import batch_noise
from algorithms.dp_ebs.rounds.batches import Read
from algorithms.dp_ebs.rounds.lockstep import Outcome
from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.dp_ebs.widths.stages import Stage, champion_labels, stages_of
from dpaudit import Recorder, Streams
from dpaudit.model.mechanism import Array

_EVEN = 0.5


@dataclass(slots=True, kw_only=True, eq=False)
class _Reigns:
    """The state of all runs. Shape: (n_runs,), and (n_runs, K) of `challengers` and `won`, the champion's noisy wins.

    `age` is the number of stages that the reign has completed.
    """

    champion: Array
    challengers: Array
    won: Array
    age: Array

    def shares(self, stages: tuple[Stage, ...], age: Array) -> Array:
        """Return the challengers' shares of wins after so many stages; one half before the first, -inf of others."""
        totals = np.array([stage.total for stage in stages], dtype=np.float64)[np.maximum(age, 1) - 1]
        shares = np.where((age > 0)[:, None], 1 - self.won / totals[:, None], _EVEN)
        return np.where(self.challengers, shares, -np.inf)

    def going(self, stages: tuple[Stage, ...], rounds_left: Array) -> tuple[Array, Array]:
        """Return the runs that play a stage, which the rounds left allow as a whole, and its duels with a challenger.

        Shape: (n_runs,) each.
        """
        met = self.challengers.sum(axis=1)
        size = np.array([stage.plays for stage in stages])[np.minimum(self.age, len(stages) - 1)]
        return (met > 0) & (self.age < len(stages)) & (size * met <= rounds_left), size

    def remove(self, stages: tuple[Stage, ...], going: Array, read: Read | None) -> Array:
        """Return who is removed after a stage, and crown who removes a champion. Shape: (n_runs, K)."""
        shares = self.shares(stages, self.age)
        width = np.array([stage.half_width for stage in stages])[np.maximum(self.age, 1) - 1][:, None]
        best = shares.max(axis=1, keepdims=True)
        if read is not None:
            read(shares, best)
        gone: Array = self.challengers & going[:, None] & (shares + width < _EVEN)
        self.challengers &= ~gone
        lost = np.flatnonzero(going & (best - width > _EVEN)[:, 0])
        gone[lost, self.champion[lost]] = True
        self.crown(lost, shares[lost].argmax(axis=1))
        return gone

    def crown(self, runs: Array, option: Array) -> None:
        """Let `option` reign in some runs."""
        self.champion[runs] = option
        self.challengers[runs, option] = False
        self.won[runs], self.age[runs] = 0.0, 0


def play_champion(
    settings: DpEbsSettings, voters: Voters, streams: Streams, n_runs: int, recorder: Recorder, read: Read | None = None
) -> tuple[Outcome, bool]:
    """Return what `n_runs` runs in lock-step did, and whether every answer entered one stage's sums.

    A stage that the horizon would cut short is not played: whoever looks best then plays itself to the end, and the
    stages that are left release sums of nobody. `read` is told the shares of each stage, and one half.
    """
    mechanism, stages, every = batch_noise(settings.epsilon), stages_of(settings), np.arange(n_runs)
    reigns = _first(settings, streams, n_runs)
    plays = np.zeros((n_runs, settings.arms, settings.arms))
    eliminated_at = np.full((n_runs, settings.arms), settings.horizon + 1)
    spent, complete = np.zeros(n_runs), True
    for label in champion_labels(settings):
        going, size = reigns.going(stages, settings.horizon - spent)
        duels = np.zeros(plays.shape, dtype=np.int64)
        duels[every, reigns.champion] = np.where(reigns.challengers & going[:, None], size[:, None], 0)
        wins = voters.duel_wins(spent.astype(np.int64), duels, streams.environment)
        met = reigns.challengers.sum(axis=1)
        complete &= bool((duels.sum(axis=(1, 2)) == size * met * going).all() and (wins <= duels).all())
        plays += duels
        spent += duels.sum(axis=(1, 2))
        noisy = recorder.release(label, mechanism, wins[every, reigns.champion].astype(np.float64))
        reigns.won = np.where(going[:, None], reigns.won + noisy, reigns.won)
        reigns.age = reigns.age + going
        gone = reigns.remove(stages, going, read)
        eliminated_at = np.where(gone, spent[:, None].astype(np.int64), eliminated_at)
    _fill(plays, reigns, stages, settings.horizon - spent)
    return Outcome(plays=plays, eliminated_at=eliminated_at), complete


def _first(settings: DpEbsSettings, streams: Streams, n_runs: int) -> _Reigns:
    """Return the state before the first round: a champion drawn at random, and all others as challengers."""
    reigns = _Reigns(
        champion=np.zeros(n_runs, dtype=np.int64),
        challengers=np.ones((n_runs, settings.arms), dtype=bool),
        won=np.zeros((n_runs, settings.arms)),
        age=np.zeros(n_runs, dtype=np.int64),
    )
    reigns.crown(np.arange(n_runs), streams.actions.integers(settings.arms, size=n_runs))
    return reigns


def _fill(plays: Array, reigns: _Reigns, stages: tuple[Stage, ...], rounds_left: Array) -> None:
    """Play the rounds that are left: the champion against itself, or the challenger with more than half of the wins."""
    shares = reigns.shares(stages, reigns.age)
    chosen = np.where(shares.max(axis=1) > _EVEN, shares.argmax(axis=1), reigns.champion)
    plays[np.arange(len(plays)), chosen, chosen] += rounds_left
