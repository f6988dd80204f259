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
# Apache Spark, and a Java for it, where they came along (`make bundle ENGINE=spark`).
case $(echo "$here"/wheels/pyspark-[0-9]*) in *.whl) what='rmq-kit[spark]' ;; *) what=rmq-kit ;; esac
"$to/bin/python" -m pip install -q --no-index --find-links "$here/wheels" "$what"
echo "Compiling"
"$to/bin/python" -m kit.spark.kernels
echo "Ready. Try: $to/bin/rmq-kit report $here/sample_data/half-topic-blowup.tar.zst --out report"
