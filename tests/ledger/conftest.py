"""Stores to write to: a SQLite file, and a private PostgreSQL server where one is installed."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpaudit import Certificate, Claim, Release, certify
from mechanisms import Gaussian, Laplace


def _account_of_the_server() -> str | None:
    """Return the name of the user to start the server as: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known), None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of a fresh server that listens on a socket in a private folder, and on nothing else."""
    if any(importlib.util.find_spec(name) is None for name in ("sqlalchemy", "psycopg")):
        pytest.skip("the extra 'postgres' (sqlalchemy, psycopg) is not installed")
    if not (shutil.which("initdb") and shutil.which("pg_ctl")):
        pytest.skip("no PostgreSQL server is installed (initdb and pg_ctl are not on the PATH)")
    user = _account_of_the_server()
    if os.geteuid() == 0 and user is None:
        pytest.skip("a PostgreSQL server does not run as root, and there is no other user")
    folder = Path(tempfile.mkdtemp(prefix="dpaudit-pg-"))
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"

    def run(*command: str) -> None:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, user=user, cwd=folder)
        assert ended.returncode == 0, ended.stdout + ended.stderr

    run("initdb", "-D", str(data), "-U", "tester", "-A", "trust", "-N", "--no-locale", "-E", "UTF8")
    options = f"-k {folder} -c listen_addresses='' -c max_connections=60"
    run("pg_ctl", "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgresql://tester@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fresh_postgres(postgres: str) -> str:
    """Return the address of a database of its own."""
    import uuid

    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return postgres.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a new ledger can be, in each kind of store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return request.getfixturevalue("fresh_postgres")


@pytest.fixture(scope="session")
def one_thirty_second() -> Certificate:
    """Return a certificate of pure epsilon 1/32."""
    claim = Claim(epsilon=1 / 32, neighbours="replace_one", unit="one person")
    noise = Laplace(scale=32.0, l1_sensitivity=1.0, neighbours="replace_one")
    return certify(Release(label="count", mechanism=noise), claim)


@pytest.fixture(scope="session")
def gaussian() -> Certificate:
    """Return a certificate of Gaussian noise with rho exactly 1/2048, claimed with a delta of its own."""
    claim = Claim(epsilon=0.25, delta=1e-9, neighbours="replace_one", unit="one person")
    noise = Gaussian(stddev=32.0, l2_sensitivity=1.0, neighbours="replace_one")
    return certify(Release(label="sum", mechanism=noise), claim)
