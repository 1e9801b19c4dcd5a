package sandbox

import "fmt"

// Kind is what contains a turn. The zero value is none of them and never stands for a contained turn.
type Kind string

// The kinds, as they stand in the record.
const (
	None       Kind = "none"
	Landlock   Kind = "landlock"
	Bubblewrap Kind = "bubblewrap"
)

// Confinement is a policy in the form in which package process applies it.
type Confinement struct {
	Kind Kind `json:"kind"`
	// Bwrap is the program of bubblewrap, and BwrapArgs what stands before the command on its line.
	Bwrap     string   `json:"bwrap,omitempty"`
	BwrapArgs []string `json:"bwrap_args,omitempty"`
	// Grants are what Landlock leaves open.
	Grants []Grant `json:"grants,omitempty"`
	// Scope keeps signals and abstract sockets within the turn where the kernel can (Landlock, version 6).
	Scope bool `json:"scope,omitempty"`
	// Temp is the temporary folder as the command sees it.
	Temp string `json:"temp,omitempty"`
}

// Confine makes a policy ready for what this machine has. dir is the command's working folder. Its error is that the
// machine has nothing; see Support.
func (s Support) Confine(p Policy, dir string) (*Confinement, error) {
	switch s.Kind() {
	case Bubblewrap:
		return &Confinement{Kind: Bubblewrap, Bwrap: s.Bwrap, BwrapArgs: p.Bubblewrap(dir), Scope: s.scopes(), Temp: tempPlace}, nil
	case Landlock:
		return &Confinement{Kind: Landlock, Grants: p.Grants(), Scope: s.scopes(), Temp: p.Temp}, nil
	default:
		return nil, fmt.Errorf("no sandbox holds on this machine: %s", s.Why())
	}
}

// Environ is the environment of a confined command: TMPDIR names its own folder.
func (c *Confinement) Environ(env []string) []string {
	if c == nil || c.Temp == "" {
		return env
	}
	return tempEnvironment(env, c.Temp)
}
