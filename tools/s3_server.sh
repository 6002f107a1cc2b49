#!/usr/bin/env bash
# Builds the S3 server of the tests once, at the version that tools/requirements/s3-server.txt pins, and says
# where it is. Needs Go and the Go module proxy.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=$(cat tools/requirements/s3-server.txt)
server=$PWD/target/tools/versitygw-${wanted##*@}
if [ ! -x "$server" ]; then
  command -v go >/dev/null 2>&1 || { echo "missing: Go (no go on PATH): the S3 server of the tests is built with it." >&2; exit 1; }
  echo "building $wanted, two minutes" >&2
  mkdir -p target/tools
  build=$(mktemp -d target/tools/go.XXXXXX)
  trap 'rm -rf "$build"' EXIT
  # outside of any module, and with a toolchain as new as the server asks for
  GOBIN=$PWD/$build GOFLAGS=-modcacherw go install "$wanted"
  mv "$build/versitygw" "$server"
fi
echo "$server"
