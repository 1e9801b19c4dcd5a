package sandbox

import (
	"path/filepath"
	"strings"
)

// homeSecrets are what nobody reads below the home folder: keys, logins, histories, browsers' profiles.
var homeSecrets = []string{
	".ssh", ".gnupg", ".pki", ".age", ".config/age", ".config/sops", ".password-store", ".local/share/keyrings", ".local/share/kwalletd",
	".aws", ".azure", ".config/gcloud", ".kube", ".oci", ".bluemix", ".fly", ".databrickscfg", ".snowflake", ".config/doctl", ".config/heroku",
	".config/stripe", ".config/rclone", ".terraform.d/credentials.tfrc.json", ".terraformrc", ".vault-token", ".config/op", ".config/Bitwarden",
	".docker/config.json", ".config/containers/auth.json", ".helm/repository", ".config/helm/registry",
	".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub",
	".npmrc", ".yarnrc.yml", ".config/yarn", ".pypirc", ".config/pip", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml",
	".nuget/NuGet/NuGet.Config", ".composer/auth.json", ".config/composer/auth.json", ".m2/settings-security.xml", ".gradle/gradle.properties", ".sbt/.credentials", ".ivy2/.credentials",
	".pgpass", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", ".huggingface", ".cache/huggingface/token", ".config/openai", ".kaggle", ".env", ".secrets",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi",
	".config/opera", ".cache/mozilla", ".cache/google-chrome", ".cache/chromium", ".var/app", "snap",
	".config/Code", ".config/Cursor", ".vscode-server", ".cursor-server", ".config/github-copilot", ".config/Signal", ".config/Slack", ".config/discord",
	".local/share/TelegramDesktop", ".Xauthority", ".ICEauthority", ".bash_history", ".zsh_history", ".python_history", ".node_repl_history",
	".psql_history", ".mysql_history", ".sqlite_history", ".lesshst", ".viminfo", ".local/share/fish/fish_history", ".local/share/atuin", ".config/conclave", ".local/share/conclave",
	".config/temporalio", ".local/share/jupyter/runtime", ".jupyter", ".subversion/auth", ".config/filezilla", ".config/hcloud", ".config/configstore",
	".wrangler", ".config/.wrangler", ".local/share/com.vercel.cli", ".config/netlify", ".config/containers/podman-connections.json",
}

// systemSecrets are readable where the worker is root, and nobody's business.
var systemSecrets = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/security/opasswd", "/etc/krb5.keytab",
	"/etc/ssl/private", "/etc/pki/tls/private", "/etc/letsencrypt", "/etc/kubernetes", "/etc/rancher", "/etc/wireguard", "/etc/openvpn",
	"/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/netplan", "/etc/cloud", "/etc/docker", "/etc/containers/auth.json",
	"/etc/ssh", "/etc/conclave",
}

// system is what every program may read.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store", "/snap", "/var/lib/snapd/snap", "/sys",
}

// named are files of the system that may lie elsewhere: name servers, zone, certificates.
var named = []string{"/etc/resolv.conf", "/etc/localtime", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/alternatives/sh"}

// certificates are the variables that name files or folders of certificates.
var certificates = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"}

// cache is a folder of a tool below the home that builds fill. It holds nothing that the tool obeys or that is executed by
// its name: also what does not exist yet could be planted there, and would run outside of the sandbox.
type cache struct {
	path string
	// tool makes the folder at its first use; where it is installed, we make it before.
	tool string
}

var caches = []cache{
	{path: ".cache", tool: "sh"},
	{path: "go/pkg", tool: "go"},
	{path: ".npm", tool: "npm"},
	{path: ".cargo/registry", tool: "cargo"}, {path: ".cargo/git", tool: "cargo"}, {path: ".cargo/.package-cache"}, {path: ".cargo/.package-cache-mutate"}, // locks
	{path: ".m2/repository", tool: "mvn"}, {path: ".m2/wrapper", tool: "mvn"},
	{path: ".gradle"},
	{path: ".nuget/packages"}, {path: ".ivy2/cache"}, {path: ".pnpm-store"}, {path: ".local/share/pnpm/store"}, {path: ".yarn/berry"},
	{path: ".bun/install/cache"}, {path: ".cpan"}, {path: ".stack"}, {path: ".cabal/packages"}, {path: ".hex"}, {path: ".mix"},
}

// obeyed are what a tool obeys in a cache that cannot be narrowed: its start-up scripts and settings. They are made where
// they are missing, empty, and then read-only like those that exist; a name that ends in a slash is a folder.
var obeyed = map[string][]string{".gradle": {"init.d/", "init.gradle", "gradle.properties"}}

// Obeyed are the places in caches of a home that a tool obeys.
func Obeyed(home string) []string {
	var out []string
	for dir, names := range obeyed {
		for _, name := range names {
			out = append(out, filepath.Join(home, dir, name))
		}
	}
	return out
}

// cacheVariables name such folders elsewhere. What GOPATH and GRADLE_USER_HOME name is treated like its like in the home.
var cacheVariables = []string{"GOCACHE", "GOMODCACHE", "CARGO_TARGET_DIR", "XDG_CACHE_HOME", "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR", "CCACHE_DIR", "SCCACHE_DIR"}

// StatePath is a place below the home where an agent keeps its login, sessions and settings.
type StatePath struct {
	Path string
	// Content, where it is not empty, says that the path is a file, and what it holds when we have to make it.
	Content string
	// Instructions are files below it that the agent obeys in every turn. They are read-only, and made, empty, where they are
	// missing: one that a turn plants would instruct all reviewers to come.
	Instructions []string
}

// states are the agents' state paths below the home.
var states = map[string][]StatePath{
	"claude":   {{Path: ".claude"}, {Path: ".claude.json", Content: "{}\n"}, {Path: ".cache/claude-cli-nodejs"}},
	"codex":    {{Path: ".codex"}},
	"opencode": {{Path: ".local/share/opencode"}, {Path: ".config/opencode"}, {Path: ".local/state/opencode"}, {Path: ".cache/opencode"}},
	"gemini":   {{Path: ".gemini"}},
}

// keptStates are below a state path and read-only where they exist: settings, hooks and instructions, which the user's own
// sessions obey later, outside of any sandbox. Logins and sessions beside them are written.
var keptStates = []string{
	"settings.json", "settings.local.json", "CLAUDE.md", "hooks", "commands", "skills", "agents", "plugins", "output-styles", "keybindings.json",
	"config.toml", "AGENTS.md", "AGENTS.override.md", "hooks.json", "prompts", "rules", "managed_config.toml",
	"GEMINI.md", "extensions", "policies", "trustedFolders.json", ".env",
	"opencode.json", "opencode.jsonc", "config.json", "plugin", "command", "agent", "tool", "tools",
}

// otherStates belong to agents that Conclave does not drive.
var otherStates = []string{
	".cursor", ".continue", ".aider.conf.yml", ".aider", ".config/aider", ".qwen", ".crush", ".config/crush", ".local/share/crush", ".config/goose",
	".local/share/goose", ".codeium", ".config/amp", ".local/share/amp", ".factory", ".kiro", ".amazonq", ".local/share/amazon-q", ".copilot", ".roo", ".kilocode",
}

// StatePaths are the state paths of a built-in adapter, absolute; none for a program of the user's.
func StatePaths(adapter, home string) []StatePath {
	var out []StatePath
	for _, s := range states[adapter] {
		out = append(out, StatePath{Path: filepath.Join(home, s.Path), Content: s.Content})
	}
	return out
}

// Settings are the places below state paths that an agent obeys and does not need to write, whether they exist or not.
func Settings(states []StatePath) []string {
	var out []string
	for _, s := range states {
		if s.Content != "" { // a file
			continue
		}
		for _, name := range keptStates {
			out = append(out, filepath.Join(s.Path, name))
		}
	}
	return out
}

// hidden are the secrets of a home, with the state of every agent but those whose state paths are given.
func hidden(home string, own []StatePath) []string {
	var out []string
	for _, name := range homeSecrets {
		out = append(out, filepath.Join(home, name))
	}
	for _, name := range otherStates {
		out = append(out, filepath.Join(home, name))
	}
	for adapter := range states {
		for _, s := range StatePaths(adapter, home) {
			if !isOwn(s.Path, own) {
				out = append(out, s.Path)
			}
		}
	}
	return out
}

func isOwn(path string, own []StatePath) bool {
	for _, s := range own {
		if within(path, s.Path) || within(s.Path, path) {
			return true
		}
	}
	return false
}

// valueOf is the last value of a variable.
func valueOf(environ []string, name string) string {
	value := ""
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			value = v
		}
	}
	return value
}
