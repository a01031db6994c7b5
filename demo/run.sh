#!/usr/bin/env bash
# The main job on a sample store: see what would happen, convert, compare, come back.
# Works on a copy in a temporary directory; nothing else is touched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sample=golden/claude-code/basic/store
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export INTEROP_STATE_DIR="$work/state"
cp -R "$sample" "$work/garage"
cd "$work"

bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
step() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
# Shows a command, runs it, and says its exit code where that is not 0.
try() {
    printf '\n$ %s\n\n' "$*"
    local code=0
    "$@" 2>&1 || code=$?
    if [ "$code" -ne 0 ]; then printf '\n(exit code %s)\n' "$code"; fi
    last=$code
}
expect() { [ "$last" -eq "$1" ] || { echo "expected exit code $1, got $last" >&2; exit 1; }; }

step "A memory directory of Claude Code: what it says"
try interop show claude-code:garage
expect 0

step "What would happen in a bantamkit store? A dry run writes nothing"
echo "bantamkit demands a kind for each fact. interop never guesses one: it asks."
try interop convert claude-code:garage bantamkit:store --dry-run
expect 3

step "Declare the kind of what has none, and convert"
try interop convert claude-code:garage bantamkit:store --kind-map untyped=project
expect 0

step "Nothing differs: what bantamkit has no place for travels beside it"
try interop diff claude-code:garage bantamkit:store
expect 0

step "The proof, on these very files: the laws of lossless conversion"
try interop check claude-code:garage
expect 0

step "Somebody adds a line on the bantamkit side"
fact=$(find store/facts -name '*.md' | sort | head -n 1)
echo "Seen on the bantamkit side: the new lock arrives on Friday." >>"$fact"
echo "$fact"
try interop diff claude-code:garage bantamkit:store
expect 1

step "Back to Claude Code: exactly that edit, every other byte where it was"
cp -R garage before
try interop convert bantamkit:store claude-code:garage
expect 0
try diff -r --exclude=.interop before garage
expect 1

step "And undone again"
try interop undo claude-code:garage
expect 0
try diff -r --exclude=.interop before garage
expect 0
