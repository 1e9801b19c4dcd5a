package activities

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/agent"
)

// homeFolder is the agents' home in a run's folder where they get one of their own.
const homeFolder = "home"

// agents are the settings that the turn's engine is called with. With IsolateHome its home is a folder of the run's own,
// and no variable leads to logins and sessions of the user's: only key variables log in then. See home.
func (t *turn) agents() (agent.Settings, error) {
	s := t.Agents
	if !t.IsolateHome {
		return s, nil
	}
	if err := os.MkdirAll(t.home(), 0o700); err != nil {
		return s, err
	}
	s.Environ = isolated(s, t.home())
	return s, nil
}

// home is the folder that IsolateHome gives the agent. Writers have one for the run, since a repair goes on with the
// session that lies there. What a writer leaves in it, instructions for other agents or a profile of the shell's, must
// not reach who judges it: every other turn has a fresh one, which goes with the turn.
func (t *turn) home() string {
	if !t.req.Writing {
		return filepath.Join(t.scratch, homeFolder)
	}
	return filepath.Join(RunDir(t.StateDir, t.req.RunID), homeFolder)
}

// isolated is the environment with another home, without the variables that name places of an agent's state.
func isolated(s agent.Settings, home string) []string {
	drop := []string{"HOME"}
	for _, name := range agent.Names() {
		adapter, err := s.Lookup(name)
		if err != nil {
			continue // a command that is not configured
		}
		for _, place := range adapter.Facts().State {
			drop = append(drop, place.Variable)
		}
	}
	environ := slices.DeleteFunc(slices.Clone(s.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(drop, name)
	})
	return append(environ, "HOME="+home)
}
