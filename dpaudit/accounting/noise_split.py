"""Division of one budget between unequal Gaussian releases, so that their noise costs least."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.accounting.accountant import bracket_delta
from dpaudit.accounting.additive_costs import Cost, cost_of, gaussian
from dpaudit.accounting.calibration import smallest_holding
from dpaudit.accounting.fold import fold
from dpaudit.checks import non_negative, positive
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim, require_finite
from dpaudit.model.declaration import Declaration, Release, children, walk, with_children
from dpaudit.model.mechanism import Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Releases that share a mechanism: `factor` times the declared noise, and `budget`, their part of mu^2.

    `cost` is what the declared noise of all of them costs; with the factor it costs factor^2 times as much.
    """

    labels: tuple[str, ...]
    factor: float
    budget: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A declaration with its noise divided, and the share of each mechanism; `cost` is the minimal total cost.

    >>> from dpaudit import Sequential
    >>> from mechanisms import Gaussian
    >>> sums = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> counts = Gaussian(stddev=1.0, l2_sensitivity=0.5, neighbours="replace_one")
    >>> both = Sequential(parts=(Release(label="sums", mechanism=sums), Release(label="counts", mechanism=counts)))
    >>> claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    >>> shared = split_noise(both, claim, costs={"sums": 1.0, "counts": 1.0})
    >>> [round(share.factor, 2) for share in shared.shares]
    [4.57, 3.23]
    """

    declaration: Declaration
    shares: tuple[Share, ...]
    cost: float


def split_noise(
    declaration: Declaration,
    claim: Claim,
    costs: Mapping[str, float],
    least: Mapping[str, float] | None = None,
) -> Split:
    """Return `declaration` with the noise that certifies `claim` at the least total cost of variance.

    `costs` says for each label what the declared variance of that node costs (dimension times variance times how often
    it is released, say); a factor f on its noise makes it f^2 times that. `least` gives factors that must not be
    undercut (0 where absent).
    Releases that share a mechanism share a factor.
    Guarantee: the accountant certifies the claim for the result, and no other factors that it certifies cost less, up
    to a relative 1e-9.
    Proof: scaled by f_i, mechanism i brings a_i / f_i^2 to mu^2, and the costs are c_i f_i^2. Both are convex in
    1 / f_i^2 and the sum of the first is bounded, so the optimum equates marginal costs, f_i^4 = level * a_i / c_i,
    wherever f_i is above its least value: water filling. More level is more noise, and the smallest level that
    certifies is the answer. Without least values the minimum is (sum sqrt(a_i c_i))^2 / mu^2, by Cauchy and Schwarz.

    Raises:
        DeclarationError: a weaker model than the claim's, or a sensitivity for other neighbours.
        ValueError: a label without a cost, an unknown label, or a number out of range.
        UnsupportedError: noise that is not Gaussian, mechanisms that do not add up (some lie in different parts of
            a 'parallel'), or a claim that no noise meets.

    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    >>> alone = split_noise(Release(label="sum", mechanism=noise), claim, costs={"sum": 1.0})
    >>> round(alone.shares[0].factor, 3)
    3.731
    """
    require_finite(claim, "calibration")
    parts = _parts(declaration, claim, costs, least or {})

    def factors(level: float) -> dict[Mechanism, float]:
        return {part.mechanism: part.factor(level) for part in parts}

    def certified(level: float) -> bool:
        form = fold(rescaled(declaration, factors(level).__getitem__), claim.neighbours)
        return bracket_delta(form, claim.epsilon).upper <= claim.delta

    chosen = factors(smallest_holding(certified, f"epsilon={claim.epsilon}, delta={claim.delta}"))
    shares = tuple(part.share(chosen[part.mechanism]) for part in parts)
    return Split(
        declaration=rescaled(declaration, chosen.__getitem__),
        shares=shares,
        cost=sum(share.cost * share.factor**2 for share in shares),
    )


def rescaled(node: Declaration, factor: Callable[[Mechanism], float]) -> Declaration:
    """Return the same tree with `factor(mechanism)` times the noise in each release."""
    if isinstance(node, Release):
        return replace(node, mechanism=node.mechanism.scaled(factor(node.mechanism)))
    return with_children(node, tuple(rescaled(child, factor) for child in children(node)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One mechanism: its releases' labels, what it brings to mu^2, what its variance costs, and its least factor."""

    mechanism: Mechanism
    labels: tuple[str, ...]
    brought: Fraction
    price: float
    floor: float

    def factor(self, level: float) -> float:
        """Return the factor on the noise at a level of marginal cost."""
        wanted: float = level * float(self.brought / Fraction(self.price)) ** 0.25
        return max(self.floor, wanted)

    def share(self, factor: float) -> Share:
        """Return what the mechanism gets with this factor."""
        return Share(labels=self.labels, factor=factor, budget=float(self.brought) / factor**2, cost=self.price)


def _parts(
    declaration: Declaration, claim: Claim, costs: Mapping[str, float], least: Mapping[str, float]
) -> tuple[_Part, ...]:
    """Return each mechanism of the declaration with its costs."""
    groups = _groups(declaration)
    _require_labels(groups, costs, least)
    brought = _brought(declaration, claim, tuple(groups))
    return tuple(
        _Part(
            mechanism=mechanism,
            labels=tuple(dict.fromkeys(labels)),
            brought=share,
            price=sum(positive(f"costs[{label!r}]", costs[label]) for label in labels),
            floor=max(non_negative(f"least[{label!r}]", least.get(label, 0.0)) for label in labels),
        )
        for (mechanism, labels), share in zip(groups.items(), brought, strict=True)
    )


def _groups(declaration: Declaration) -> dict[Mechanism, list[str]]:
    """Return the labels of each mechanism's releases, one entry a node."""
    groups: dict[Mechanism, list[str]] = {}
    for _, node in walk(declaration):
        if isinstance(node, Release):
            groups.setdefault(node.mechanism, []).append(node.label)
    return groups


def _require_labels(groups: dict[Mechanism, list[str]], costs: Mapping[str, float], least: Mapping[str, float]) -> None:
    """Refuse costs that leave a release out or name none."""
    labels = {label for held in groups.values() for label in held}
    if missing := sorted(labels - set(costs)):
        raise ValueError(f"Expected a cost for each release; {', '.join(missing)} has none.")
    if unknown := sorted((set(costs) | set(least)) - labels):
        raise ValueError(f"Expected labels of the declaration; no release is called {', '.join(unknown)}.")


def _brought(declaration: Declaration, claim: Claim, mechanisms: tuple[Mechanism, ...]) -> tuple[Fraction, ...]:
    """Return what each mechanism brings to mu^2: four thirds of what doubling its noise takes away.

    The differences add up to the whole where the whole is a sum, and nowhere else.
    """

    def total(doubled: Mechanism | None) -> Fraction:
        tree = rescaled(declaration, lambda mechanism: 2.0 if mechanism == doubled else 1.0)
        cost: Cost | None = cost_of(tree, claim, gaussian)
        if cost is None:
            raise UnsupportedError("The noise is not all Gaussian; only Gaussian releases share a sum of mu^2.")
        return cost.amount

    whole = total(None)
    brought = tuple((whole - total(mechanism)) * 4 / 3 for mechanism in mechanisms)
    if abs(sum(brought) - whole) > whole / 10**9 or not all(brought):
        raise UnsupportedError(
            "The releases do not share one budget: some lie in different parts of a 'parallel', of which a record "
            "touches one. Split the noise of each part by itself."
        )
    return brought
