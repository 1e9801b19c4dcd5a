package gitrepo

import (
	"flag"
	"os"
	"testing"
)

// TestMain takes the machine's own git configuration out of the tests.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "gitrepo-home-")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": "", "GIT_CONFIG_NOSYSTEM": "1", "EMAIL": ""} {
		_ = os.Setenv(name, value)
	}
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_CONFIG_GLOBAL"} {
		_ = os.Unsetenv(name)
	}
	// A case of a property here is some twenty processes: fewer cases, unless someone asks for more.
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		_ = flag.Set("rapid.checks", "12")
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}
