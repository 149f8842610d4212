#!/bin/sh
# The README's bot, all kits and the Python kit's bridge against a real daemon: each must pass `fourfold check-bot`, in an
# arena that requires it before rated games. Run by ./test.sh, which names what is needed:
#
#   FOURFOLD_BIN=…/fourfold KIT_PYTHON=…/python RUST_BOT=…/random_bot bots/kits/check.sh
set -eu
cd "$(dirname "$0")"

folder=$(mktemp -d)
mkfifo "$folder/listening"
FOURFOLD_LIMITS_RATED_REQUIRES_SELFTEST=true FOURFOLD_METRICS_ENABLED=false \
    "$FOURFOLD_BIN" serve --listen 127.0.0.1:0 --data "$folder/data" >"$folder/listening" 2>"$folder/log" &
daemon=$!
trap 'kill $daemon 2>/dev/null; wait $daemon || true; rm -rf "$folder"' EXIT
read -r line <"$folder/listening"
url=ws://${line#listening on http://}

echo 'a long password' | "$FOURFOLD_BIN" account create author --password-stdin --data "$folder/data" >/dev/null

# check NAME COMMAND…: makes a bot and has it tested.
check() {
    name=$1
    shift
    echo "--- $name"
    FOURFOLD_TOKEN=$("$FOURFOLD_BIN" bot create "$name" --owner author --data "$folder/data" | sed -n 's/^token: //p')
    export FOURFOLD_TOKEN
    "$FOURFOLD_BIN" check-bot --url "$url" --connects -- "$@"
}

# The bot of the README is what stands there: it must connect by the address alone, and survive the test's cut.
sed -n '/^```python$/,/^```$/{/^```/!p;}' ../../README.md >"$folder/readme.py"

check readme "$KIT_PYTHON" "$folder/readme.py"
check kit-python "$KIT_PYTHON" python/examples/random_bot.py
check bridge-python "$KIT_PYTHON" -m fourfold_bot.bridge -- ../../arena/tests/bots/good.sh
check kit-javascript node --experimental-websocket javascript/examples/random_bot.js
check kit-rust "$RUST_BOT"
if command -v go >/dev/null; then
    (cd go && go vet ./... && go build -o "$folder/go-bot" ./examples/random_bot)
    check kit-go "$folder/go-bot"
    FOURFOLD_URL=$url "$folder/go-bot" 3 greedy | grep -c '(four)\|(full)' | grep -qx 3
else
    echo "SKIPPED kit-go: no go on the path"
fi
if command -v c++ >/dev/null; then
    c++ -std=c++17 -Wall -Wextra -Werror -pthread -o "$folder/cpp" cpp/examples/random_bot.cpp
    check kit-cpp "$folder/cpp"
    FOURFOLD_URL=$url "$folder/cpp" 3 greedy | grep -c '(four)\|(full)' | grep -qx 3
else
    echo "SKIPPED kit-cpp: no c++ on the path"
fi
