package host

import (
	"fmt"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Target is the Temporal server that a run lives on.
type Target struct {
	// Address is empty for the local server of the state folder.
	Address   string
	Namespace string
	// Named says where the address comes from, for messages.
	Named string
	// options hold TLS, key and headers of a Temporal profile.
	options client.Options
}

// Local says that the server belongs to the state folder.
func (t Target) Local() bool { return t.Address == "" }

// profileVariables turn on Temporal's own configuration. A profile file that
// merely exists does not: a developer's runs stay local unless he says otherwise.
var profileVariables = []string{"TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE"}

// Resolve decides between cluster and local server. An address of ours
// outranks Temporal's environment, whose TLS settings and keys it still gets.
func Resolve(address, namespace, origin string) (Target, error) {
	t := Target{Address: address, Namespace: namespace, Named: origin}
	for _, name := range profileVariables {
		if os.Getenv(name) == "" {
			continue
		}
		options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{})
		if err != nil {
			return t, fmt.Errorf("the Temporal profile or environment (%s) cannot be used: %w", name, err)
		}
		t.options = options
		if t.Address == "" {
			t.Address, t.Named = options.HostPort, name
			if t.Address == "" {
				t.Address = client.DefaultHostPort
			}
			if options.Namespace != "" {
				t.Namespace = options.Namespace
			}
		}
		break
	}
	return t, nil
}
