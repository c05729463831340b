"""`dpaudit certify`: the certificate of a claim."""

from typing import Annotated

from dpaudit.cli.common.options import Config, ConfiguredSeed, flag
from dpaudit.cli.common.results import Result, resulting


@resulting
def certify(
    config: Config,
    seed: ConfiguredSeed = None,
    stated: Annotated[  # noqa: FBT002 - typer's flag
        bool, flag("--as-stated", "State what is proved, where plug-ins' mechanisms prevent `verify`.")
    ] = False,
) -> Result:
    """Prove or refute a claim on paper.

    The declaration, of an algorithm or written in the file, is folded and accounted from both sides. An
    algorithm with a problem also runs a few times, and its trace is compared with its declaration. Text and Markdown
    end with what another accounting would have said, where an algorithm states it; the certificate does not hold it.
    """
    from dpaudit.certification.as_stated import as_stated
    from dpaudit.cli.common.output import doing
    from dpaudit.cli.common.verdicts import verdict_exit
    from dpaudit.configuration.config import read_config
    from dpaudit.render.certificate import certificate_document
    from dpaudit.workflow import certificate_of, comparisons_of

    configuration = read_config(config)
    with doing("Proving the claim"):
        certificate = certificate_of(configuration, seed)
    beside = comparisons_of(configuration)
    certificate = as_stated(certificate) if stated else certificate
    return Result(
        document=lambda: certificate_document(certificate, beside),
        data=certificate.to_json,
        code=verdict_exit(certificate.verdict),
    )
