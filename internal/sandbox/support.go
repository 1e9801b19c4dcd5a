package sandbox

import (
	"cmp"
	"fmt"
	"strings"
)

// Landlock versions that matter here.
const (
	// leastLandlock restricts truncation and lets files be renamed between folders (Linux 6.2).
	leastLandlock = 3
	// scopedLandlock keeps signals and abstract sockets within a turn (Linux 6.12).
	scopedLandlock = 6
)

// Support is what this machine has.
type Support struct {
	// Bwrap is the program of bubblewrap where it works; BwrapWhy says why not.
	Bwrap, BwrapWhy string
	// ABI is Landlock's version, 0 for none; LandlockWhy says why it cannot be used.
	ABI         int
	LandlockWhy string
	// Privileged says that bubblewrap is a program that takes root's rights when it starts.
	Privileged bool
}

// Kind is the stronger of what works.
func (s Support) Kind() Kind {
	switch {
	case s.Bwrap != "":
		return Bubblewrap
	case s.LandlockWhy == "" && s.ABI >= leastLandlock:
		return Landlock
	default:
		return None
	}
}

// Only is the support without what is stronger than a kind: for tests, and to show what a weaker kind holds.
func (s Support) Only(k Kind) Support {
	if k != Bubblewrap {
		s.Bwrap, s.BwrapWhy = "", "left out"
	}
	if k != Landlock && k != Bubblewrap {
		s.ABI, s.LandlockWhy = 0, "left out"
	}
	return s
}

// Why says what is missing; "" when the strongest kind works.
func (s Support) Why() string {
	var why []string
	if s.Bwrap == "" {
		why = append(why, "bubblewrap "+cmp.Or(s.BwrapWhy, "was not looked for"))
	}
	switch {
	case s.LandlockWhy != "":
		why = append(why, "Landlock "+s.LandlockWhy)
	case s.ABI < leastLandlock:
		why = append(why, fmt.Sprintf("Landlock has version %d, needed is %d", s.ABI, leastLandlock))
	}
	return strings.Join(why, "; ")
}

// scopes says that signals and abstract sockets can be kept within a turn. It costs new privileges, which a privileged
// bubblewrap needs.
func (s Support) scopes() bool {
	return s.LandlockWhy == "" && s.ABI >= scopedLandlock && (!s.Privileged || s.Bwrap == "")
}
