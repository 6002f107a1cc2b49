#!/usr/bin/env bash
# Makes a virtual environment once, and again only when its requirements change.
# Usage: venv.sh PYTHON NAME   (tools/requirements/NAME.txt -> target/venv/NAME)
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 name=$2
folder=target/venv/$name wanted=tools/requirements/$name.txt
if [ -x "$folder/bin/python" ] && cmp -s "$wanted" "$folder/installed.txt"; then exit 0; fi
echo "preparing $folder"
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
# the module, not the script pip, which names the place where the environment was made
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" "$folder/installed.txt"
