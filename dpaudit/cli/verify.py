"""`dpaudit verify`: check a certificate again."""

from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat


@ending
def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate in JSON.")],
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Check a certificate again from its JSON alone.

    Passes if the digest matches, every number is computed again, and the verdict is certified.
    """
    import json

    from dpaudit.cli.output import emit
    from dpaudit.cli.steps import certificate_exit
    from dpaudit.codec import encode
    from dpaudit.config import read_text
    from dpaudit.errors import CertificateError
    from dpaudit.recheck import recheck
    from dpaudit.render.recheck import recheck_markdown, recheck_text

    try:
        held = recheck(read_text(certificate))
    except CertificateError as error:
        raise CertificateError(f"{certificate}: {error}") from None
    data = {"confirmed": held.confirmed, "verdict": held.certificate.verdict}
    data |= {"differences": encode(held.differences), "notes": encode(held.notes)}
    emit(
        lambda: recheck_text(held),
        lambda: recheck_markdown(held),
        lambda: json.dumps(data, indent=2, sort_keys=True),
        style,
        output,
    )
    return certificate_exit(held.certificate) if held.confirmed else Exit.FINDING
