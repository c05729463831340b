"""The users of an epoch: their contexts, their actions and their rewards, simulated or recorded.

Rewards travel as groups, (reward, how many users of each cell saw it), so that the cost of an epoch does
not grow with its length and clipping still acts on each single reward.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from algorithms._growth import Epoch
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit import Streams
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Played:
    """An epoch's rounds in every run: (reward, counts) groups, counts of shape (n_runs, C, X)."""

    groups: tuple[tuple[float, Array], ...]

    @property
    def counts(self) -> Array:
        """How often each cell was played, shape (n_runs, C, X)."""
        return sum((group for _, group in self.groups[1:]), start=self.groups[0][1])


class Users(Protocol):
    """The source of contexts and rewards: a problem that simulates them, or a data set."""

    def play(self, epoch: Epoch, active: Array, streams: Streams) -> Played:
        """Return the rounds of `epoch` when `active`, shape (n_runs, C, X), is on the billboard."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUsers:
    """Users drawn from a problem: contexts by its law, rewards of either sign by its means."""

    problem: KernelBandit

    def play(self, epoch: Epoch, active: Array, streams: Streams) -> Played:
        """Return fresh users' rounds, drawn as counts; exact in law."""
        bound = self.problem.reward_bound
        arrivals = streams.environment.multinomial(epoch.length, self.problem.context_probabilities, size=len(active))
        counts = uniform_actions(arrivals, active, streams.actions)
        positive = streams.environment.binomial(counts, (1 + self.problem.mean_reward / bound) / 2)
        return Played(groups=((bound, positive), (-bound, counts - positive)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedUsers:
    """A data set: record t is a context and the reward that its user sees, whatever the action.

    Shape: both (horizon,). The same records are played in every run.
    """

    contexts: Array
    rewards: Array

    def play(self, epoch: Epoch, active: Array, streams: Streams) -> Played:
        """Return the recorded users' rounds, with actions drawn uniformly from the active ones."""
        contexts, rewards = self.contexts[epoch.start : epoch.stop], self.rewards[epoch.start : epoch.stop]
        groups: list[tuple[float, Array]] = []
        for reward in np.unique(rewards):
            arrivals = np.bincount(contexts[rewards == reward], minlength=active.shape[1])
            groups.append((float(reward), uniform_actions(arrivals[None, :], active, streams.actions)))
        return Played(groups=tuple(groups))


def one_record(rounds: int, at: int, reward: float, context: int = 0) -> RecordedUsers:
    """Return users of reward 0 at context 1, but for user `at`, who has this reward and context."""
    contexts, rewards = np.ones(rounds, dtype=np.int64), np.zeros(rounds)
    contexts[at], rewards[at] = context, reward
    return RecordedUsers(contexts=contexts, rewards=rewards)


def two_records(
    rounds: int, at: int, first: float, second: float, context: int = 0
) -> tuple[RecordedUsers, RecordedUsers]:
    """Return two data sets in which user `at` has one reward or the other; see `one_record`."""
    return one_record(rounds, at, first, context), one_record(rounds, at, second, context)


def usual_pairs(rounds: int, border: int, bound: float) -> tuple[tuple[str, RecordedUsers, RecordedUsers], ...]:
    """Return pairs for replays, each with what differs: one user's reward, and the context of the first user.

    The user comes first, on either side of the `border` of the first epoch, in the middle or last.
    """
    places = sorted({0, border - 1, border, rounds // 2, rounds - 1} & set(range(rounds)))
    rewards = tuple(
        (f"the reward of user {at + 1} is -{bound:g} or {bound:g}", *two_records(rounds, at, -bound, bound))
        for at in places
    )
    moved = ("the first context differs", one_record(rounds, 0, bound), one_record(rounds, 0, bound, context=1))
    return (*rewards, moved)


def unlike_records(rounds: int, bound: float) -> tuple[RecordedUsers, RecordedUsers]:
    """Return two data sets that have nothing in common."""
    numbers = np.arange(rounds)
    first = RecordedUsers(contexts=numbers % 2, rewards=np.where(numbers % 3 == 0, bound, -bound))
    return first, RecordedUsers(contexts=(numbers + 1) % 2, rewards=np.where(numbers % 5 == 0, -bound / 2, bound))


def uniform_actions(arrivals: Array, active: Array, rng: np.random.Generator) -> Array:
    """Return how often each cell is played when every arrival picks an active action uniformly.

    Shape: (n_runs or 1, C) and (n_runs, C, X) to (n_runs, C, X).
    Source: Algorithm 1, lines 11 and 12.
    """
    uniform = active / active.sum(axis=2, keepdims=True)
    return rng.multinomial(np.broadcast_to(arrivals, active.shape[:2]), uniform)


def clipped_sums(played: Played, reward_bound: float) -> Array:
    """Return each cell's sum of rewards, every reward clipped to [-reward_bound, reward_bound] first.

    Shape: (n_runs, C * X). The paper assumes bounded rewards; privacy needs them for every record.
    """
    sums = sum(bounded_reward(reward, reward_bound) * counts for reward, counts in played.groups)
    return np.asarray(sums, dtype=np.float64).reshape(len(played.counts), -1)


def bounded_reward(reward: float, reward_bound: float) -> float:
    """Return `reward` clipped to [-reward_bound, reward_bound]; what is not a number counts as 0."""
    return 0.0 if np.isnan(reward) else float(np.clip(reward, -reward_bound, reward_bound))
