#!/usr/bin/env bash
# The demonstration: a small repository of its own, a dry run in it, no agent and no network.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d "${TMPDIR:-/tmp}/conclave-demo.XXXXXX")
repo="$place/greeter"
export CONCLAVE_STATE_DIR="$place/state"

git init -q "$repo"
cat >"$repo/greet.go" <<'GO'
package greeter

// Greet says hello.
func Greet(name string) string { return "Hello, " + name }
GO
git -C "$repo" add . 
git -C "$repo" -c user.name=demo -c user.email=demo@localhost -c commit.gpgsign=false commit -qm "A greeter"

echo "A small repository was made in $repo"
echo "\$ starter run --dry-run --preset dual-review \"Add a farewell beside the greeting\""
"$root/bin/starter" run --dry-run --preset dual-review --workdir "$repo" "Add a farewell beside the greeting"

run=$(basename "$repo"/.conclave/runs/*)
echo
echo "The bundle of this run: $repo/.conclave/runs/$run"
echo "Its report:             $repo/.conclave/runs/$run/report.md"
echo "Remove it all with:     rm -rf $place"
echo
echo "Next: cd your/repository; $root/bin/starter run --dry-run \"What you want changed\""
