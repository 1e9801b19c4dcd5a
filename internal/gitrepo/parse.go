package gitrepo

import (
	"bytes"
	"strings"
)

// File modes of git tree entries.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeGitlink    = "160000"
	modeTree       = "040000"
	modeNone       = "000000"
)

// treeEntry is one line of ls-tree.
type treeEntry struct{ mode, id, path string }

// parseTree reads `ls-tree -r -z`: "mode type id TAB path".
func parseTree(out []byte) []treeEntry {
	var entries []treeEntry
	for _, record := range splitZ(out) {
		head, path, ok := strings.Cut(record, "\t")
		fields := strings.Fields(head)
		if ok && len(fields) == 3 {
			entries = append(entries, treeEntry{mode: fields[0], id: fields[2], path: path})
		}
	}
	return entries
}

// stagedGitlinks reads `ls-files -s -z` ("mode id stage TAB path") for the paths of submodules.
func stagedGitlinks(out []byte) []string {
	var links []string
	for len(out) > 0 {
		record, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		if !bytes.HasPrefix(record, []byte(modeGitlink+" ")) {
			continue
		}
		if _, path, ok := bytes.Cut(record, []byte("\t")); ok {
			links = append(links, string(path))
		}
	}
	return links
}

// gitlinksOf gives the paths of submodules.
func gitlinksOf(entries []treeEntry) []string {
	var links []string
	for _, e := range entries {
		if e.mode == modeGitlink {
			links = append(links, e.path)
		}
	}
	return links
}

// rawChange is one record of diff-tree or diff-files --raw without rename detection.
type rawChange struct {
	oldMode, newMode string
	oldID, newID     string
	status           byte // A D M T U
	path             string
}

// parseRaw reads `--raw -z` records from the front of out and gives what follows them.
func parseRaw(out []byte) (changes []rawChange, rest []byte) {
	for len(out) > 0 && out[0] == ':' {
		head, tail, _ := bytes.Cut(out, []byte{0})
		path, after, _ := bytes.Cut(tail, []byte{0})
		fields := strings.Fields(strings.TrimPrefix(string(head), ":"))
		out = after
		if len(fields) == 5 {
			changes = append(changes, rawChange{
				oldMode: fields[0], newMode: fields[1], oldID: fields[2], newID: fields[3],
				status: fields[4][0], path: string(path),
			})
		}
	}
	return changes, out
}
