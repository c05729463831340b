"""The pytest plugin: privacy claims certified and audited as tests, with one false-alarm budget for the suite.

pytest loads this module in every session by the entry point `dpaudit`. The checks, and numpy with them, are imported
when the first test asks for `dp`.
"""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dpaudit.errors import ConfigError, DPAuditError, InternalError
from dpaudit.pytest_plugin.section import section_lines
from dpaudit.pytest_plugin.settings import PROFILES, Settings
from dpaudit.runtime.package_guard import require_packages

if TYPE_CHECKING:
    from dpaudit.pytest_plugin.fixture import PrivacyChecks

_MARK = (
    "dp(epsilon, delta=0, neighbours=..., model='central', unit=...): the privacy claim that the fixture `dp` checks; "
    "runs=N overrides the profile's number of runs"
)
_SETTINGS = pytest.StashKey[Settings]()
_CHECKS = pytest.StashKey["PrivacyChecks"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the ini settings."""
    group = parser.getgroup("dpaudit", "differential privacy")
    group.addoption("--dp-profile", choices=tuple(PROFILES), help="how many runs an audit may take (ini: dp_profile)")
    group.addoption(
        "--dp-evidence",
        metavar="FILE",
        help="carry evidence over to the next run in this SQLite file (ini: dp_evidence)",
    )
    group.addoption("--dp-seed", type=int, metavar="S", help="repeat checks with this seed; carries no evidence")
    parser.addini("dp_profile", f"one of {', '.join(PROFILES)}", default="fast")
    parser.addini("dp_evidence", "SQLite file that carries evidence from run to run, relative to the root", default="")
    parser.addini("dp_significance", "probability that correct code is ever accused, whole suite", default="0.001")


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings and explain the marker."""
    config.addinivalue_line("markers", _MARK)
    profile, evidence = config.getoption("--dp-profile"), config.getoption("--dp-evidence")
    try:
        config.stash[_SETTINGS] = Settings.read(
            profile=profile or config.getini("dp_profile"),
            evidence=evidence or config.getini("dp_evidence"),
            significance=config.getini("dp_significance"),
            seed=config.getoption("--dp-seed"),
            root=config.rootpath,
        )
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.fixture
def dp(request: pytest.FixtureRequest) -> "PrivacyChecks":
    """Check privacy: `dp.check_mechanism`, `check_release`, `check_function`, `check_config` and `certify`."""
    from dpaudit.pytest_plugin.fixture import PrivacyChecks  # pytest loads the plugin in every session

    settings = request.config.stash[_SETTINGS]
    tests = sum("dp" in getattr(item, "fixturenames", ()) for item in request.session.items)
    checks = PrivacyChecks(
        test=request.node.nodeid,
        mark=request.node.get_closest_marker("dp"),
        folder=Path(request.node.path).parent,
        settings=settings,
        tests=tests,
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
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a test with an inconclusive check as skipped: it neither passed nor failed."""
    report = yield
    checks = item.stash.get(_CHECKS, None)
    if report.when == "call" and report.passed and checks is not None and checks.undecided:
        path, line, _ = item.location
        report.outcome = "skipped"
        report.longrepr = (str(path), (line or 0) + 1, f"inconclusive: {'; '.join(checks.undecided)}")
    return report


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
        terminalreporter.line(text, **dict.fromkeys(style, True))


def _name_shadowed_package(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line that a folder of the project hides one of our packages, if one does."""
    try:
        require_packages()
    except ConfigError as error:
        terminalreporter.section("differential privacy")
        terminalreporter.line(str(error), red=True)
