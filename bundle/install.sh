#!/bin/sh
# Install the kit from this folder, without a network. Usage: sh install.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here/venv}
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  { echo "Python 3.11 or newer is needed; $python is $("$python" --version 2>&1 | head -n 1)" >&2; exit 2; }
echo "Installing into $to"
"$python" -m venv "$to"
"$to/bin/python" -m pip install -q --no-index --find-links "$here/wheels" rmq-kit
# The Java runtime that came along is installed only where there is no Java 17 or newer.
java=$("$to/bin/python" -W ignore -m kit.spark.jvm) ||
  { "$to/bin/python" -m pip install -q --no-index --find-links "$here/wheels" 'rmq-kit[java]' && java=$("$to/bin/python" -W ignore -m kit.spark.jvm); } ||
  { echo "No Java 17 or newer: unpack one for this host and set JAVA_HOME to it" >&2; exit 2; }
echo "Java: $java"
echo "Compiling"
"$to/bin/python" -m kit.cli.warm "$here"/sample_data/transaction-consistency.tar.zst
echo "Ready. Try: $to/bin/rmq-kit report $here/sample_data/half-topic-blowup.tar.zst --out report"
