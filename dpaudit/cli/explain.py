"""`dpaudit explain`: the derivation of a claim in words, with its slack; the text of a rule; or the game of a node."""

import math
import re
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from dpaudit.cli.common.options import flag, option
from dpaudit.cli.common.results import Result, resulting
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import load_package, suggestion

_ALIKE = 0.8
"""How near a word is to the name of a mechanism that it stands for; 1 is the same word."""


_SUBJECT = "A TOML or JSON file: an algorithm, or a claim with its declaration. Or the name of a rule."


@resulting
def explain(
    config: Annotated[Path, typer.Argument(metavar="CONFIG|RULE", help=_SUBJECT)],
    instance: Annotated[  # noqa: FBT002  # an option of the command line
        bool,
        flag("--instance", "Play a tiny instance of a node (explain poisson --instance): what an adversary reaches."),
    ] = False,
    epsilon: Annotated[float, option("--epsilon", "E", "The epsilon of the instance, in nats.", min=0, max=20)] = 0.5,
    constants: Annotated[  # noqa: FBT002 - typer's flag
        bool, flag("--constants", "Show a paper's constants, and from which horizon each speaks.")
    ] = False,
) -> Result:
    """Show how the claim is derived, node by node, and where it is loose; or what a rule or a node says.

    A rule is a theorem of the rule book (explain billboard), or an issue of `dpaudit check` (explain DPA212). Of
    what is known by name and not covered (explain pate) it says why, and what to declare. A node with `--instance`
    is played on at most three records, which shows what its declaration says. Horizons of `--constants` are solved
    from formulas and printed as powers of ten; they may lie far beyond what runs.
    """
    from dpaudit.gate.catalogue import RULES as ISSUES
    from dpaudit.rules import RULES

    if constants:
        return _constants(config)
    if instance:
        return _instance(str(config).replace("-", "_"), epsilon)
    issue, theorem = str(config).upper(), str(config).replace("-", "_")
    if issue in ISSUES and not config.is_file():
        return _issue(issue)
    if theorem in RULES and not config.is_file():
        return _theorem(theorem)
    if refused := _refusal(config):
        return refused
    _require_file(config)
    return _derivation(config)


def _instance(name: str, epsilon: float) -> Result:
    """Return the game of a tiny instance of a node.

    Raises: ConfigError: a name that is no node's, or an epsilon that is no number.
    """
    from dpaudit.render.instance import INSTANCES, instance_data, instance_document

    if name not in INSTANCES:
        raise ConfigError(f"{name}: no node with an instance; there are {', '.join(INSTANCES)}.")
    if math.isnan(epsilon):
        raise ConfigError("Expected --epsilon to be a number of 0 .. 20.")
    return Result(document=lambda: instance_document(name, epsilon), data=lambda: instance_data(name, epsilon))


def _constants(config: Path) -> Result:
    """Return the constants that the paper of a configured algorithm states.

    Raises: ConfigError: no algorithm, or one whose paper states none.
    """
    from dpaudit.configuration.config import read_config
    from dpaudit.configuration.configuration import Configured
    from dpaudit.render.constants import constants_data, constants_document

    configuration = read_config(config)
    subject = configuration.subject
    stated = getattr(subject.algorithm, "constants", None) if isinstance(subject, Configured) else None
    if not isinstance(subject, Configured) or stated is None:
        raise configuration.error("constants are known of the papers' algorithms; this is none of them.", "algorithm")
    constants, bound = stated(subject.problem), _lower_bound_of(subject)
    return Result(
        document=lambda: constants_document(subject.name, constants, bound),
        data=lambda: constants_data(constants, bound),
    )


def _lower_bound_of(subject: Any) -> Any:
    """Return the certified epsilon, the horizon and the lower bound on regret there; None where it is not known."""
    from dpaudit.certification.verdict import certify

    stated = getattr(subject.problem, "regret_lower_bound", None)
    epsilon = certify(subject.declaration, subject.claim).tight.epsilon.upper
    if stated is None or not math.isfinite(epsilon):
        return None
    horizon, claim = int(getattr(subject.algorithm, "number_of_units", 0)), subject.claim
    bound = stated(horizon=horizon, epsilon=epsilon, delta=claim.delta, model=claim.model)
    return None if bound is None else (epsilon, horizon, bound)


def _require_file(config: Path) -> None:
    """Refuse a word that is no file and no rule; a path is left to the reading of files.

    Raises: ConfigError: the word, with the nearest rule.
    """
    from dpaudit.gate.catalogue import RULES as ISSUES
    from dpaudit.model.codec import REFUSED
    from dpaudit.rules import RULES

    word = str(config)
    if not config.exists() and config.suffix == "" and len(config.parts) == 1:
        long = tuple(name for name in REFUSED if len(name) > 6)  # a short word is near to too many others
        near = suggestion(word if word.islower() else word.upper(), (*RULES, *long, *ISSUES))
        hint = near if near.startswith("; did you mean") else "; `dpaudit explain billboard` and DPA212 are examples."
        if mechanism := get_close_matches(word, load_package("mechanisms").NAMES, 1, _ALIKE):
            hint = f"; {mechanism[0]!r} is a mechanism, which `dpaudit list mechanisms` describes."
        raise ConfigError(f"{word}: no file and no rule of that name{hint}")


def _refusal(config: Path) -> Result | None:
    """Return why something that is known by name is not covered, and what to declare in its place; None for others."""
    from dpaudit.documents.document import Paragraph, document
    from dpaudit.model.codec import REFUSED

    name = re.sub(r"[-\s]", "_", str(config).lower())
    if name not in REFUSED or config.exists():
        return None
    why = f"{name.replace('_', ' ')}: not covered by any loss or node here. Why, and what to declare: {REFUSED[name]}"
    return Result(
        document=lambda: document(Paragraph(why), title=name),
        data=lambda: {"name": name, "covered": False, "reason": REFUSED[name]},
    )


def _issue(identifier: str) -> Result:
    """Return the text of one rule of the gate."""
    from dpaudit.gate.catalogue import gate_rule_document, rule_of

    return Result(document=lambda: gate_rule_document(identifier), data=lambda: asdict(rule_of(identifier)))


def _theorem(name: str) -> Result:
    """Return the text of one theorem of the rule book."""
    from dpaudit.render.rule import rule_data, rule_document

    return Result(document=lambda: rule_document(name), data=lambda: rule_data(name))


def _derivation(config: Path) -> Result:
    """Return the derivation of the claim of a configuration."""
    from dpaudit.certification.verdict import certify
    from dpaudit.cli.common.output import doing
    from dpaudit.configuration.config import read_config
    from dpaudit.render.derivation import derivation_data, derivation_document

    configuration = read_config(config)
    with doing("Deriving the claim"), configuration.locating():
        certificate = certify(configuration.subject.declaration, configuration.subject.claim)
    return Result(document=lambda: derivation_document(certificate), data=lambda: derivation_data(certificate))
