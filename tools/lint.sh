#!/usr/bin/env bash
# Everything that checks the code without running it. The linters are built
# from their modules, in the versions named here.
set -euo pipefail
cd "$(dirname "$0")/.."
golangci=v2.15.0
workflowcheck=v0.6.0
tools="$PWD/bin/lint"

install_tool() { # module version binary
  if [ ! -x "$tools/$3-$2" ]; then
    echo "installing $3 $2"
    GOBIN="$tools" go install "$1@$2"
    mv "$tools/$3" "$tools/$3-$2"
  fi
}

echo "gofmt"
unformatted=$(gofmt -l $(git ls-files '*.go'))
[ -z "$unformatted" ] || { echo "not formatted: $unformatted"; exit 1; }
echo "go vet (linux, darwin)"
go vet ./...
GOOS=darwin go vet ./...
install_tool go.temporal.io/sdk/contrib/tools/workflowcheck "$workflowcheck" workflowcheck
echo "workflowcheck"
"$tools/workflowcheck-$workflowcheck" -config .workflowcheck.yaml ./workflows/...
install_tool github.com/golangci/golangci-lint/v2/cmd/golangci-lint "$golangci" golangci-lint
echo "golangci-lint"
"$tools/golangci-lint-$golangci" run --allow-serial-runners ./...
