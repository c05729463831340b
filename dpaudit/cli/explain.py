"""`dpaudit explain`: the derivation in words, and the slack factor by factor."""

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Config, Format, Output, OutputFormat


@ending
def explain(config: Config, style: OutputFormat = Format.TEXT, output: Output = None) -> Exit:
    """Show how the claim is derived, node by node, and where it is loose."""
    import json

    from dpaudit.certifier import certify
    from dpaudit.cli.output import emit
    from dpaudit.config import read_config
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
