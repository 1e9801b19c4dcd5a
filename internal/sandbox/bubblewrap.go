package sandbox

import (
	"cmp"
	"slices"
)

// tempPlace is where a command finds its temporary folder inside bubblewrap's namespace.
const tempPlace = "/tmp"

// step is one mount, link or mask in the order of paths.
type step struct {
	path string
	args []string
}

// Bubblewrap is the argument list of bwrap that stands before the command's own, without the program's name. The network
// stays shared: models are remote, and what tests listen on is local.
func (p Policy) Bubblewrap(dir string) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
		// The kernel lets root change its settings without any capability, and bubblewrap leaves them open (measured): a
		// program for core dumps would run outside.
		"--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev",
	}
	var sealed []string
	for _, s := range p.steps() {
		args = append(args, s.args...)
		if s.args[0] == "--perms" {
			sealed = append(sealed, "--remount-ro", s.path)
		}
	}
	args = append(args, sealed...)
	return append(args, "--remount-ro", "/", "--chdir", dir, "--")
}

func (p Policy) steps() []step {
	var steps []step
	for _, l := range p.Links {
		// Within a bound folder the link is there already.
		if over, ok := p.over(l.Path); !ok || over.Access == Hidden || over.Source != "" {
			steps = append(steps, step{l.Path, []string{"--symlink", l.Target, l.Path}})
		}
	}
	for _, r := range p.Rules {
		over, covered := p.over(r.Path)
		if args := mount(r, over, covered); args != nil {
			steps = append(steps, step{r.Path, args})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.path, b.path) })
	return steps
}

// mount is how a rule becomes true below the rule that decides about its folder; nil when it already is.
func mount(r, over Rule, covered bool) []string {
	source := cmp.Or(r.Source, r.Path)
	plain := covered && over.Source == "" && r.Source == ""
	switch {
	case r.Access == Hidden && (!covered || over.Access == Hidden || over.Source != ""):
		return nil
	case r.Access == Hidden && r.File: // devices are refused on mounts of ours: it cannot even be opened
		return []string{"--ro-bind", "/dev/null", r.Path}
	case r.Access == Hidden: // its rules' paths below stay reachable, its names are not listed
		return []string{"--perms", "0111", "--tmpfs", r.Path}
	case plain && r.Access == over.Access:
		return nil
	case r.Access == Read:
		return []string{"--ro-bind", source, r.Path}
	default:
		return []string{"--bind", source, r.Path}
	}
}
