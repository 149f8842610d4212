#!/bin/sh
# What a release has: a static binary with manual and completions as an archive, a Debian package of it, checksums.
#
#   deploy/package.sh [DIRECTORY]        default: target/package
#
# Needs the target of musl (`rustup target add x86_64-unknown-linux-musl`), a C compiler for it and make (Debian:
# musl-tools, make), what deploy/build.sh needs, and cargo-deb (`cargo install cargo-deb --locked`). FOURFOLD_BINARY names
# a binary that is there already, so that nothing is built, FOURFOLD_MAINTAINER whoever answers for the package,
# `Name <address>`; without it that is the author of the commit.
set -eu
cd "$(dirname "$0")/.."
out=${1:-target/package}
machine=$(uname -m)
target=$machine-unknown-linux-musl
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=fourfold-$version-$machine-linux

if [ -z "${FOURFOLD_BINARY:-}" ]; then
    deploy/build.sh "$target"
    FOURFOLD_BINARY=target/profiled/$target/release/fourfold
fi

# Where Cargo.toml looks for what goes into the package.
rm -rf target/assets "$out/$name"
mkdir -p target/assets "$out/$name"
install -m 755 "$FOURFOLD_BINARY" target/assets/fourfold
strip target/assets/fourfold
target/assets/fourfold man > target/assets/fourfold.1
target/assets/fourfold completions bash > target/assets/fourfold.bash
target/assets/fourfold completions zsh > target/assets/_fourfold
target/assets/fourfold completions fish > target/assets/fourfold.fish
# The package puts the binary where distributions do.
for unit in fourfold fourfold-worker; do
    sed 's|/usr/local/bin/|/usr/bin/|' "deploy/$unit.service" > "target/assets/$unit.service"
done

cp target/assets/* config/public.toml README.md LICENSE-MIT LICENSE-APACHE "$out/$name/"
tar --create --gzip --file "$out/$name.tar.gz" --directory "$out" "$name"
maintainer=${FOURFOLD_MAINTAINER:-$(git log -1 --format='%an <%ae>')}
cargo deb --no-build --no-strip --maintainer "$maintainer" --output "$out/"
(cd "$out" && sha256sum ./*.tar.gz ./*.deb > SHA256SUMS && cat SHA256SUMS)
