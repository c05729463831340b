"""The pytest plugin: privacy claims certified and audited as tests, each at its own significance.

What fails at the significance of its check is a finding; what also stands for the whole suite is reported apart.

pytest loads this module in every session by the entry point `dpaudit`. The checks, and numpy with them, are imported
when the first test asks for `dp`.
"""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dpaudit.errors import ConfigError, DPAuditError, InternalError
from dpaudit.pytest_plugin.section import section_lines
from dpaudit.pytest_plugin.settings import SETTINGS, Settings, project_settings
from dpaudit.runtime.package_guard import require_packages
from dpaudit.wording.escaping import clean, one_line

if TYPE_CHECKING:
    from dpaudit.pytest_plugin.fixture import PrivacyChecks

_MARK = (
    "dp(epsilon, delta=0, neighbours=..., model='central', unit=...): the privacy claim that the fixture `dp` checks, "
    "or rho=, mu=, renyi= or profile= in place of epsilon; runs=N overrides the profile's number of runs"
)
_SETTINGS = pytest.StashKey[Settings]()
_CHECKS = pytest.StashKey["PrivacyChecks"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the ini settings."""
    group = parser.getgroup("dpaudit", "differential privacy")
    for name, setting in SETTINGS.items():
        said = f"{setting.help} (ini: dp_{name})"
        if name == "strict":
            group.addoption("--dp-strict", action="store_const", const="true", help=said)
        elif setting.option:
            group.addoption(f"--dp-{name}", choices=setting.values or None, help=said)
        parser.addini(f"dp_{name}", f"{setting.help} {setting.values or ''}".strip(), default=setting.default)
    group.addoption("--dp-seed", type=int, metavar="S", help="repeat checks with this seed; carries no evidence")


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings and explain the marker."""
    config.addinivalue_line("markers", _MARK)
    try:
        project = project_settings(config.rootpath)
        stated = {name: _stated(config, project, name) for name in SETTINGS}
        config.stash[_SETTINGS] = Settings.read(stated, seed=config.getoption("--dp-seed"), root=config.rootpath)
    except (ValueError, DPAuditError) as error:
        raise pytest.UsageError(one_line(str(error))) from None


def _stated(config: pytest.Config, project: dict[str, str], name: str) -> str:
    """Return a setting: the option, else pytest's own file if it differs from the default, else [tool.dpaudit]."""
    option = config.getoption(f"--dp-{name}") if SETTINGS[name].option else None
    value = str(config.getini(f"dp_{name}"))
    return str(option or (project.get(name, value) if value == SETTINGS[name].default else value))


@pytest.fixture
def dp(request: pytest.FixtureRequest) -> "PrivacyChecks":
    """Check privacy: `dp.check_mechanism`, `check_release`, `check_function`, `check_config` and `certify`."""
    from dpaudit.pytest_plugin.fixture import PrivacyChecks  # pytest loads the plugin in every session

    settings = request.config.stash[_SETTINGS]
    file, line, _ = request.node.location
    checks = PrivacyChecks(
        test=request.node.nodeid,
        mark=request.node.get_closest_marker("dp"),
        folder=Path(request.node.path).parent,
        settings=settings,
        place=f"{file}:{(line or 0) + 1}",
        tell=lambda name, value: request.node.user_properties.append((name, value)),
    )
    request.node.stash[_CHECKS] = checks
    return checks


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Report wrong use in one sentence without a traceback; an internal error keeps its traceback."""
    try:
        return (yield)
    except DPAuditError as error:
        if "dp" not in pyfuncitem.fixturenames or isinstance(error, InternalError):
            raise
        file, line, _ = pyfuncitem.location
        raise pytest.fail.Exception(one_line(f"{file}:{(line or 0) + 1}: {error}"), pytrace=False) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a test with a finding as failed, one with an inconclusive check as skipped; strictly, as failed.

    A finding fails the test even if the test catches its exception; one of a fixture fails the phase in which it was
    made. A test marked `xfail` keeps its outcome: its failure is stated in the source.
    """
    report = yield
    checks = item.stash.get(_CHECKS, None)
    if checks is not None and checks.failures:
        if not report.failed and not hasattr(report, "wasxfail"):
            report.outcome, report.longrepr = "failed", "\n".join(checks.failures)
        checks.failures.clear()
        return report
    if report.when == "call" and report.passed and (undecided := _undecided(item, checks)):
        path, line, _ = item.location
        said = f"inconclusive: {'; '.join(undecided)}"
        if item.config.stash[_SETTINGS].strict:
            report.outcome, report.longrepr = "failed", said
        else:
            report.outcome, report.longrepr = "skipped", (str(path), (line or 0) + 1, said)
    return report


def _undecided(item: pytest.Item, checks: "PrivacyChecks | None") -> list[str]:
    """Return what a passed test left undecided: its inconclusive checks, or that a test of a claim checks nothing."""
    if checks is None:
        marked = any(mark.name == "dp" for mark in item.own_markers)
        return ["the test has a claim and checks nothing; take the fixture dp and call dp.check_..."] * marked
    return ["the test called no check of dp"] if checks.made_no_check else checks.undecided


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the checks in a section of their own, and say where errors may come from a package of another's."""
    if terminalreporter.stats.get("error"):
        _name_shadowed_package(terminalreporter)
    properties = [
        (report.nodeid, report.user_properties)
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
    ]
    lines = section_lines(properties, config.stash[_SETTINGS])
    if not lines:
        return
    terminalreporter.section("differential privacy")
    for text, style in lines:
        terminalreporter.line(clean(text), **dict.fromkeys(style, True))


def _name_shadowed_package(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line that a folder of the project hides one of our packages, if one does."""
    try:
        require_packages()
    except ConfigError as error:
        terminalreporter.section("differential privacy")
        terminalreporter.line(one_line(str(error)), red=True)
