"""Votes that a shuffler hands on together: the randomiser of one person, and the sum that the server makes of many.

The people of a batch who are shown one option on the left form one shuffle. Each randomises their own answer; the
server learns how many of them sent 1 and no more. The votes of a person are in one shuffle. Batches grow, so the
smallest shuffle is that of the first batch, and for it the randomiser is calibrated.
Source: Feldman, McMillan and Talwar (2021) for the amplification; Saha and Asi (2024), Remark 3, for the idea.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from dpaudit import Recorder, Release
from dpaudit.model.mechanism import Array, Mechanism
from dpaudit.model.tape import released_on_tape
from mechanisms import RandomisedResponse

_MOST_VOTES = 4_000_000

VOTE = "one person's answer"
"""The label of a randomised answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledSum:
    """The sum of the answers of `users` people, estimated without bias from the shuffled votes of `response`."""

    response: RandomisedResponse
    users: int

    def estimate(self, votes: Array) -> Array:
        """Return the estimates from how many votes were 1, in any shape."""
        truth = self.response.probability
        return (votes - self.users * (1 - truth)) / (2 * truth - 1)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each estimate where `value`, one number, is how many answer 1."""
        truth, ones = self.response.probability, int(np.asarray(value).item())
        votes = np.rint(np.asarray(output) * (2 * truth - 1) + self.users * (1 - truth)).astype(np.int64)
        law = np.convolve(_binomial(ones, truth), _binomial(self.users - ones, 1 - truth))
        with np.errstate(divide="ignore"):
            log_law: Array = np.log(law)
        return log_law[votes]


def _binomial(number: int, probability: float) -> Array:
    """Return the binomial probabilities of 0 to `number`."""
    count = np.arange(number + 1)
    ways = gammaln(number + 1) - gammaln(count + 1) - gammaln(number - count + 1)
    return np.exp(ways + xlogy(count, probability) + xlog1py(number - count, -probability))


@dataclass(slots=True)
class Shuffler(Recorder):
    """A recorder that draws the votes of each sum; the trace has one vote, as each person sends one.

    `users` says how many people vote, by the label of what is summed.
    """

    users: Mapping[str, int] = field(default_factory=dict)

    def release(
        self,
        label: str,
        mechanism: Mechanism,
        value: Array,
        times: int = 1,
        paid: Mapping[str, Fraction] | None = None,
    ) -> Array:
        """Return estimated sums, where so many people answer 1; their order is secret, so they come first.

        Shape: `value` (n_runs, K). Memory: some 32 MB, or what one run's votes need.
        """
        if not isinstance(mechanism, RandomisedResponse):
            return Recorder.release(self, label, mechanism, value, times, paid)
        votes = ShuffledSum(response=mechanism, users=self.users[label])
        ones, people = value.astype(np.int64), np.arange(votes.users)
        block = max(1, _MOST_VOTES // (votes.users * ones.shape[1]))
        counts = np.zeros(ones.shape)
        for start in range(0, len(ones), block):
            runs = np.arange(start, min(start + block, len(ones)))
            answers = (people < ones[runs, :, None]).astype(np.int64)
            counts[runs] = released_on_tape(VOTE, votes.response, answers, self.rng, runs).sum(axis=2)
        if votes.response not in [line.mechanism for line in self.released]:
            self.record(VOTE, votes.response, np.zeros(1), np.zeros(1))
        return votes.estimate(counts)


def vote_release(epsilon: float) -> Release:
    """Return one person's randomised answer."""
    return Release(label=VOTE, mechanism=RandomisedResponse(epsilon=epsilon))
