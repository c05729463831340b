"""Twenty pairs of laws on ordered values, with their exact mu, rho and Renyi divergences, for measures of coverage."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import ndtri

from dpaudit.model.mechanism import Array

_ORDERS = 1 + np.geomspace(1e-4, 300, 4_000)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """The probabilities of values 0, 1, 2, ... with the record and without it."""

    name: str
    ins: Array
    outs: Array

    def sample(self, n_ins: int, n_outs: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return two samples of scores, which are the values."""
        values = np.arange(float(len(self.ins)))
        return rng.choice(values, n_ins, p=self.ins), rng.choice(values, n_outs, p=self.outs)

    @property
    def rates(self) -> tuple[Array, Array]:
        """False and true positive rates of the best tests: the corners of a concave curve, from (0, 0) to (1, 1)."""
        order = np.argsort(-self.ins / self.outs, kind="stable")
        false, true = (np.minimum(1.0, np.cumsum(side[order])[:-1]) for side in (self.outs, self.ins))
        return np.r_[0.0, false, 1.0], np.r_[0.0, true, 1.0]

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """The exact (epsilon, delta) of both orders at every log ratio: with them the whole curve is claimed."""
        epsilons = np.unique(np.abs(np.log(self.ins / self.outs)))
        growth = np.exp(epsilons)[:, None]
        sums = [np.maximum(0, p - growth * q).sum(axis=1) for p, q in ((self.ins, self.outs), (self.outs, self.ins))]
        return tuple(zip(epsilons.tolist(), np.maximum(*sums).tolist(), strict=True))

    @property
    def mu(self) -> float:
        """The least mu whose trade-off allows both orders: at a corner of the curve, as both curves are concave."""
        false, true = (rates[1:-1] for rates in self.rates)
        return float((ndtri(true) - ndtri(false)).max(initial=0.0))

    def renyi(self, order: float) -> float:
        """The larger Renyi divergence of both orders of the laws."""
        return float(max(_renyi(order, self.ins, self.outs), _renyi(order, self.outs, self.ins)))

    @property
    def rho(self) -> float:
        """The supremum of R_a / a, on a fine grid of orders and at the limit 1."""
        ratios = [self.renyi(order) / order for order in _ORDERS.tolist()]
        entropies = [float(stats.entropy(a, b)) for a, b in ((self.ins, self.outs), (self.outs, self.ins))]
        return max([*ratios, *entropies])


def _renyi(order: float, p: Array, q: Array) -> float:
    """Return the Renyi divergence of positive laws."""
    logarithm = float(np.logaddexp.reduce(order * np.log(p) + (1 - order) * np.log(q)))
    return max(0.0, logarithm / (order - 1))


def _shifted(law: Callable[[Array], Array], shift: float) -> tuple[Array, Array]:
    """Return a law of continuous numbers in 40 cells, shifted and not."""
    edges = np.linspace(-4, 4 + shift, 39)
    cells = (np.diff(np.concatenate([[0.0], law(edges - move), [1.0]])) for move in (shift, 0.0))
    ins, outs = (cell / cell.sum() for cell in cells)
    return ins, outs


def _coin(epsilon: float) -> tuple[Array, Array]:
    """Return randomised response."""
    right = 1 / (1 + np.exp(-epsilon))
    return np.array([1 - right, right]), np.array([right, 1 - right])


def _laws() -> dict[str, tuple[Array, Array]]:
    """Return the laws by name."""
    flat, rng = np.full(4, 0.25), np.random.default_rng(7)
    drawn = {f"drawn {k}": (rng.dirichlet(np.full(6, 2.0)), rng.dirichlet(np.full(6, 2.0))) for k in range(3)}
    return {
        "constant": (np.ones(1), np.ones(1)),
        "equal ties": (flat, flat),
        "equal skewed": (np.array([0.97, 0.03]), np.array([0.97, 0.03])),
        **{f"gaussian {mu}": _shifted(stats.norm.cdf, mu) for mu in (0.0, 0.1, 0.45, 1.0, 2.0)},
        **{f"laplace {e}": _shifted(stats.laplace(scale=1 / e).cdf, 1.0) for e in (0.5, 1.0, 2.0)},
        "logistic": _shifted(stats.logistic.cdf, 1.0),
        **{f"response {e}": _coin(e) for e in (0.1, 1.0, 3.0)},
        "permute and flip": (np.array([0.5, 0.5]), np.array([1 - np.exp(-2) / 2, np.exp(-2) / 2])),
        "rare leak": (np.array([0.5, 0.499, 0.001]), np.array([0.5, 0.499999, 0.000001])),
        **drawn,
    }


LAWS = tuple(Pair(name=name, ins=ins, outs=outs) for name, (ins, outs) in _laws().items())
"""Twenty pairs; the probabilities are positive."""
