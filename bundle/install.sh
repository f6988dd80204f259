#!/bin/sh
# Install the kit from this folder, without a network. Usage: sh install.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here/venv}
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0])'
"$python" -m venv "$to"
"$to/bin/python" -m pip install -q --no-index --find-links "$here/wheels" rmq-kit
"$to/bin/python" -m kit.spark.warm "$here"/sample_data/transaction-consistency.tar.zst
echo "Ready. Try: $to/bin/rmq-kit report $here/sample_data/half-topic-blowup.tar.zst --out report"
