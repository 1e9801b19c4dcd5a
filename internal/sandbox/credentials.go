package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// credentialVariables name files and folders of keys and logins that lie elsewhere than where everybody's do; of a list
// each part counts.
var credentialVariables = []string{
	"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
	"AZURE_CONFIG_DIR", "OCI_CLI_CONFIG_FILE", "KUBECONFIG", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "HELM_REGISTRY_CONFIG", "TF_CLI_CONFIG_FILE",
	"GNUPGHOME", "PASSWORD_STORE_DIR", "SOPS_AGE_KEY_FILE", "KRB5CCNAME", "NETRC", "GH_CONFIG_DIR", "GLAB_CONFIG_DIR",
	"NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "PIP_CONFIG_FILE", "PGPASSFILE", "MYSQL_TEST_LOGIN_FILE",
	"TEMPORAL_CONFIG_FILE", "TEMPORAL_TLS_CLIENT_KEY_PATH", "CONCLAVE_CONFIG",
}

// movedFolders are variables that move a part of the home elsewhere, with that part.
var movedFolders = map[string]string{"XDG_CONFIG_HOME": ".config/", "XDG_DATA_HOME": ".local/share/", "XDG_CACHE_HOME": ".cache/", "XDG_STATE_HOME": ".local/state/"}

// credentials are the places of secrets that a process's own environment names. Whoever keeps keys elsewhere says so
// there, and to hide only the usual places would leave them open.
func credentials(environ, homes []string) []string {
	var out []string
	for _, name := range credentialVariables {
		out = append(out, filepath.SplitList(valueOf(environ, name))...)
	}
	for name, part := range movedFolders {
		dir := valueOf(environ, name)
		if dir == "" {
			continue
		}
		for _, secret := range append(slices.Clone(homeSecrets), append(slices.Clone(otherStates), ".local/state/conclave")...) {
			if below, ok := strings.CutPrefix(secret, part); ok {
				out = append(out, filepath.Join(dir, below))
			}
		}
	}
	return slices.DeleteFunc(out, func(path string) bool { // a home or what holds it cannot be a secret as a whole
		real, _, err := resolve(path)
		return !filepath.IsAbs(path) || err != nil || holdsOne(real, homes) || within("/dev", real) || slices.Contains(system, real)
	})
}
