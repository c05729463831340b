"""Filters: an adaptive analyst's releases, counted as they come and stopped before a limit.

Composition theorems fix every part before the data are seen. An analyst who picks the next part, and how much it
may cost, by looking at the answers so far needs a theorem of its own; a filter is one, with the budget it has left.
Spending gives a new filter or a refusal, and never changes the old one:

    match budget.spend(part):
        case Refusal(reason=reason): ...        # release nothing
        case Filter() as budget: ...            # release the part
"""

from dataclasses import dataclass, field, replace

from dpaudit.accounting.additive_costs import Cost, cost_of
from dpaudit.budgets import filter_theorems as theorems
from dpaudit.budgets.filter_theorems import FilterTheorem
from dpaudit.budgets.renyi import renyi_theorem, usual_order
from dpaudit.certification.certificate import Certificate
from dpaudit.checks import count, meant, probability_below_one
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Claim, require_finite
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Billboard, Declaration, Local, Stated
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, RenyiClaim, RhoClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a part must not be released; nothing was spent.

    >>> Refusal(reason="The part costs more than is left.").reason
    'The part costs more than is left.'
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A claim over everything an analyst releases, and what is spent of it so far.

    `mass` is the share of the claim's delta set aside for parts that bring a delta of their own; `at` tells a filter
    from others that count by the same theorem for another order, or for another point of a profile.
    Guarantee: however the parts were chosen from the outputs before them, and whenever the analyst stopped, all
    that was released with this filter's consent meets `claim`, under `conditions`.
    Edge cases: sums are exact; ten parts of the float 0.1, which lies above one tenth, do exceed 1.
    Raises: ValueError: `mass` above the claim's delta, or more spent than there is.

    >>> from dpaudit import Release
    >>> from mechanisms import Laplace
    >>> budget = basic_filter(Claim(epsilon=1.0, neighbours="add_remove"))
    >>> part = Release(label="count", mechanism=Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove"))
    >>> budget = budget.spend(part)
    >>> float(budget.remaining.amount)
    0.5
    >>> type(budget.spend(part).spend(part)).__name__
    'Refusal'
    """

    claim: Claim
    theorem: FilterTheorem
    mass: float = 0.0
    spent: Cost = field(default_factory=Cost)
    events: int = 0
    at: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.claim, MeasuredClaim):
            self._require_own_measure(self.claim)
        else:
            require_finite(self.claim, "a filter")
            object.__setattr__(self, "mass", probability_below_one("mass", self.mass))
            if self.mass > self.claim.delta:
                most = self.claim.delta
                raise ValueError(f"Expected mass={self.mass!r} to be a share of the claim's delta={most!r}.")
        count("events", self.events, at_least=0)
        if not self.spent.within(self.limit):
            raise ValueError("Expected spent to lie within the limit; a filter that overspent proves nothing.")

    def _require_own_measure(self, claim: MeasuredClaim) -> None:
        """Refuse a claim in another measure than the theorem counts, and a mass, which no such claim allows."""
        own = _own_theorem(claim)
        if own is None or own.name != self.theorem.name:
            raise ValueError(f"Expected a claim that the {self.theorem.name} filter proves, got {claim.words}.")
        if self.mass:
            raise ValueError(f"Expected mass={self.mass!r} to be 0: a claim of {claim.words} allows none.")

    @property
    def name(self) -> str:
        """The theorem's name, and what it counts for where several filters have that theorem."""
        return f"{self.theorem.name} {self.at}".strip()

    @property
    def limit(self) -> Cost:
        """The largest cost that the theorem turns into the claim."""
        if isinstance(self.claim, RhoClaim):
            return Cost(amount=meant(self.claim.rho))
        if isinstance(self.claim, MuClaim):
            return Cost(amount=meant(self.claim.mu) ** 2)
        if isinstance(self.claim, RenyiClaim):
            return Cost(amount=meant(self.claim.renyi[0][1]))
        return theorems.limit_of(self.theorem, self.claim.epsilon, self.claim.delta, self.mass)

    @property
    def remaining(self) -> Cost:
        """What is left, exactly."""
        return Cost(amount=self.limit.amount - self.spent.amount, mass=self.limit.mass - self.spent.mass)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold beside the arithmetic; the parts bring their own conditions."""
        return _CONDITIONS

    def spend(self, part: Declaration) -> "Filter | Refusal":
        """Return the filter after `part` was released, or the reason why it must not be.

        Raises:
            DeclarationError: `part` is stated for other neighbours, or protects a weaker model.
            UnsupportedError: a node that no rule covers.
        """
        cost = cost_of(part, self.claim, self.theorem.cost_of_loss)
        if cost is None:
            return Refusal(reason=f"A {self.theorem.name} filter counts {self.theorem.counts} only.")
        spent = self.spent + cost
        if not spent.within(self.limit):
            return Refusal(reason=self._overrun(cost))
        return replace(self, spent=spent, events=self.events + 1)

    def _overrun(self, cost: Cost) -> str:
        """Return what `cost` asks for beside what is left, in one sentence."""
        words = cost.beside(self.remaining)
        return f"By the {self.theorem.name} filter, the part {words} of {self.claim.words}."


def _own_theorem(claim: Claim) -> FilterTheorem | None:
    """Return the theorem whose sum is the measure of a claim itself; None where no sum is."""
    match claim:
        case RhoClaim(xi=0.0):
            return theorems.CONCENTRATED
        case MuClaim():
            return theorems.GAUSSIAN_PRIVACY
        case RenyiClaim(renyi=((order, _),)):
            return renyi_theorem(order)
        case _:
            return None


_CONDITIONS = (
    Condition(kind="limit_fixed_first"),
    Condition(kind="public_refusals"),
    Condition(kind="parts_in_order"),
    Condition(kind="nothing_outside"),
)


def basic_filter(claim: Claim) -> Filter:
    """Return a filter that adds up epsilons and deltas.

    >>> budget = basic_filter(Claim(epsilon=1.0, neighbours="replace_one"))
    >>> budget = budget.spend(Stated(epsilon=0.75, source="a first look"))
    >>> budget.spend(Stated(epsilon=0.5, source="a second look")).reason
    'By the basic filter, the part costs 0.5, where 0.25 is left of epsilon=1, delta=0.'
    """
    return Filter(claim=claim, theorem=theorems.BASIC, mass=claim.delta)


def measure_filter(claim: RhoClaim | MuClaim | RenyiClaim) -> Filter:
    """Return a filter for a claim in rho, in mu or in a Renyi divergence: it adds up that measure, mu in squares.

    It needs no conversion and no delta. Several orders need a filter each, which all consent.
    Raises: ValueError: a claim in another measure, with xi, or of several orders.

    >>> budget = measure_filter(RhoClaim(rho=0.5, neighbours="replace_one"))
    >>> budget = budget.spend(Stated(epsilon=1.0, source="a first look"))
    >>> round(float(budget.spent.amount), 6)
    0.462117
    """
    theorem = _own_theorem(claim)
    if theorem is None:
        raise ValueError(
            f"Expected a claim in rho, in mu or of one Renyi order, got {claim.words}: no sum of parts has its measure."
        )
    return Filter(claim=claim, theorem=theorem)


def gaussian_filter(claim: Claim) -> Filter:
    """Return a filter that adds up mu^2 of Gaussian releases: nothing is lost against parts fixed in advance.

    >>> gaussian_filter(Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")).theorem.name
    'Gaussian'
    """
    return Filter(claim=claim, theorem=theorems.GAUSSIAN)


def concentrated_filter(claim: Claim, mass: float = 0.0) -> Filter:
    """Return a filter that adds up rho, for Gaussian and bounded parts together.

    >>> concentrated_filter(Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")).theorem.name
    'concentrated'
    """
    return Filter(claim=claim, theorem=theorems.CONCENTRATED, mass=mass)


def advanced_filter(claim: Claim, mass: float = 0.0) -> Filter:
    """Return the filter of Whitehouse, Ramdas, Rogers and Wu: the rate of advanced composition, constants included.

    `concentrated_filter` counts the same costs and ends later, by a sharper conversion.

    >>> advanced_filter(Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one"), mass=5e-6).theorem.name
    'advanced'
    """
    return Filter(claim=claim, theorem=theorems.ADVANCED, mass=mass)


def renyi_filter(claim: Claim, order: float | None = None) -> Filter:
    """Return a filter that adds up Renyi divergences of one order, for samples, Gaussian and bounded parts together.

    `order` is fixed before the first part; without one it is `usual_order` of the claim. What a part costs is the
    larger divergence of both orders of the neighbours, so that the parameters of each step of a training (noise,
    sampling rate) may be chosen from what was released before.
    Raises: ValueError: an order that is not above 1 and finite.

    >>> budget = renyi_filter(Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove"), order=16.0)
    >>> budget.theorem.name
    'Renyi'
    """
    fixed = usual_order(claim.epsilon, claim.delta) if order is None else order
    return Filter(claim=claim, theorem=renyi_theorem(fixed))


def stated_by(certificate: Certificate, claim: Claim) -> Declaration:
    """Return what a certificate proves, as a part to spend on a budget for `claim`.

    A stated claim is spent at its word, and its booking says so.
    Raises: DeclarationError: it does not meet its claim, or is about other neighbours or another unit.

    >>> from dpaudit import Release, certify
    >>> from mechanisms import Laplace
    >>> claim = Claim(epsilon=0.5, neighbours="add_remove")
    >>> noise = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> booked = stated_by(certify(Release(label="count", mechanism=noise), claim), claim)
    >>> isinstance(basic_filter(claim).spend(booked), Filter)
    True
    """
    require_spendable(certificate, claim)
    proved = certificate.claim
    epsilon = min(proved.epsilon, certificate.tight.epsilon.upper)
    part = Stated(epsilon=epsilon, delta=proved.delta, source=f"certificate for {proved.unit}")
    match proved.model:
        case "central":
            return part
        case "joint":
            return Billboard(part=part)
        case "local":
            return Local(part=part)


def require_spendable(certificate: Certificate, claim: Claim) -> None:
    """Refuse a certificate that a budget for `claim` cannot count.

    Raises: DeclarationError: it does not meet its claim, or is about other neighbours or another unit.
    """
    proved = certificate.claim
    if certificate.verdict not in ("certified", "stated"):
        raise DeclarationError(
            f"The certificate says {certificate.verdict!r}; only what is certified, or stated by somebody else, can be "
            "spent."
        )
    if (proved.neighbours, proved.unit) != (claim.neighbours, claim.unit):
        raise DeclarationError(
            f"The certificate is about {proved.unit!r} and neighbours={proved.neighbours!r}; the budget is about "
            f"{claim.unit!r} and neighbours={claim.neighbours!r}. Both must be the same: certify a claim with those "
            "of the budget, or open an account with those of the certificate."
        )
