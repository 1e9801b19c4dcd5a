package convergence

import "strconv"

// checkLanes is the description layer: the shape of every lane and target.
func checkLanes(r *report, root value) {
	for _, item := range root.get("nodes").items() {
		if lane := item.get("data").get("lane"); lane.kind() != kindAbsent {
			checkLane(r, lane, nodePath(item.get("id").text(), "/data/lane"))
		}
	}
	for _, key := range []string{"confirmer", "arbiter"} {
		if lane := root.get("data").get(key); lane.kind() != kindAbsent {
			checkLane(r, lane, "/data/"+key)
		}
	}
	if target := root.get("data").get("escalation"); target.kind() != kindAbsent {
		checkTarget(r, target, "/data/escalation")
	}
}

func checkLane(r *report, lane value, path string) {
	if lane.kind() != kindObject {
		r.add(CodeInvalidShape, path, "must be an object with id, requested and knownSubstitutions; leave it out for a data-only node")
		return
	}
	checkText(r, lane.get("id"), path+"/id")
	checkTarget(r, lane.get("requested"), path+"/requested")
	list := lane.get("knownSubstitutions")
	if !checkArray(r, list, path+"/knownSubstitutions") {
		return
	}
	seen := map[string]bool{}
	for i, item := range list.items() {
		at := path + "/knownSubstitutions/" + strconv.Itoa(i)
		checkTarget(r, item, at)
		text := string(appendCanonical(nil, item))
		if seen[text] {
			r.add(CodeDuplicateSubst, at, "repeats a substitution of this lane")
		}
		seen[text] = true
	}
}

func checkTarget(r *report, target value, path string) {
	switch target.kind() {
	case kindObject:
	case kindAbsent:
		r.add(CodeMissingField, path, "is missing")
		return
	default:
		r.add(CodeInvalidShape, path, "must be an object with adapter, provider, modelFamily, model and tools")
		return
	}
	for _, key := range []string{"adapter", "provider", "modelFamily", "model"} {
		checkText(r, target.get(key), path+"/"+key)
	}
	tools := target.get("tools")
	if !checkArray(r, tools, path+"/tools") {
		return
	}
	seen := map[string]bool{}
	for i, item := range tools.items() {
		at := path + "/tools/" + strconv.Itoa(i)
		if !checkText(r, item, at) {
			continue
		}
		if seen[item.text()] {
			r.add(CodeDuplicateID, at, "repeats the tool %q", item.text())
		}
		seen[item.text()] = true
	}
}

func checkArray(r *report, v value, path string) bool {
	switch v.kind() {
	case kindArray:
		return true
	case kindAbsent:
		r.add(CodeMissingField, path, "is missing")
	default:
		r.add(CodeInvalidShape, path, "must be a list (it may be empty)")
	}
	return false
}

func checkText(r *report, v value, path string) bool {
	switch {
	case v.kind() == kindAbsent:
		r.add(CodeMissingField, path, "is missing")
	case !v.isText() || v.text() == "" || hasControl(v.text()):
		r.add(CodeInvalidText, path, "must be a text without control characters, and not empty")
	default:
		return true
	}
	return false
}
