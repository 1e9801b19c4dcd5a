#!/usr/bin/env bash
# The figures of docs/benchmarks.md, on this machine. BENCH_REALTIME=1 (root, Linux) lets the measured programs go
# before everything else on a busy machine; BENCH_ONLY=dry,sleep picks measurements; BENCH_TIMELINE=1 says where time goes;
# BENCH_WRITE=1 puts the report into docs/benchmarks.md.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
bin=${CONCLAVE_TEST_BIN:-$root/bin}
program=$(mktemp "${TMPDIR:-/tmp}/conclave-bench-program.XXXXXX")
trap 'rm -f "$program"' EXIT
go build -o "$program" ./tools/bench

arguments=(--bin "$bin")
[ -z "${BENCH_ONLY:-}" ] || arguments+=(--only "$BENCH_ONLY")
[ -z "${BENCH_TIMELINE:-}" ] || arguments+=(--timeline)
[ -z "${BENCH_WRITE:-}" ] || arguments+=(--write docs/benchmarks.md)
first=()
[ -z "${BENCH_REALTIME:-}" ] || first=(chrt --rr 1)
"${first[@]}" "$program" "${arguments[@]}"
