"""`dpaudit doctor`: is this installation fit to be believed?"""

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat


@ending
def doctor(style: OutputFormat = Format.TEXT, output: Output = None) -> Exit:
    """Check the installation: packages, versions, engines, noise, auditor, plug-ins.

    The engines must agree with a closed form, the auditor must catch half the noise and spare the right one. A failed
    check ends with exit code 2.
    """
    import json
    from dataclasses import asdict

    from dpaudit.cli.output import emit
    from dpaudit.gate.self_check import examine
    from dpaudit.render.selftest import symptoms_markdown, symptoms_text

    symptoms = examine()
    emit(
        lambda: symptoms_text(symptoms),
        lambda: symptoms_markdown(symptoms),
        lambda: json.dumps([asdict(held) for held in symptoms], indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.USAGE if any(held.status == "failed" for held in symptoms) else Exit.PASS
