# SPDX-License-Identifier: BSD-3-Clause
# What quickstart, run-tests and the CI stages share: steps with elapsed time, Debian packages, presets.
# Sourced by bash with `root` set to the source tree.

logs=$root/build/logs
jobs=${JOBS:-2}
started=$SECONDS

# One line per step: what, and the seconds since the start.
say() { printf '[%4d s] %s\n' $((SECONDS - started)) "$*"; }

# stop <cause> [what to do...]: the last thing that is printed.
stop() {
  printf '\n%s: stopped after %d s: %s\n' "${0##*/}" $((SECONDS - started)) "$1" >&2
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 1
}

# run_step <name> <command...>: a terminal sees the command's own progress; otherwise it goes to a log, whose
# end, and the first errors in it, are shown when the command fails.
run_step() {
  local name=$1 log="$logs/$1.log"
  shift
  mkdir -p "$logs"
  say "$name: $*"
  if [ -t 1 ]; then
    "$@" || stop "'$name' failed; the cause is above" "command: $*"
    return 0
  fi
  if ! "$@" >"$log" 2>&1; then
    grep -m 10 -nE '(error|Error|ERROR|FAILED)[: ]' "$log" || true
    echo "--- end of $log"
    tail -25 "$log"
    stop "'$name' failed; the cause is above" "command: $*" "whole log: $log"
  fi
}

# The packages of .ci/packages for these purposes that are not installed.
missing_packages() {
  local purpose package
  while read -r purpose package; do
    case " $* " in *" $purpose "*) ;; *) continue ;; esac
    # A test: || true keeps an unknown package from ending the script under `set -e`.
    local state
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || echo "$package"
  done <"$root/.ci/packages"
}

# install_packages <purpose...>: installs what is missing, asks nothing; where it may not, says what to do.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "packages: this is no Debian; CMake will say what is missing (see .ci/packages for the list)"
    return 0
  fi
  local missing as_root=()
  missing=$(missing_packages "$@" | tr '\n' ' ')
  if [ -z "$missing" ]; then
    say "packages: all there"
    return 0
  fi
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
    else
      stop "these Debian packages are missing and may not be installed by this user: $missing" \
        "ask for: apt-get install --no-install-recommends $missing" "then run $0 again"
    fi
  else
    as_root=(env DEBIAN_FRONTEND=noninteractive)
  fi
  local get=("${as_root[@]}" apt-get -q -y -o DPkg::Lock::Timeout=300)
  # shellcheck disable=SC2086  # the list is split on purpose
  if ! "${get[@]}" install --no-install-recommends $missing >/dev/null 2>&1; then
    run_step package-lists "${get[@]}" update
    run_step packages "${get[@]}" install --no-install-recommends $missing
  fi
  say "packages: installed $missing"
}

# configure <preset> [options...]: with ccache where it is installed.
configure() {
  local preset=$1 launcher=
  shift
  if command -v ccache >/dev/null; then launcher=ccache; fi
  (cd "$root" && run_step "configure-$preset" cmake --preset "$preset" \
    "-DCMAKE_C_COMPILER_LAUNCHER=$launcher" "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher" "$@") || exit 1
}

# configure_release: the build that users get, with its tests. A folder that is made here takes several sources per
# compiler run, which more than halves the time (--full compiles each source by itself); one that is there stays as it is.
configure_release() {
  local together=()
  if [ "$tier" != full ] && [ ! -f "$root/build/release/CMakeCache.txt" ]; then
    together=(-DCMAKE_UNITY_BUILD=ON -DSTARLING_PRECOMPILE=ON)
  fi
  configure release -DSTARLING_TESTS=ON -DSTARLING_BENCH=ON -DSTARLING_FAST_TESTS=ON ${together[@]+"${together[@]}"}
}

build() { run_step "build-$1" ninja -C "$root/build/$1" "-j$jobs"; }

# build_tested <preset>: without the unit tests that the tier leaves out.
build_tested() { run_step "build-$1" make_tested "$1"; }
make_tested() {
  local targets
  targets=$("$root/.ci/combine-tests" "$tier" --targets "$1=$root/build/$1") || return
  # shellcheck disable=SC2086  # the list is split on purpose
  ninja -C "$root/build/$1" "-j$jobs" $targets
}
