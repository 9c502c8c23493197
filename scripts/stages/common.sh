# What the stages of scripts/test share. A stage runs in the project's root, reports `FAIL name: reason` and
# `NOTE: text` lines, and closes with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
passed=0 failed=0
jobs=${SPRIG_JOBS:-$(nproc)}
shared=${SPRIG_SHARED_DIR:-$PWD/../shared}
llvm_bin=/usr/lib/llvm-22/bin
# Tests have a home of their own: they neither read nor fill a user's files. What builds need of the user's stays where it
# is: dependencies, ccache with its settings, git's settings.
export SPRIG_DEPS=${SPRIG_DEPS:-$HOME/.cache/sprig}
if command -v ccache >/dev/null; then
  settings=${CCACHE_CONFIGPATH:-$(ccache -sv | sed -nE 's/^(Config file|Primary config): +//p')}
  export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-$(ccache -k max_size)} CCACHE_DIR=${CCACHE_DIR:-$(ccache -k cache_dir)}
  if [ -f "$settings" ]; then export CCACHE_CONFIGPATH=$settings; fi
fi
if [ -f "$HOME/.gitconfig" ]; then export GIT_CONFIG_GLOBAL=${GIT_CONFIG_GLOBAL:-$HOME/.gitconfig}; fi
export HOME=$PWD/build/home SPRIG_CACHE=$PWD/build/cache
export XDG_CACHE_HOME=$HOME/.cache
mkdir -p "$HOME"

# check NAME COMMAND...: one test, passed when the command succeeds.
check() {
  local name=$1
  shift
  "$@"
  local code=$?
  if [ $code = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $name: exit code $code from: $*"
  fi
}

# add NAME COMMAND...: runs scripts of tests and adds the counts of their closing lines, `N passed, N failed`. Scripts that
# run no test, or that fail and count no failure, are one.
add() {
  local name=$1 out code p f
  shift
  out=$(mktemp)
  "$@" | tee "$out"
  code=${PIPESTATUS[0]}
  read -r p f < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*$/\1 \2/p' "$out" | awk '{p += $1; f += $2} END {print p + 0, f + 0}')
  rm -f "$out"
  passed=$((passed + p)) failed=$((failed + f))
  if [ $((p + f)) = 0 ] || { [ "$code" != 0 ] && [ "$f" = 0 ]; }; then
    failed=$((failed + 1))
    echo "FAIL $name: $p passed and $f failed, but exit code $code from: $*"
  fi
}

# add_ctest FOLDER [ARGUMENTS...]: runs CTest in a build folder, adds its counts, and names what failed: programs, and of
# them the tests and the lines.
add_ctest() {
  local out total bad
  out=$(mktemp)
  (cd "$1" && shift && ctest -j "$jobs" --output-on-failure "$@") 2>&1 | tee "$out"
  if read -r bad total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests failed out of ([0-9]+)$/\1 \2/p' "$out") && [ -n "$total" ] && [ "$total" != 0 ]; then
    passed=$((passed + total - bad)) failed=$((failed + bad))
    sed -nE -e 's/^[[:space:]]+[0-9]+ - (.*) \((.*)\)$/FAIL \1: \2/p' \
      -e 's/^\[  FAILED  \] (.*) \([0-9]+ ms\)$/FAIL \1/p' -e 's/^(.*:[0-9]+): Failure$/FAIL \1/p' \
      -e 's/^SUMMARY: (.*Sanitizer.*)$/FAIL \1/p' "$out"
  else
    failed=$((failed + 1))
    echo "FAIL $1: CTest ran no test"
  fi
  rm -f "$out"
}

# add_lit FOLDER: runs the lit suites of a build's test folder and adds their counts.
add_lit() {
  local out good bad left_out
  out=$(mktemp)
  "$llvm_bin/lit" -sv -j "$jobs" "$1" 2>&1 | tee "$out"
  number() { sed -nE "s/^ +($1) *: +([0-9]+).*/\\2/p" "$out" | awk '{n += $1} END {print n + 0}'; }
  good=$(number 'Passed|Passed With Retry|Expectedly Failed')
  bad=$(number 'Failed|Timed Out|Unresolved|Unexpectedly Passed')
  left_out=$(number Unsupported)
  rm -f "$out"
  if [ "$left_out" != 0 ]; then echo "NOTE: $left_out lit tests are left out: what they need is not on this machine"; fi
  if [ $((good + bad)) = 0 ]; then bad=1; echo "FAIL $1: lit ran no test"; fi
  passed=$((passed + good)) failed=$((failed + bad))
}

# lacks PATTERN COMMAND...: the command succeeds, and no line of what it prints matches the pattern.
lacks() {
  local pattern=$1 out
  shift
  out=$("$@") && [ -n "$out" ] && ! grep -iE "$pattern" <<<"$out"
}

need_shared() {
  if [ ! -d "$shared/$1" ]; then
    echo "NOTE: $shared/$1 is not there (SPRIG_SHARED_DIR): these tests are left out"
    finish
  fi
}

# need_build FILE...: wrong use where one of them was not built.
need_build() {
  local file
  for file in "$@"; do
    if [ ! -e "$file" ]; then
      echo "error: $(basename "$0"): needs $file, but there is none: scripts/stages/build makes it" >&2
      exit 2
    fi
  done
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}
