#!/usr/bin/env bash
# A newcomer's first hour in five commands. Copy this folder, then: bash run.sh
set -u
pip install --quiet dpaudit pytest || exit 2
dpaudit certify weekly.toml || exit 2
python ages.py || exit 2
pytest -q test_ages.py && exit 2 # the planted bug must stop it
dpaudit report weekly.toml -o report || exit 2
