#!/usr/bin/env bash
# Installs the real agent programs that `make test-agents` drives, as package-lock.json pins them, into node_modules here.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ "$(uname -s)" = Linux ]; then
	command -v bwrap >/dev/null || missing+=(bubblewrap)
	command -v socat >/dev/null || missing+=(socat)
fi
if [ ${#missing[@]} -gt 0 ]; then
	command -v apt-get >/dev/null || { echo "install these first: ${missing[*]}" >&2; exit 1; }
	root=(); [ "$(id -u)" = 0 ] || root=(sudo)
	echo "installing ${missing[*]} by apt-get"
	"${root[@]}" apt-get update -qq
	DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || { echo "gemini needs node 20 or newer, this is $major: install a newer one" >&2; exit 1; }

# npm leaves its own copy of the lock file in node_modules when it is through.
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
	npm ci
	touch node_modules/.package-lock.json
fi
for program in claude codex opencode gemini; do
	[ -x node_modules/.bin/$program ] || { echo "npm installed no $program: remove tools/agents/node_modules and try again" >&2; exit 1; }
done
