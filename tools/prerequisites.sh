#!/usr/bin/env bash
# Says everything that is missing for a build, all at once, each with what to do. Usage: prerequisites.sh PYTHON
set -u
python=${1:-python3}
missing=0
say() { printf 'missing: %s\n' "$1" >&2; missing=1; }

if ! command -v java >/dev/null 2>&1; then
  say "Java 17 (no java on PATH): install a JDK 17, or put its bin folder on PATH."
else
  version=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = //p')
  [ "$version" = 17 ] || say "Java 17 (java on PATH is $version): put a JDK 17 first on PATH."
  java --list-modules 2>/dev/null | grep -q '^jdk\.compiler' || say "a JDK 17 (java on PATH has no compiler, it is a JRE)."
fi

if ! command -v "$python" >/dev/null 2>&1; then
  say "Python 3.11 or newer (no $python on PATH): install it, or call make PYTHON=/path/to/python3.11."
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  say "Python 3.11 or newer ($python is $("$python" -V 2>&1)): call make PYTHON=/path/to/python3.11."
elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
  say "Python's venv module ($python cannot make virtual environments): install python3-venv."
fi

if ! command -v sbt >/dev/null 2>&1 && ! command -v mvn >/dev/null 2>&1; then
  say "Maven or sbt (neither mvn nor sbt on PATH): install Maven, the build fetches sbt with it."
fi
exit $missing
