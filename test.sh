#!/bin/sh
# Everything that must hold before a change is merged, in the order in which it fails fastest. CI runs this.
#
#   ./test.sh          all steps; stops at the first failure, but runs the tests to their end
#
# Needs: Rust 1.94 or newer with rustfmt and clippy, a C compiler, Python 3.10 or newer with venv, Node 20 or newer with
# npm, PostgreSQL 14 or newer, NATS and Chromium; these three are installed when this runs as root on Debian, and Chromium
# without windows, which most pages are tried with where it is. One cargo profile (dev) serves all steps, so that little is
# built twice.
set -eu
cd "$(dirname "$0")"

target=${CARGO_TARGET_DIR:-target}
began=$(date +%s)

step() {
    printf '\n=== %s (after %d s)\n' "$1" $(($(date +%s) - began))
}

# Ends with one line that says what is missing and how to get it.
missing() {
    printf 'test.sh: %s is missing: %s\n' "$1" "$2" >&2
    exit 1
}

has_postgres() {
    [ -x "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1)" ] || command -v initdb >/dev/null
}

has_nats() {
    PATH=$PATH:/usr/sbin command -v nats-server >/dev/null
}

find_chromium() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" && return
    done
    return 1
}

find_shell() {
    command -v chromium-headless-shell
}

install() {
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

step 'format'
cargo fmt --all -- --check

# Of servers the programs are needed alone: tests start their own.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    packages=
    has_postgres || packages="$packages postgresql"
    has_nats || packages="$packages nats-server"
    find_chromium >/dev/null || packages="$packages chromium"
    if [ -n "$packages" ] || ! find_shell >/dev/null; then
        apt-get update -qq || true
    fi
    # shellcheck disable=SC2086 # each word is a package
    [ -z "$packages" ] || install $packages || true
    # Not every distribution has it, and all can be tested without: it only needs a third less of the processor.
    find_shell >/dev/null || install chromium-headless-shell || true
fi
has_postgres || missing PostgreSQL 'apt-get install postgresql'
has_nats || missing NATS 'apt-get install nats-server'
CHROMIUM=$(find_chromium) || missing chromium 'apt-get install chromium'
CHROMIUM_SHELL=$(find_shell || echo "$CHROMIUM")
export CHROMIUM CHROMIUM_SHELL
export FOURFOLD_CLUSTER_TESTS=require

# Most tests wait, for a disk, a database, a program or a clock, and leave their core to others meanwhile.
RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(getconf _NPROCESSORS_ONLN)))}
export RUST_TEST_THREADS

command -v python3 >/dev/null || missing python3 'install Python 3.10 or newer'
command -v node >/dev/null || missing node 'install Node.js 20 or newer'
command -v npm >/dev/null || missing npm 'install Node.js 20 or newer'

# What the kits and the pages are tested with comes over the network while the compiler works.
venv=$target/kit-venv
fetching() {
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || missing 'the venv module' 'apt-get install python3-venv'
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r bots/kits/python/requirements-dev.txt
    cd tests/browser
    npm ci --no-audit --no-fund --silent
}
mkdir -p "$target"
(set -e; fetching) >"$target/fetching.log" 2>&1 &
fetching=$!

step 'lints and build of the tests'
# Clippy is a compiler: what it looks at it compiles as well, so that nothing is gone through twice.
export RUSTC_WORKSPACE_WRAPPER="$PWD/tests/linted-rustc.sh"
cargo test --locked --workspace --no-run --message-format=json-render-diagnostics >"$target/built.json"
python3 tests/lanes.py <"$target/built.json" >"$target/programs"
wait "$fetching" || {
    cat "$target/fetching.log" >&2
    exit 1
}

# From here on the real daemon is tested from outside as well, as the tests have built it: `cargo build` would build all
# libraries once more, without the features that tests ask of them, which takes two minutes.
FOURFOLD_BIN=$(cd "$target" && pwd)/debug/fourfold
export FOURFOLD_BIN

# Runs a command or a part to its first failure and keeps what it says in a file as well: `kept FILE COMMAND…`. A pipe alone
# would hide how it ended.
kept() {
    log=$1
    shift
    { set +e; (set -e; "$@"); echo $? >"$log.ended"; } 2>&1 | tee "$log"
    return "$(cat "$log.ended")"
}

# Runs all programs of a lane in their folders, one after the other: `run LANE [COMMAND…]`, by a command if there is one.
run() {
    lane=$1 failed=0
    shift
    while IFS='|' read -r of folder program; do
        [ "$of" = "$lane" ] || continue
        printf '\n     Running %s\n' "$program"
        (cd "$folder" && "$@" "$program") </dev/null && continue
        # One that a signal ends says nothing itself.
        printf '     %s ended with %d: FAILED\n' "$program" $?
        failed=1
    done <"$target/programs"
    return "$failed"
}

waiting() {
    step 'tests that wait; those of kills, power cuts and failing disks in their short forms'
    kept "$target/tests.log" run waits
}

# With the examples, for then the libraries have the features that the tests ask of them.
documentation() {
    nice -n 19 cargo test --locked --workspace --doc &&
    RUSTC_WORKSPACE_WRAPPER='' RUSTDOCFLAGS='-D warnings' nice -n 19 \
        cargo doc --locked --workspace --lib --examples --no-deps --document-private-items
}

# Pages on which nothing has to happen in time, with much patience.
still_pages() {
    BROWSER_PATIENCE_MS=120000 nice -n 19 npm test --prefix tests/browser -- --still
}

computing() {
    failed=0
    run computes nice -n 19 || failed=1
    documentation || failed=1
    still_pages || failed=1
    return "$failed"
}

kits() {
    step 'Python kit'
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e bots/kits/python
    (venv=$(cd "$venv" && pwd) && cd bots/kits/python && "$venv/bin/python" -m pytest -q)

    step 'JavaScript kit'
    (cd bots/kits/javascript && node --test tests/)

    step 'kits against the daemon'
    # The examples were built with the tests.
    KIT_PYTHON=$(cd "$venv" && pwd)/bin/python RUST_BOT=$(cd "$target" && pwd)/debug/examples/random_bot
    export KIT_PYTHON RUST_BOT
    bots/kits/check.sh
}

in_a_browser() {
    step 'pages in a browser'
    kept "$target/pages.log" npm test --prefix tests/browser -- --moving
}

# What failed, once more, for it stands thousands of lines above the end: `again FILE WHAT`, a script of sed.
again() {
    [ ! -f "$1" ] || sed -n "$2" "$1" | tail -n 150
}

# One part after the other, each to its end, and beside all of them, in the time that they leave, what computes and asks no
# clock. Tests that wait for something waited in vain where others stood beside them with the same right. Behind `||` a
# failing step would not end its part.
set +e
(set -e; computing) >"$target/computing.log" 2>&1 &
computing=$!
(set -e; waiting)
waited=$?
kept "$target/kits.log" kits
kits=$?
(set -e; in_a_browser)
pages=$?
wait "$computing"
computed=$?
step 'what the tests that compute, the documentation and still pages said meanwhile'
cat "$target/computing.log"
set -e
[ "$pages" = 0 ] || again "$target/pages.log" '/^ *not ok /,/^ *\.\.\.$/p'
[ "$kits" = 0 ] || again "$target/kits.log" p
[ "$waited" = 0 ] || again "$target/tests.log" '/panicked at/{N;N;N;p;}; /FAILED$/p; /^FAULT: /p; /^error: /,$p'
[ "$computed" = 0 ] || again "$target/computing.log" '/panicked at/{N;N;N;p;}; /FAILED$/p; /^error: /,$p; /^ *not ok /,/^ *\.\.\.$/p'
failed=
[ "$waited" = 0 ] || failed="$failed, tests that wait"
[ "$computed" = 0 ] || failed="$failed, tests that compute, the documentation or still pages"
[ "$kits" = 0 ] || failed="$failed, kits"
[ "$pages" = 0 ] || failed="$failed, pages"
if [ -n "$failed" ]; then
    printf '\nfailed after %d s: %s\n' $(($(date +%s) - began)) "${failed#, }" >&2
    exit 1
fi

printf '\nall passed in %d s\n' $(($(date +%s) - began))
