#!/usr/bin/env bash
# Runs sbt: the one on PATH, or sbt-launch fetched with Maven into target/tools.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^sbt\.version=//p' project/build.properties)
launcher=target/tools/sbt-launch-$version.jar
# C1 alone: the compilers of five Scala versions, a build each, never run long enough to pay for C2; their code
# does not fit into the 48 MB that C1 alone reserves
memory=(-Xmx2g -Xss4m -XX:+UseParallelGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m)
# no server and no colours: runs of several checkouts on one machine must not meet, logs must be readable
quiet=(-Dsbt.server.autostart=false -Dsbt.supershell=false -Dsbt.color="${SBT_COLOR:-false}")

if command -v sbt >/dev/null 2>&1; then
  exec sbt "${memory[@]/#/-J}" "${quiet[@]}" "$@" </dev/null
fi
if [ ! -f "$launcher" ]; then
  echo "fetching sbt $version with Maven" >&2
  mkdir -p target/tools
  mvn -q -B dependency:copy -Dartifact="org.scala-sbt:sbt-launch:$version" \
    -DoutputDirectory="$PWD/target/tools" >&2
fi
exec java "${memory[@]}" "${quiet[@]}" -jar "$launcher" "$@" </dev/null
