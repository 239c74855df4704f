#!/usr/bin/env bash
# Makes .venv-bench: Mesa and Concordia, to be measured beside the Factory. Nothing else uses it.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv-bench
needs=(requirements/bench.txt requirements/concordia.txt bench/rivals.sh)

fresh=$venv/.made
for need in "${needs[@]}"; do
  if [ ! "$fresh" -nt "$need" ]; then fresh=; break; fi
done
if [ -n "$fresh" ]; then exit 0; fi

"${PYTHON:-python3.11}" -m venv --clear "$venv"
pip=("$venv/bin/python" -m pip install -q --disable-pip-version-check --require-hashes)
"${pip[@]}" -r requirements/bench.txt
# Concordia 2.4 asks for Python 3.12, of which it uses one thing that 3.11 lacks: typing.override.
"${pip[@]}" --no-deps --ignore-requires-python -r requirements/concordia.txt
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo 'import typing, typing_extensions; typing.override = typing_extensions.override' \
  > "$site/concordia-on-3.11.pth"
"$venv/bin/python" -c 'import concordia.prefabs.simulation.generic, mesa'
touch "$venv/.made"
