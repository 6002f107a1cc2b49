#!/usr/bin/env bash
# Installs the wheel of a folder into a virtual environment, offline. Usage: install_wheel.sh NAME FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(cat VERSION)
"target/venv/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall \
  "$2/spark_zorder-$version-py3-none-any.whl"
