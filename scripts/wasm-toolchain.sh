#!/usr/bin/env bash
# Lets cargo build for wasm32-unknown-unknown with nothing but Debian 12's packages.
#
#   wasm-toolchain.sh check     exit 0 if that is done; prints the name of rustup's toolchain for it
#   wasm-toolchain.sh install   does what is missing: as root some 150 MB of packages and a minute or two
#                               of compiling; for each user a link in rustup
#
# Debian's security suite has a current rustc, cargo, lld and the sources of std ("rustc-web" and
# friends), but no std for this target. It is compiled once and put where that rustc looks for it.
# A stamp beside it names the compiler it was built with: an upgraded compiler gets a new std.
set -euo pipefail

readonly target=wasm32-unknown-unknown
readonly toolchain=debian-web
readonly packages=(rustc-web cargo-web rust-web-src lld-22)
readonly lld=/usr/lib/llvm-22/bin/lld
readonly rustc=/usr/bin/rustc cargo=/usr/bin/cargo
readonly sysroot=/usr/lib/rustlib
readonly std=$sysroot/$target/lib
readonly lock=/run/lock/countercheck-wasm-toolchain

say() { printf '%s\n' "$*" >&2; }
die() { say "wasm-toolchain: $*"; exit 1; }

has_rustup() { command -v rustup >/dev/null; }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
host_bin() { printf '%s/%s/bin' "$sysroot" "$("$rustc" -vV | sed -n 's/^host: //p')"; }
fingerprint() { "$rustc" -vV | sha256sum | cut -d' ' -f1; }

std_is_built() {
  [ -x "$rustc" ] && [ -f "$std/.stamp" ] && [ "$(<"$std/.stamp")" = "$(fingerprint)" ] &&
    compgen -G "$std/libstd-*.rlib" >/dev/null && compgen -G "$std/libcore-*.rlib" >/dev/null
}
linker_is_linked() { [ -x "$(host_bin)/rust-lld" ]; }
rustup_knows() { ! has_rustup || rustup toolchain list | grep -q "^$toolchain\b"; }
system_is_ready() { [ -x "$cargo" ] && std_is_built && linker_is_linked; }

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "apt-get install ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >&2
  apt-cache show "${missing[@]}" >/dev/null 2>&1 ||
    die "this Debian has no ${missing[*]}: WASM_TOOLCHAIN=debian needs Debian 12 with its security suite"
  apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

# rustc starts the wasm linker as `rust-lld -flavor wasm`, from its own bin directory.
link_linker() {
  local bin
  bin=$(host_bin)
  mkdir -p "$bin"
  ln -sfn "$lld" "$bin/rust-lld"
}

# Cargo's build-std needs some package to build: an empty one. `test` is in the list for `cargo test`
# on wasm32; the bitcode is what lets a crate with `lto = true` link this std. Paths in panic messages shall not name this machine.
build_std() (
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/src"
  echo '#![no_std]' >"$work/src/lib.rs"
  cat >"$work/Cargo.toml" <<MANIFEST
[package]
name = "empty"
version = "0.0.0"
edition = "2021"
[profile.release]
opt-level = 3
codegen-units = 1
MANIFEST
  local sources=${CARGO_HOME:-$HOME/.cargo}/registry/src/
  say "compiling std for $target"
  env -u RUSTUP_TOOLCHAIN -u CARGO_BUILD_TARGET -u CARGO_ENCODED_RUSTFLAGS \
    PATH="/usr/bin:/bin" RUSTC="$rustc" RUSTC_BOOTSTRAP=1 \
    RUSTFLAGS="-Cembed-bitcode=yes --remap-path-prefix=$sources=" CARGO_TARGET_DIR="$work/target" \
    "$cargo" build --release --manifest-path "$work/Cargo.toml" --target "$target" \
    -Zbuild-std=std,panic_abort,panic_unwind,test >&2
  # Made beside its place and moved there whole: an interrupted run leaves no half a std.
  rm -rf "$std.new"
  mkdir -p "$std.new"
  find "$work/target/$target/release/deps" -name '*.rlib' ! -name 'libempty*' -exec cp {} "$std.new/" \;
  fingerprint >"$std.new/.stamp"
  rm -rf "$std"
  mv "$std.new" "$std"
)

prepare_system() {
  [ "$(id -u)" = 0 ] || die "WASM_TOOLCHAIN=debian installs packages: run it once as root"
  command -v apt-get >/dev/null || die "WASM_TOOLCHAIN=debian needs Debian 12"
  exec 9>"$lock"
  flock 9
  install_packages
  link_linker
  std_is_built || build_std
  system_is_ready || die "$rustc still cannot build for $target: remove $std and try again"
}

case ${1:-} in
check)
  system_is_ready && rustup_knows || exit 1
  if has_rustup; then echo "$toolchain"; fi
  ;;
install)
  system_is_ready || prepare_system
  rustup_knows || rustup toolchain link "$toolchain" /usr >&2
  ;;
*) die "usage: wasm-toolchain.sh check|install" ;;
esac
