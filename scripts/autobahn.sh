#!/bin/sh
# Holds the codec of our WebSockets, with its limits, against the Autobahn test suite 0.8.2, which needs Python 2.7:
#
#   python2.7 -m pip install --target autobahn autobahntestsuite==0.8.2; touch autobahn/zope/__init__.py
#   PYTHON2=python2.7 AUTOBAHN=autobahn scripts/autobahn.sh
#
# Left out: compression (12, 13), which is not spoken here, and performance (9), whose messages are over our limit.
# 1.1.6 to 1.1.8, 1.2.6 to 1.2.8, 10.1.1 (over 4 KiB) and 2.10, 2.11 (over five pings a second) meet our limits, which
# are told from failures here. Ends with 1 if anything else failed.
#
# Last run: 247 cases, 233 as they should be, 3 for information, 2 not strict (6.4.3, 6.4.4), 9 at our own limits.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON2:-python2.7}
export PYTHONPATH="${AUTOBAHN:-autobahn}"
if ! "$python" -c 'import autobahntestsuite' 2>/dev/null; then
    echo "SKIPPED: no Python 2.7 with autobahntestsuite 0.8.2; the first lines of $0 say how to get it" >&2
    exit 0
fi
reports=$(mktemp -d)
cargo test --package fourfold --lib --no-run
cargo test --package fourfold --lib echoes_for_autobahn -- --ignored >/dev/null 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$reports"' EXIT
cat >"$reports/spec.json" <<SPEC
{"outdir": "$reports/out", "servers": [{"agent": "fourfold", "url": "ws://127.0.0.1:9001"}],
 "cases": ["*"], "exclude-cases": ["9.*", "12.*", "13.*"], "exclude-agent-cases": {}}
SPEC
until "$python" -c 'import socket; socket.create_connection(("127.0.0.1", 9001))' 2>/dev/null; do
    kill -0 "$server"
    sleep 1
done
"$python" -c 'from autobahntestsuite.wstest import run; run()' -m fuzzingclient -s "$reports/spec.json" >/dev/null
"$python" - "$reports/out/index.json" <<'SUMMARY'
import json, sys
OWN_LIMITS = set(['1.1.6', '1.1.7', '1.1.8', '1.2.6', '1.2.7', '1.2.8', '2.10', '2.11', '10.1.1'])
cases = json.load(open(sys.argv[1]))['fourfold']
counts, failed = {}, []
for name, case in sorted(cases.items()):
    for word in (case['behavior'], 'close ' + case['behaviorClose']):
        counts[word] = counts.get(word, 0) + 1
    bad = 'FAILED' in (case['behavior'], case['behaviorClose']) or 'UNCLEAN' in (case['behavior'], case['behaviorClose'])
    if bad and name not in OWN_LIMITS:
        failed.append('%s: %s, close %s' % (name, case['behavior'], case['behaviorClose']))
print('%d cases: %s' % (len(cases), ', '.join('%s %d' % pair for pair in sorted(counts.items()))))
print('\n'.join(failed) if failed else 'nothing failed but by our own limits')
sys.exit(1 if failed else 0)
SUMMARY
