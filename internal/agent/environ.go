package agent

import (
	"maps"
	"slices"
	"strings"
)

// commonVariables may pass from the worker to every agent and command.
var commonVariables = []string{
	"HOME", "PATH", "USER", "LANG", "TMPDIR",
	"TZ", // dates in an agent's limit messages are in its local time, and are read in ours
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
}

// plainVariables keep colours and cursor movements out of the streams. CI is not set: some programs refuse a login of
// the user's then.
var plainVariables = map[string]string{"TERM": "dumb", "NO_COLOR": "1"}

// CommandEnviron is the environment of set-up, lint and verify commands: the common variables, no model keys.
func CommandEnviron(environ []string) []string {
	return flat(pick(environ, commonVariables))
}

// environment is the complete environment of an agent: the common variables, the adapter's, its fixed ones, those of
// the configuration, those of the turn; later ones win.
func environment(t TurnSpec, s Settings, names []string, fixed map[string]string) []string {
	env := pick(s.Environ, commonVariables)
	maps.Copy(env, pick(s.Environ, names))
	maps.Copy(env, plainVariables)
	maps.Copy(env, fixed)
	maps.Copy(env, s.ExtraEnv[t.Target.Adapter])
	maps.Copy(env, t.Env)
	return flat(env)
}

func pick(environ, names []string) map[string]string {
	env := map[string]string{}
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok && slices.Contains(names, k) {
			env[k] = v
		}
	}
	return env
}

func flat(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}

// blank sets the variables that an environment lacks to nothing, so that nobody else sets them. One that is set in
// another case of letters is there: proxies have both.
func blank(env, names []string) []string {
	set := map[string]bool{}
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		set[strings.ToUpper(name)] = true
	}
	for _, name := range names {
		if !set[strings.ToUpper(name)] {
			env = append(env, name+"=")
		}
	}
	slices.Sort(env)
	return env
}
