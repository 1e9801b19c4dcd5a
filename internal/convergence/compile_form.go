package convergence

import (
	"slices"
	"strconv"
	"strings"
)

// formChecker is the form layer: roles, lanes against each other, evidence
// paths and limits. Its paths use node ids. It reads loosely what the
// description layer checks after it.
type formChecker struct {
	report
	rules Rules
	data  value

	seats   []formNode
	writers []formNode
	roles   map[Role]int
}

type formNode struct {
	id   string
	role Role
	lane value
}

func nodePath(id, rest string) string { return "/nodes/" + escapePointer(id) + rest }

func (f *formChecker) check(root value) {
	f.roles = map[Role]int{}
	lanes := map[string]string{}
	for _, item := range root.get("nodes").items() {
		f.node(item, lanes)
	}
	f.roleCounts()
	if !f.rules.DemoteWriterLanes {
		f.selfReview()
	}
	f.limits()
	f.policies()
	f.extensions()
}

func (f *formChecker) node(n value, lanes map[string]string) {
	id, data := n.get("id").text(), n.get("data")
	role := Role(data.get("role").text())
	switch role {
	case RoleGenerator, RoleEvaluator, RoleRepair, RoleSeat:
	default:
		f.add(CodeInvalidRole, nodePath(id, "/data/role"), "must be generator, evaluator, repair or seat")
		return
	}
	f.roles[role]++
	lane := data.get("lane")
	if laneID := lane.get("id"); laneID.isText() {
		text := string(appendCanonical(nil, lane))
		if known, ok := lanes[laneID.text()]; ok && known != text {
			f.add(CodeConflictingLane, nodePath(id, "/data/lane"), "declares the lane %q differently from an earlier node", laneID.text())
		} else {
			lanes[laneID.text()] = text
		}
	}
	f.evidencePaths(id, role, data.get("evidencePaths"))
	found := formNode{id: id, role: role, lane: lane}
	switch role {
	case RoleSeat:
		f.seats = append(f.seats, found)
	case RoleGenerator, RoleRepair:
		f.writers = append(f.writers, found)
	}
	f.seatExtensions(id, role, data)
}

func (f *formChecker) evidencePaths(id string, role Role, paths value) {
	if paths.kind() == kindAbsent {
		return
	}
	path := nodePath(id, "/data/evidencePaths")
	if role != RoleSeat {
		f.add(CodeInvalidEvidence, path, "belongs to seats only")
		return
	}
	if paths.kind() != kindArray || paths.count() == 0 {
		f.add(CodeInvalidEvidence, path, "must be a list with at least one entry; leave it out to watch everything")
		return
	}
	seen := map[string]bool{}
	for _, item := range paths.items() {
		switch text := item.text(); {
		case !item.isText() || trimECMA(text) == "":
			f.add(CodeInvalidEvidence, path, "must hold texts that are not blank")
			return
		case seen[text]:
			f.add(CodeInvalidEvidence, path, "repeats %q", text)
			return
		default:
			seen[text] = true
		}
	}
}

func (f *formChecker) roleCounts() {
	for _, role := range []Role{RoleGenerator, RoleEvaluator, RoleRepair} {
		if n := f.roles[role]; n != 1 {
			f.add(CodeRoleCount, "/nodes", "needs exactly one %s, has %d", role, n)
		}
	}
	if f.roles[RoleSeat] == 0 {
		f.add(CodeRoleCount, "/nodes", "needs at least one seat")
	}
}

func (f *formChecker) selfReview() {
	for _, seat := range f.seats {
		for _, writer := range f.writers {
			if shared := sharedIdentity(seat.lane, writer.lane); shared != "" {
				f.add(CodeSelfReviewLane, nodePath(seat.id, "/data/lane"), "seat %q shares %s with the %s %q", seat.id, shared, writer.role, writer.id)
			}
		}
	}
}

// sharedIdentity says in words what two lanes have in common that keeps one
// from reviewing the other; "" when nothing.
func sharedIdentity(seat, writer value) string {
	if seat.kind() != kindObject || writer.kind() != kindObject {
		return ""
	}
	if id := seat.get("id"); id.isText() && id.text() == writer.get("id").text() {
		return "the lane " + strconv.Quote(id.text())
	}
	for _, field := range []struct{ key, word string }{{"provider", "the provider "}, {"modelFamily", "the model family "}} {
		values := map[string]bool{}
		for _, t := range looseTargets(writer) {
			if v := t.get(field.key); v.isText() {
				values[v.text()] = true
			}
		}
		for _, t := range looseTargets(seat) {
			if v := t.get(field.key); v.isText() && values[v.text()] {
				return field.word + strconv.Quote(v.text())
			}
		}
	}
	return ""
}

func looseTargets(lane value) []value {
	targets := []value{lane.get("requested")}
	for _, item := range lane.get("knownSubstitutions").items() {
		targets = append(targets, item)
	}
	return targets
}

func (f *formChecker) limits() {
	for _, limit := range []struct {
		field string
		least int64
	}{{"maxIterations", 1}, {"maxReviewRestarts", 0}, {"quorum", 1}, {"seatConcurrency", 1}, {"retryCapPerNode", 0}} {
		v, ok := f.data.get(limit.field).safeInteger()
		if !ok || v < limit.least {
			f.add(CodeInvalidLimit, "/data/"+limit.field, "must be an integer of at least %d", limit.least)
		} else if limit.field == "quorum" && v > int64(f.roles[RoleSeat]) {
			f.add(CodeInvalidQuorum, "/data/quorum", "is %d, but there are %d seats", v, f.roles[RoleSeat])
		}
	}
}

func (f *formChecker) policies() {
	if !f.data.get("requireDiversity").isBool() {
		f.add(CodeInvalidDiversity, "/data/requireDiversity", "must be true or false")
	}
	skippable := f.data.get("skippableSeats")
	if skippable.kind() != kindArray {
		f.add(CodeInvalidSkippable, "/data/skippableSeats", "must be a list of seat ids (it may be empty)")
		return
	}
	for i, item := range skippable.items() {
		if !f.isSeat(item) {
			f.add(CodeUnknownSeat, "/data/skippableSeats/"+strconv.Itoa(i), "is no seat of this definition")
		}
	}
}

func (f *formChecker) isSeat(id value) bool {
	for _, seat := range f.seats {
		if id.isText() && seat.id == id.text() {
			return true
		}
	}
	return false
}

// ReservedIDs lists the words that no node may have: questions and turns of their own use them.
func ReservedIDs() []string {
	return []string{FinalSeat, "confirmer", "arbiter", SubjectSize, SubjectProtected, SubjectBudget}
}

func (f *formChecker) seatExtensions(id string, role Role, data value) {
	if f.rules.ReserveWords && slices.Contains(ReservedIDs(), id) {
		f.add(CodeReservedID, nodePath(id, "/id"), "is a word the machine uses itself; rename the node")
	}
	if voting := data.get("voting"); voting.kind() != kindAbsent && (role != RoleSeat || !voting.isBool()) {
		f.add(CodeInvalidFlag, nodePath(id, "/data/voting"), "must be true or false, on a seat")
	}
}

func (f *formChecker) extensions() {
	f.choice("discipline", CodeInvalidDiscipline, string(Basic), string(Full))
	f.choice("reviewWhen", CodeInvalidReviewWhen, string(WhenVerified), string(WhenAlways))
	for _, flag := range []string{"writerExclusion", "requireFindings", "advisory", "rulings"} {
		if v := f.data.get(flag); v.kind() != kindAbsent && !v.isBool() {
			f.add(CodeInvalidFlag, "/data/"+flag, "must be true or false")
		}
	}
	if f.data.get("writerExclusion").kind() != kindFalse {
		f.turnLanes()
	}
}

func (f *formChecker) choice(field, code string, words ...string) {
	if v := f.data.get(field); v.kind() != kindAbsent && !slices.Contains(words, v.text()) {
		f.add(code, "/data/"+field, "must be %s", strings.Join(words, " or "))
	}
}

// turnLanes keeps writers out of the engines that confirm and arbitrate.
func (f *formChecker) turnLanes() {
	for _, key := range []string{"confirmer", "arbiter"} {
		for _, writer := range f.writers {
			if shared := sharedIdentity(f.data.get(key), writer.lane); shared != "" {
				f.add(CodeSelfReviewLane, "/data/"+key, "shares %s with the %s %q", shared, writer.role, writer.id)
			}
		}
	}
}
