"""Individual budgets: one filter for each record (one person's data of one epoch, at one site), on that person's side.

A site asks query after query, each chosen in view of the answers so far; each answer is a sum over records with fresh
noise. Before a query uses a record, the record's own filter is asked: it pays what the query may learn of this record,
and once the filter refuses, the record is left out without notice. Records that a query does not touch pay nothing, and
no answer is refused.

Theorem. If 1. the cost of a record in a query is a function of this record, the public query and the answers so far
alone, 2. with the record in place of none, *whatever the other records are*, the sum moves by no more than the noise
hides at that cost, and 3. neither costs nor refusals are published, then all answers together keep the limit for
data sets that differ in the presence of one record.

Proof. Let D have the record x that D' lacks, and condition on the answers so far. The filters of all other records are
functions of their own records and of these answers (1), so the same other records take part under both. If x takes
part, the sums differ by at most what its cost allows (2); if not, they are equal. So at each step the loss is at most
the cost that x pays, and along every path of answers these costs stay within the limit: added up they bound the
logarithm of the odds (epsilon), or, as for any filter, the Renyi divergence (rho), or, with squares that add up, the
curve of Gaussian noise (mu).

Two neighbours with another record in the same place are not covered by one limit, but by twice the epsilon: the records
have different costs. And a cost that looks at other records breaks 1: removing x then changes who else is left out.
Source: Feldman and Zrnic (2021), Theorem 3.1 for rho; Koskela, Tobaben and Honkela (2023) for mu, and
docs/theory/choices.md; the proof above for records of several epochs of one person.
"""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.checks import meant, noise_size, non_negative
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.model.measures.claims import MuClaim, RhoClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class IndividualFilter:
    """The budget of one record at one site, and what is spent of it; it stays with the person and is never published.

    Guarantee: of the module's theorem, for the claim that `individual_claim` returns for the same limit.
    Raises: ValueError: a limit that is negative or infinite, or more spent than there is.

    >>> mine = IndividualFilter(limit=1.0)
    >>> mine, takes_part = mine.charged(0.75)
    >>> mine, again = mine.charged(0.5)
    >>> takes_part, again, float(mine.spent)
    (True, False, 0.75)
    """

    limit: float
    spent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", non_negative("limit", self.limit))
        object.__setattr__(self, "spent", Fraction(self.spent))  # sums of floats would be rounded
        if not 0 <= self.spent <= meant(self.limit):
            raise ValueError(f"Expected spent={self.spent} within the limit of {self.limit:g}.")

    def charged(self, cost: float | Fraction) -> tuple["IndividualFilter", bool]:
        """Return the filter after a query, and whether the record takes part in it; where it does not, nothing is paid.

        Raises: ValueError: a cost that is negative, infinite or NaN.
        """
        price = cost if isinstance(cost, Fraction) else meant(non_negative("cost", cost))
        if price < 0:
            raise ValueError(f"Expected cost={price} to be zero or positive.")
        if self.spent + price > meant(self.limit):
            return self, False
        return IndividualFilter(limit=self.limit, spent=self.spent + price), True


def laplace_cost(distance: float, scale: float) -> Fraction:
    """Return the epsilon of a record that moves a sum by at most `distance` in the L1 norm, with noise of `scale`.

    Raises: ValueError: a distance that is negative or no finite number, or a scale that is no size of a noise.
    """
    return meant(non_negative("distance", distance)) / meant(noise_size("scale", scale))


def gaussian_cost(distance: float, stddev: float) -> Fraction:
    """Return the rho of a record that moves a sum by at most `distance` in the L2 norm, with noise of `stddev`.

    Raises: as `laplace_cost`.
    """
    return (meant(non_negative("distance", distance)) / meant(noise_size("stddev", stddev))) ** 2 / 2


def squared_mu_cost(distance: float, stddev: float) -> Fraction:
    """Return the square of the mu of such a record, twice its rho. A filter for a claim of mu has the limit mu^2.

    Raises: as `laplace_cost`.

    >>> float(squared_mu_cost(distance=3.0, stddev=10.0))
    0.09
    """
    return 2 * gaussian_cost(distance, stddev)


def individual_claim(
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    unit: str,
    neighbours: Neighbours = "add_remove",
) -> Claim:
    """Return what all answers to one site keep if every record has a filter of this limit, of mu in squares.

    Several sites that share their answers add their limits up.
    Raises: ValueError: two limits or none, or neighbours other than `add_remove`, which the theorem leaves out.

    >>> individual_claim(rho=0.5, unit="one person's data of one week").words
    'rho = 0.5'
    """
    if [epsilon, rho, mu].count(None) != 2:
        raise ValueError("Expected one of epsilon, rho and mu: the limit of every record's filter.")
    if neighbours != "add_remove":
        raise ValueError(
            f"Expected neighbours={neighbours!r} to be 'add_remove': a record in place of another one pays another "
            "cost, and one limit covers its presence alone."
        )
    if rho is not None:
        return RhoClaim(rho=rho, neighbours=neighbours, unit=unit)
    if mu is not None:
        return MuClaim(mu=mu, neighbours=neighbours, unit=unit)
    return Claim(epsilon=epsilon or 0.0, neighbours=neighbours, unit=unit)
