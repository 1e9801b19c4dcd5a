package runindex

import (
	"fmt"
	"strings"
)

// Last names the newest run.
const Last = "@last"

// listed is how many ids an error names at most.
const listed = 8

// NotFoundError says that a name fits no run or several.
type NotFoundError struct {
	// Name is what was asked for.
	Name string
	// Fits are the runs that it names, newest first; none for an unknown name.
	Fits []string
	// Have are the newest runs there are.
	Have []string
}

// Error implements error.
func (e *NotFoundError) Error() string {
	switch {
	case len(e.Fits) > 0:
		return fmt.Sprintf("%q names several runs: %s", e.Name, some(e.Fits))
	case e.Name == Last || e.Name == "" && len(e.Have) == 0:
		return "there is no run yet"
	case e.Name == "":
		return "the run's name is empty"
	}
	return fmt.Sprintf("no run is named %q", e.Name)
}

// Remedy says what to do.
func (e *NotFoundError) Remedy() string {
	switch {
	case len(e.Fits) > 0:
		return "give more of the id"
	case len(e.Have) == 0:
		return "start one with `starter run REQUIREMENT`"
	}
	return "the newest runs are " + some(e.Have) + "; `starter runs` lists all"
}

func some(ids []string) string {
	if len(ids) > listed {
		return strings.Join(ids[:listed], ", ") + fmt.Sprintf(" and %d more", len(ids)-listed)
	}
	return strings.Join(ids, ", ")
}

// Find gives the run that name names: its whole id, any part that no other id
// has, or @last, the newest run of the repository or folder here (its root; the
// newest of all where it has none). all is in the order of List.
func Find(all []Entry, name, here string) (Entry, error) {
	if name == Last && len(all) > 0 {
		return newest(all, here), nil
	}
	var fits []Entry
	for _, e := range all {
		if e.RunID == name {
			return e, nil
		}
		if name != "" && name != Last && strings.Contains(e.RunID, name) {
			fits = append(fits, e)
		}
	}
	if len(fits) == 1 {
		return fits[0], nil
	}
	return Entry{}, &NotFoundError{Name: name, Fits: ids(fits), Have: ids(all)}
}

func newest(all []Entry, here string) Entry {
	for _, e := range all {
		if e.Source == here {
			return e
		}
	}
	return all[0]
}

func ids(entries []Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.RunID)
	}
	return all
}
