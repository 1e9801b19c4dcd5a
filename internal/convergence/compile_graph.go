package convergence

import (
	"strconv"
	"strings"
	"unicode"
)

// checkGraph is the graph layer: shape, ids, versions and end points. Its paths
// use array indexes, because ids may be what is wrong.
func checkGraph(r *report, root value) {
	if root.kind() != kindObject {
		r.add(CodeInvalidDefinition, "", "must be an object with id, definitionVersion, data, nodes and edges")
		return
	}
	checkID(r, root.get("id"), "/id")
	if v, ok := root.get("definitionVersion").safeInteger(); !ok || v < 1 {
		r.add(CodeInvalidVersion, "/definitionVersion", "must be an integer of at least 1")
	}
	if root.get("data").kind() != kindObject {
		r.add(CodeInvalidDefinition, "/data", "must be an object")
	}
	nodes := checkNodes(r, root.get("nodes"))
	checkEdges(r, root.get("edges"), nodes)
}

func checkNodes(r *report, list value) map[string]bool {
	known := map[string]bool{}
	if list.kind() != kindArray {
		r.add(CodeInvalidDefinition, "/nodes", "must be an array")
		return known
	}
	for i, item := range list.items() {
		path := "/nodes/" + strconv.Itoa(i)
		if item.kind() != kindObject {
			r.add(CodeInvalidDefinition, path, "must be an object with id and data")
			continue
		}
		if item.get("data").kind() == kindAbsent {
			r.add(CodeInvalidDefinition, path+"/data", "is missing")
		}
		checkUnique(r, item.get("id"), path+"/id", CodeDuplicateNode, known)
	}
	return known
}

func checkEdges(r *report, list value, nodes map[string]bool) {
	if list.kind() != kindArray {
		r.add(CodeInvalidDefinition, "/edges", "must be an array (it may be empty)")
		return
	}
	known := map[string]bool{}
	for i, item := range list.items() {
		path := "/edges/" + strconv.Itoa(i)
		if item.kind() != kindObject {
			r.add(CodeInvalidDefinition, path, "must be an object with id, source, target and data")
			continue
		}
		if item.get("data").kind() == kindAbsent {
			r.add(CodeInvalidDefinition, path+"/data", "is missing")
		}
		checkUnique(r, item.get("id"), path+"/id", CodeDuplicateEdge, known)
		checkEndPoint(r, item.get("source"), path+"/source", CodeUnknownSource, nodes)
		checkEndPoint(r, item.get("target"), path+"/target", CodeUnknownTarget, nodes)
	}
}

func checkEndPoint(r *report, id value, path, code string, nodes map[string]bool) {
	if checkID(r, id, path) && !nodes[id.text()] {
		r.add(code, path, "names the node %q, which does not exist", id.text())
	}
}

func checkUnique(r *report, id value, path, code string, known map[string]bool) {
	if !checkID(r, id, path) {
		return
	}
	if known[id.text()] {
		r.add(code, path, "repeats the id %q", id.text())
	}
	known[id.text()] = true
}

func checkID(r *report, v value, path string) bool {
	if v.isText() && v.text() != "" && trimECMA(v.text()) == v.text() && !hasControl(v.text()) {
		return true
	}
	r.add(CodeInvalidID, path, "must be a text without control characters or surrounding white space, and not empty")
	return false
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < 0x20 || c == 0x7F })
}

// trimECMA trims what ECMAScript's trim does: its white space has the byte order
// mark and lacks U+0085, other than Go's.
func trimECMA(s string) string {
	return strings.TrimFunc(s, func(c rune) bool {
		switch c {
		case '\t', '\n', '\v', '\f', '\r', 0xFEFF, 0x2028, 0x2029:
			return true
		}
		return unicode.Is(unicode.Zs, c)
	})
}
