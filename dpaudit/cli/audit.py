"""`dpaudit audit`: attack the code and bound epsilon from below."""

from dpaudit.cli.exits import Exit, ending, worst
from dpaudit.cli.options import Config, Format, Jobs, Output, OutputFormat, Runs, Seed, Significance


@ending
def audit(
    config: Config,
    runs: Runs = None,
    significance: Significance = None,
    jobs: Jobs = None,
    seed: Seed = None,
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Attack the code: run it on neighbouring data and bound epsilon from below.

    Every case of the configured view is audited against the claim and against the certificate. JSON is a
    list with one object a case.
    """
    import json

    from rich.console import Group

    from dpaudit.cli.output import emit
    from dpaudit.cli.steps import audit_exit, audits_of, cases_of, certificate_of, drawn_seed, settings_of
    from dpaudit.config import read_config
    from dpaudit.render.markdown import audit_markdown
    from dpaudit.render.text import audit_text

    configuration = read_config(config)
    settings = settings_of(configuration, runs=runs, significance=significance, jobs=jobs, seed=seed)
    cases = cases_of(configuration, settings.view)
    drawn = drawn_seed(settings.seed)
    results = audits_of(cases, certificate_of(configuration, drawn), settings, drawn)
    emit(
        lambda: Group(*map(audit_text, results)),
        lambda: "\n".join(map(audit_markdown, results)),
        lambda: json.dumps([result.to_dict() for result in results], indent=2, sort_keys=True),
        style,
        output,
    )
    return worst(*map(audit_exit, results))
