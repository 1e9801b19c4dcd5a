package config

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/agent"
)

// prefix begins every variable of ours.
const prefix = "CONCLAVE_"

// otherVariables are ours and no settings: of the starter, of the tests, of the compose file, and those that we set
// ourselves for agents and commands, which may start a starter in their turn.
var otherVariables = []string{
	"CONFIG", "DEVSERVER_BIN", "PG_PASSWORD", "CHANGED_FILES", "DESIGN_CONTRACT", "MODE", "MODEL", "RESULT_FILE", "ROLE",
	"STUB_TURN", "SUPERVISOR", "TURN_MARK",
}

// UnknownVariables gives a warning for each variable of the environment that looks like a setting and is none. adapters
// are the names that a program may be set for.
func UnknownVariables(environ, adapters []string) []string {
	known := slices.Clone(otherVariables)
	for _, k := range keys {
		known = append(known, strings.TrimPrefix(k.variable(), prefix))
	}
	for _, name := range append(agent.Names(), adapters...) {
		known = append(known, strings.TrimPrefix(agent.BinVariable(name), prefix))
	}
	var warnings []string
	for _, entry := range environ {
		variable, _, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(variable, prefix)
		if !ours || strings.HasPrefix(name, "TEST_") || slices.Contains(known, name) {
			continue
		}
		warning := fmt.Sprintf("the variable %q means nothing to Conclave", variable)
		if near := Nearest(name, known); near != "" {
			warning += "; did you mean " + prefix + near + "?"
		}
		warnings = append(warnings, warning)
	}
	slices.Sort(warnings)
	return warnings
}
