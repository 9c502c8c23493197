# What the stages of scripts/test share. A stage runs in the project's root, reports `FAIL name: reason` and
# `NOTE: text` lines, and closes with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
passed=0 failed=0
jobs=${SPRIG_JOBS:-$(nproc)}
shared=${SPRIG_SHARED_DIR:-$PWD/../shared}
llvm_bin=/usr/lib/llvm-22/bin
# Tests neither read nor fill a user's cache.
export SPRIG_CACHE=$PWD/build/cache

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

# add FILE: adds the counts of the last `N passed, N failed` line in FILE; without one, one failure.
add() {
  local p f
  if read -r p f < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*$/\1 \2/p' "$1" | tail -1) && [ -n "$p" ]; then
    passed=$((passed + p)) failed=$((failed + f))
  else
    failed=$((failed + 1))
    echo "FAIL $1: no closing line"
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

need_shared() {
  if [ ! -d "$shared/$1" ]; then
    echo "NOTE: $shared/$1 is not there (SPRIG_SHARED_DIR): these tests are left out"
    finish
  fi
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}
