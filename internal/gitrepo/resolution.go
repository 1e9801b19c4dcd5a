package gitrepo

import "sync"

// resolution is what a full object id was peeled to in a repository. It never changes: only full ids are kept, never names.
type resolution struct{ dir, id, kind string }

// resolved remembers resolutions; a turn asks for the tree of the same two commits a dozen times, and each question is a process.
type resolved struct {
	mu    sync.Mutex
	known map[resolution]string
}

// mostResolutions bounds the memory of a worker that lives for months.
const mostResolutions = 10_000

var resolutions resolved

func (r *resolved) get(key resolution) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.known[key]
	return id, ok
}

func (r *resolved) put(key resolution, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= mostResolutions {
		r.known = map[resolution]string{}
	}
	r.known[key] = id
}

// isFullID reports whether a name is a whole object id.
func isFullID(name string) bool {
	if len(name) != 40 && len(name) != 64 {
		return false
	}
	for _, c := range name {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
