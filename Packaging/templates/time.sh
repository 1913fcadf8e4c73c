#!/bin/sh
# Times `taskhost plugins new` to a passing `taskhost plugins check` in each language:
#
#   Packaging/templates/time.sh [TASKHOST [LANGUAGE...]]
#
# TASKHOST is the program, .build/release/taskhost by default. Exits 1 when a plugin does not build or does not pass.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
taskhost=${1:-$root/.build/release/taskhost}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- c cpp rust swift swift-ios
taskhost=$(cd "$(dirname "$taskhost")" && pwd)/$(basename "$taskhost")
folder=$(mktemp -d "${TMPDIR:-/tmp}/taskhost-time.XXXXXX")
trap 'rm -rf "$folder"' EXIT INT TERM
now() { date +%s%N; }
seconds() { awk "BEGIN { printf \"%.1f\", ($2 - $1) / 1e9 }"; }
failed=0
printf '%-10s %8s %8s %8s %8s\n' language new make check all
for language in "$@"; do
  log=$folder/$language.log
  start=$(now)
  sdk=""
  options=$language
  case $language in
  swift) sdk="--sdk=$root" ;;
  swift-ios) sdk="--sdk=$root --from-ios" options=swift ;;
  esac
  "$taskhost" plugins new --language "$options" "hello-$language" --directory "$folder/$language" $sdk > "$log" 2>&1
  written=$(now)
  make -C "$folder/$language" >> "$log" 2>&1
  built=$(now)
  if make -C "$folder/$language" TASKHOST="$taskhost" check >> "$log" 2>&1; then
    checked=$(now)
    printf '%-10s %7ss %7ss %7ss %7ss\n' "$language" "$(seconds "$start" "$written")" "$(seconds "$written" "$built")" \
      "$(seconds "$built" "$checked")" "$(seconds "$start" "$checked")"
  else
    failed=1
    printf '%-10s failed:\n' "$language"
    tail -n 30 "$log"
  fi
done
exit $failed
