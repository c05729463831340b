"""`dpaudit explain`: the derivation of a claim in words, with its slack; the text of a rule; or the game of a node."""

import json
import math
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dpaudit.certification.verdict import certify
from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Format, Output, OutputFormat
from dpaudit.cli.common.output import emit
from dpaudit.configuration.config import read_config
from dpaudit.errors import ConfigError
from dpaudit.gate.catalogue import RULES as ISSUES
from dpaudit.gate.explanation import gate_rule_markdown, gate_rule_text
from dpaudit.model.codec import REFUSED
from dpaudit.render.derivation import derivation_data, derivation_markdown, derivation_text
from dpaudit.render.instance import INSTANCES, instance_data, instance_markdown, instance_text
from dpaudit.render.layout import inset
from dpaudit.render.rule import rule_data, rule_markdown, rule_text
from dpaudit.rules import RULES
from dpaudit.runtime.plugins import suggestion

_LONG = tuple(name for name in REFUSED if len(name) > 6)  # a short word is near to too many others


@ending
def explain(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG|RULE",
            help="A TOML or JSON file: an algorithm, or a claim with its declaration. Or the name of a rule.",
        ),
    ],
    style: OutputFormat = Format.TEXT,
    output: Output = None,
    instance: Annotated[  # noqa: FBT002  # an option of the command line
        bool,
        typer.Option(
            "--instance", help="Play a tiny instance of a node (explain poisson --instance): what an adversary reaches."
        ),
    ] = False,
    epsilon: Annotated[
        float, typer.Option("--epsilon", min=0, max=20, metavar="E", help="The epsilon of the instance, in nats.")
    ] = 0.5,
) -> Exit:
    """Show how the claim is derived, node by node, and where it is loose; or what a rule or a node says.

    A rule is a theorem of the rule book (explain billboard), or an issue of `dpaudit check` (explain DPA212). Of
    what is known by name and not covered (explain pate) it says why, and what to declare. A node with `--instance`
    is played on at most three records, which shows what its declaration says.
    """
    if instance:
        _explain_instance(str(config).replace("-", "_"), epsilon, style, output)
        return Exit.PASS
    issue, theorem = str(config).upper(), str(config).replace("-", "_")
    if issue in ISSUES and not config.is_file():
        _explain_issue(issue, style, output)
    elif theorem in RULES and not config.is_file():
        _explain_theorem(theorem, style, output)
    elif refused := _refused_word(config):
        _explain_refusal(refused, style, output)
    else:
        _require_file(config)
        _explain_derivation(config, style, output)
    return Exit.PASS


def _explain_instance(name: str, epsilon: float, style: Format, output: Path | None) -> None:
    """Write the game of a tiny instance of a node.

    Raises: ConfigError: a name that is no node's, or an epsilon that is no number.
    """
    if name not in INSTANCES:
        raise ConfigError(f"{name}: no node with an instance; there are {', '.join(INSTANCES)}.")
    if math.isnan(epsilon):
        raise ConfigError("Expected --epsilon to be a number of 0 .. 20.")
    emit(
        lambda: instance_text(name, epsilon),
        lambda: instance_markdown(name, epsilon),
        lambda: json.dumps(instance_data(name, epsilon), indent=2, sort_keys=True),
        style,
        output,
    )


def _require_file(config: Path) -> None:
    """Refuse a word that is no file and no rule; a path is left to the reading of files.

    Raises: ConfigError: the word, with the nearest rule.
    """
    word = str(config)
    if not config.exists() and config.suffix == "" and len(config.parts) == 1:
        near = suggestion(word if word.islower() else word.upper(), (*RULES, *_LONG, *ISSUES))
        hint = near if near.startswith("; did you mean") else "; `dpaudit explain billboard` and DPA212 are examples."
        raise ConfigError(f"{word}: no file and no rule of that name{hint}")


def _refused_word(config: Path) -> str:
    """Return a word by which something is known that nothing here covers, as it is written there; empty otherwise."""
    word = re.sub(r"[-\s]", "_", str(config).lower())
    return word if word in REFUSED and not config.exists() else ""


def _explain_refusal(name: str, style: Format, output: Path | None) -> None:
    """Write why something known by name is not covered, and what to declare in its place."""
    why = f"{name.replace('_', ' ')}: not covered by any loss or node here. Why, and what to declare: {REFUSED[name]}"
    emit(
        lambda: inset(why),
        lambda: f"## `{name}`\n\n{why}\n",
        lambda: json.dumps({"name": name, "covered": False, "reason": REFUSED[name]}, indent=2, sort_keys=True),
        style,
        output,
    )


def _explain_issue(identifier: str, style: Format, output: Path | None) -> None:
    """Write the text of one rule of the gate."""
    emit(
        lambda: gate_rule_text(identifier),
        lambda: gate_rule_markdown(identifier),
        lambda: json.dumps(asdict(ISSUES[identifier]), indent=2, sort_keys=True),
        style,
        output,
    )


def _explain_theorem(name: str, style: Format, output: Path | None) -> None:
    """Write the text of one theorem of the rule book."""
    emit(
        lambda: rule_text(name),
        lambda: rule_markdown(name),
        lambda: json.dumps(rule_data(name), indent=2, sort_keys=True),
        style,
        output,
    )


def _explain_derivation(config: Path, style: Format, output: Path | None) -> None:
    """Write the derivation of the claim of a configuration."""
    configuration = read_config(config)
    with configuration.locating():
        certificate = certify(configuration.subject.declaration, configuration.subject.claim)
    emit(
        lambda: derivation_text(certificate),
        lambda: derivation_markdown(certificate),
        lambda: json.dumps(derivation_data(certificate), indent=2, sort_keys=True),
        style,
        output,
    )
