"""`dpaudit explain`: the derivation in words, and the slack factor by factor; or one rule of the rule book."""

from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat


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
) -> Exit:
    """Show how the claim is derived, node by node, and where it is loose; or what a rule says.

    A rule is a theorem of the rule book (explain billboard), or an issue of `dpaudit check` (explain DPA212).
    """
    import json

    from dpaudit.cli.output import emit
    from dpaudit.gate.catalogue import RULES as ISSUES
    from dpaudit.rules import RULES

    if (identifier := str(config).upper()) in ISSUES and not config.is_file():
        from dataclasses import asdict

        from dpaudit.render.gate_rule import gate_rule_markdown, gate_rule_text

        emit(
            lambda: gate_rule_text(identifier),
            lambda: gate_rule_markdown(identifier),
            lambda: json.dumps(asdict(ISSUES[identifier]), indent=2, sort_keys=True),
            style,
            output,
        )
        return Exit.PASS
    name = str(config).replace("-", "_")
    if name in RULES and not config.is_file():
        from dpaudit.render.rule import rule_data, rule_markdown, rule_text

        emit(
            lambda: rule_text(name),
            lambda: rule_markdown(name),
            lambda: json.dumps(rule_data(name), indent=2, sort_keys=True),
            style,
            output,
        )
        return Exit.PASS
    if str(config).upper() in ISSUES and not config.is_file():
        from dpaudit.render.issue import issue_data, issue_markdown, issue_text

        issue = ISSUES[str(config).upper()]
        emit(
            lambda: issue_text(issue),
            lambda: issue_markdown(issue),
            lambda: json.dumps(issue_data(issue), indent=2, sort_keys=True),
            style,
            output,
        )
        return Exit.PASS
    from dpaudit.certification.verdict import certify
    from dpaudit.configuration.config import read_config
    from dpaudit.render.derivation import derivation_data, derivation_markdown, derivation_text

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
    return Exit.PASS
