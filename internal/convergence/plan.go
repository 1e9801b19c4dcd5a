package convergence

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Package identifies the code and prompts that execute a plan.
type Package struct {
	Source  string `json:"source"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Permission is a named permission and its scope.
type Permission struct {
	ID    string          `json:"id"`
	Scope json.RawMessage `json:"scope"`
}

// Admission is what the host lets in.
type Admission struct {
	Package     Package      `json:"package"`
	Permissions []Permission `json:"permissions"`
}

// LaneResolution says on which declared target a lane runs, and on which it
// may fall back.
type LaneResolution struct {
	ID        string   `json:"id"`
	Effective Target   `json:"effective"`
	Fallbacks []Target `json:"fallbacks"`
}

// Resolution binds a description to a package and real engines.
type Resolution struct {
	Package        Package          `json:"package"`
	Admission      Admission        `json:"admission"`
	ExecutionLanes []LaneResolution `json:"executionLanes"`
}

// PlanLane is a lane with its resolution.
type PlanLane struct {
	Lane
	Effective Target   `json:"effective"`
	Fallbacks []Target `json:"fallbacks"`
}

// PlanPermissions are the permissions asked for and let in.
type PlanPermissions struct {
	Requested []Permission `json:"requested"`
	Admitted  []Permission `json:"admitted"`
}

// Requirements are what a plan needs of its host.
type Requirements struct {
	Memory string `json:"memory"`
}

// PlanDocument is the resolved plan: no time, no run id, no events.
type PlanDocument struct {
	SchemaVersion  int                `json:"schemaVersion"`
	Graph          GraphHeader        `json:"graph"`
	Package        Package            `json:"package"`
	InputContract  Contract           `json:"inputContract"`
	OutputContract Contract           `json:"outputContract"`
	Phases         []PhaseDescription `json:"phases"`
	Nodes          []NodeDescription  `json:"nodes"`
	Edges          []EdgeDescription  `json:"edges"`
	Policies       Policies           `json:"policies"`
	ExecutionLanes []PlanLane         `json:"executionLanes"`
	Permissions    PlanPermissions    `json:"permissions"`
	Bounds         Bounds             `json:"bounds"`
	Requirements   Requirements       `json:"requirements"`
}

// Plan is a resolved plan and the digest of its canonical form.
type Plan struct {
	Digest string       `json:"digest"`
	Plan   PlanDocument `json:"plan"`
}

// ResolvePlan binds a description to engines. All problems are returned in one
// *ValidationError whose paths point into the resolution.
func ResolvePlan(d Description, r Resolution) (Plan, error) {
	var problems report
	checkPackage(&problems, r)
	checkPermissions(&problems, d, r)
	doc := PlanDocument{
		SchemaVersion:  1,
		Graph:          d.Graph,
		Package:        r.Package,
		InputContract:  d.InputContract,
		OutputContract: d.OutputContract,
		Phases:         d.Phases,
		Nodes:          d.Nodes,
		Edges:          d.Edges,
		Policies:       d.Policies,
		ExecutionLanes: resolveLanes(&problems, d.ExecutionLanes, r.ExecutionLanes),
		Permissions:    PlanPermissions{Requested: d.Permissions, Admitted: d.Permissions},
		Bounds:         d.Bounds,
		Requirements:   Requirements{Memory: "unused"},
	}
	if err := problems.err(); err != nil {
		return Plan{}, err
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return Plan{}, fmt.Errorf("plan of %q: %w", d.Graph.ID, err)
	}
	digest, err := Digest(raw)
	if err != nil {
		return Plan{}, fmt.Errorf("plan of %q: %w", d.Graph.ID, err)
	}
	return Plan{Digest: digest, Plan: doc}, nil
}

var digestShape = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func checkPackage(p *report, r Resolution) {
	if !digestShape.MatchString(r.Package.Digest) {
		p.add(CodeInvalidDigest, "/package/digest", "must be sha256: and 64 lower-case hex digits")
	}
	if r.Package != r.Admission.Package {
		p.add(CodePackageNotAdmitted, "/package", "is not the admitted package %s %s", r.Admission.Package.Source, r.Admission.Package.Version)
	}
}

func checkPermissions(p *report, d Description, r Resolution) {
	admitted := map[string]string{}
	for i, permission := range r.Admission.Permissions {
		path := "/admission/permissions/" + strconv.Itoa(i)
		if _, twice := admitted[permission.ID]; twice {
			p.add(CodeDuplicatePermission, path, "repeats the permission %q", permission.ID)
		}
		admitted[permission.ID] = scopeText(permission)
	}
	for _, permission := range d.Permissions {
		if scope, ok := admitted[permission.ID]; !ok || scope != scopeText(permission) {
			p.add(CodePermission, "/admission/permissions", "does not admit %q with the requested scope", permission.ID)
		}
	}
}

func scopeText(p Permission) string {
	canonical, err := CanonicalJSON(p.Scope)
	if err != nil {
		return string(p.Scope)
	}
	return string(canonical)
}

func resolveLanes(p *report, lanes []Lane, resolutions []LaneResolution) []PlanLane {
	declared := map[string]bool{}
	for _, lane := range lanes {
		declared[lane.ID] = true
	}
	byID := map[string]int{}
	for i, res := range resolutions {
		path := "/executionLanes/" + strconv.Itoa(i)
		if _, twice := byID[res.ID]; twice {
			p.add(CodeInvalidLane, path, "resolves the lane %q a second time", res.ID)
		} else if !declared[res.ID] {
			p.add(CodeInvalidLane, path, "resolves the lane %q, which no node uses", res.ID)
		}
		byID[res.ID] = i
	}
	planned := []PlanLane{}
	for _, lane := range lanes {
		i, ok := byID[lane.ID]
		if !ok {
			p.add(CodeInvalidLane, "/executionLanes", "does not resolve the lane %q", lane.ID)
			continue
		}
		planned = append(planned, resolveLane(p, lane, resolutions[i], "/executionLanes/"+strconv.Itoa(i)))
	}
	return planned
}

func resolveLane(p *report, lane Lane, res LaneResolution, path string) PlanLane {
	isDeclared := func(t Target) bool {
		return slices.ContainsFunc(lane.targets(), func(known Target) bool { return equalTarget(known, t) })
	}
	if !isDeclared(res.Effective) {
		p.add(CodeUnknownSubstitution, path+"/effective", "is no declared target of the lane %q", lane.ID)
	}
	planned := PlanLane{Lane: lane, Effective: withTools(res.Effective), Fallbacks: []Target{}}
	for i, fallback := range res.Fallbacks {
		at := path + "/fallbacks/" + strconv.Itoa(i)
		if !isDeclared(fallback) {
			p.add(CodeUnknownSubstitution, at, "is no declared target of the lane %q", lane.ID)
		}
		if equalTarget(fallback, res.Effective) || slices.ContainsFunc(res.Fallbacks[:i], func(t Target) bool { return equalTarget(t, fallback) }) {
			p.add(CodeDuplicateSubst, at, "repeats a target of this resolution")
		}
		planned.Fallbacks = append(planned.Fallbacks, withTools(fallback))
	}
	return planned
}

// withTools keeps an absent tool list from becoming null in the digest.
func withTools(t Target) Target {
	if t.Tools == nil {
		t.Tools = []string{}
	}
	return t
}
