"""`dpaudit scores`: what membership-inference scores that were computed elsewhere show against a claim."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from dpaudit.cli.common.options import Seed, Significance, flag, number, option
from dpaudit.cli.common.results import Result, resulting
from dpaudit.errors import CertificateError, ConfigError
from dpaudit.runtime.plugins import load_package

if TYPE_CHECKING:
    from dpaudit.model.claim import Claim

_SIGNIFICANCE = 0.01


Members: TypeAlias = Annotated[Path, typer.Argument(metavar="IN", help="Scores of members: CSV, NPY or Parquet.")]
Others: TypeAlias = Annotated[Path, typer.Argument(metavar="OUT", help="Scores of others, in the same form.")]
Sampling: TypeAlias = Annotated[str, option("--sampling", "runs|canaries|paired", "Where the scores come from.")]


@dataclass(frozen=True, kw_only=True)
class ClaimOptions:
    """The claim that scores are held against."""

    epsilon: Annotated[float, number("--epsilon", "E", "The claimed epsilon.")]
    neighbours: Annotated[Literal["replace_one", "add_remove"], flag("--neighbours", "The claim's neighbours.")]
    delta: Annotated[float, number("--delta", "D", "The claimed delta.")] = 0.0
    model: Annotated[Literal["central", "joint", "local"], flag("--model", "The model of the claim.")] = "central"


@dataclass(frozen=True, kw_only=True)
class TradeOffOptions:
    """The trade-off that is declared beside the claim: one at most."""

    mu: Annotated[float | None, number("--mu", "M", "A declared Gaussian trade-off.")] = None
    rho: Annotated[float | None, number("--rho", "R", "A declared rho (zCDP).")] = None
    curve: Annotated[Path | None, option("--curve", "CERTIFICATE", "A certificate whose curve was declared.")] = None

    def declared(self, claim: Claim) -> Any:
        """Return the declared trade-off, or None.

        Raises: ConfigError: two declarations, or a certificate for other neighbours or without a curve.
        """
        if sum(given is not None for given in (self.mu, self.rho, self.curve)) > 1:
            raise ConfigError("Expected one of --mu, --rho and --curve: one trade-off is declared.")
        trade_offs = load_package("audits.bounds")
        if self.mu is not None:
            return trade_offs.GaussianTradeOff(mu=self.mu)
        if self.rho is not None:
            return trade_offs.RhoTradeOff(rho=self.rho)
        return None if self.curve is None else _certified(self.curve, claim)


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """The rule that fixes thresholds: one at most."""

    rank: Annotated[int | None, option("--rank", "K", "runs: the K-th largest score of OUT is the threshold.")] = None
    band: Annotated[bool, flag("--band", "runs: all thresholds at once.")] = False
    guesses: Annotated[int | None, option("--guesses", "G", "canaries, paired: how many guesses count.")] = None

    def stated(self) -> Any:
        """Return the rule, or None for the default of the sampling.

        Raises: ConfigError: more than one rule.
        """
        rules = load_package("audits.scores")
        stated = [
            *((rules.Rank(rank=self.rank),) if self.rank is not None else ()),
            *((rules.Band(),) if self.band else ()),
            *((rules.Guesses(number=self.guesses),) if self.guesses is not None else ()),
        ]
        if len(stated) > 1:
            raise ConfigError("Expected one of --rank, --band and --guesses at most: each fixes what is counted.")
        return stated[0] if stated else None


@resulting
def scores(
    members: Members,
    others: Others,
    *,
    sampling: Sampling,
    claimed: ClaimOptions,
    trade_off: TradeOffOptions,
    rule: RuleOptions,
    significance: Significance = None,
    seed: Seed = None,
) -> Result:
    """Audit membership-inference scores that were computed elsewhere: bound epsilon from below.

    A larger score means that membership is more likely. runs: one score from each independent run, all about one
    target. canaries: one run; a fair coin put each canary in or left it out. paired: one run; a coin put one canary of
    each pair in, and line i of both files is pair i. --rank and --guesses are valid only if they were fixed before the
    scores were seen. Without --rank and --band a random part of the scores chooses a threshold; the rest is counted.
    """
    import numpy as np

    from dpaudit.cli.common.output import note
    from dpaudit.cli.common.verdicts import verdict_exit
    from dpaudit.configuration.score_file import read_scores
    from dpaudit.model.claim import Claim
    from dpaudit.render.audit import scores_document
    from dpaudit.workflow import drawn_seed

    try:
        claim = Claim(**vars(claimed))
        stated, declared = rule.stated(), trade_off.declared(claim)
        ins, outs = read_scores(members), read_scores(others)
        used_seed = drawn_seed(seed, note) if stated is None and sampling == "runs" else seed or 0
        level = _SIGNIFICANCE if significance is None else significance
        how = {"rng": np.random.default_rng(used_seed), "significance": level}
        audit_scores = load_package("audits").audit_scores
        result = audit_scores(ins, outs, claim, sampling=sampling, rule=stated, declared=declared, **how)
    except ValueError as error:
        raise ConfigError(f"{error}") from None
    return Result(document=partial(scores_document, result), data=result.to_json, code=verdict_exit(result.verdict))


def _certified(curve: Path, claim: Claim) -> Any:
    """Return the trade-off that the curve of a certificate shows.

    Raises: ConfigError: a certificate for other neighbours or without a curve.
    """
    from dpaudit.certification.certificate import Certificate
    from dpaudit.configuration.files import read_text
    from dpaudit.report.curves import delta_curve

    try:
        certificate = Certificate.from_json(read_text(curve))
    except CertificateError as error:
        raise ConfigError(f"{curve}: {error}") from None
    if certificate.claim.neighbours != claim.neighbours:
        raise ConfigError(
            f"{curve}: certifies neighbours {certificate.claim.neighbours!r}; expected --neighbours to be the same."
        )
    proved = delta_curve(certificate)
    if proved.unavailable:
        raise ConfigError(f"{curve}: has no privacy curve ({proved.unavailable})")
    private: Any = load_package("audits.bounds").PrivateTradeOff
    return private(points=tuple((epsilon, bracket.upper) for epsilon, bracket in proved.points))
