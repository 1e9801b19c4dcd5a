package convergence

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func resolution(d Description) Resolution {
	pkg := Package{Source: "conclave", Version: "conclave/v1", Digest: proof("7")}
	r := Resolution{Package: pkg, Admission: Admission{Package: pkg}}
	for _, l := range d.ExecutionLanes {
		r.ExecutionLanes = append(r.ExecutionLanes, LaneResolution{ID: l.ID, Effective: l.Requested})
	}
	return r
}

func TestResolvePlanRefuses(t *testing.T) {
	desc := newRun(t, V1, func(d *Definition) { d.node("A").Lane = lane("A", "p1", "f1", target("p3", "f3")) }).m.Describe()
	desc.Permissions = []Permission{{ID: "net", Scope: json.RawMessage(`{"a":1,"b":2}`)}}
	admit := func(r *Resolution, scope string) {
		r.Admission.Permissions = append(r.Admission.Permissions, Permission{ID: "net", Scope: json.RawMessage(scope)})
	}
	cases := []struct {
		name string
		edit func(*Resolution)
		want []string
	}{
		{"nothing", func(r *Resolution) { admit(r, `{"b":2,"a":1}`) }, nil},
		{"with a fallback", func(r *Resolution) {
			admit(r, `{"b":2,"a":1}`)
			r.ExecutionLanes[0].Fallbacks = []Target{target("p3", "f3")}
		}, nil},
		{"package and digest", func(r *Resolution) { admit(r, `{"a":1,"b":2}`); r.Package.Digest = "sha256:7" }, []string{"INVALID_DIGEST /package/digest", "PACKAGE_NOT_ADMITTED /package"}},
		{"permission", func(r *Resolution) {}, []string{"PERMISSION_NOT_ADMITTED /admission/permissions"}},
		{"permission twice with another scope", func(r *Resolution) { admit(r, `{"a":1,"b":2}`); admit(r, `1`) }, []string{"DUPLICATE_PERMISSION /admission/permissions/1", "PERMISSION_NOT_ADMITTED /admission/permissions"}},
		{"lanes", func(r *Resolution) {
			admit(r, `{"a":1,"b":2}`)
			r.ExecutionLanes[1] = LaneResolution{ID: "A", Effective: target("p1", "f1")}
			r.ExecutionLanes = append(r.ExecutionLanes, LaneResolution{ID: "X"})
		}, []string{"INVALID_LANE_RESOLUTION /executionLanes/1", "INVALID_LANE_RESOLUTION /executionLanes/2", "INVALID_LANE_RESOLUTION /executionLanes"}},
		{"targets", func(r *Resolution) {
			admit(r, `{"a":1,"b":2}`)
			r.ExecutionLanes[0].Effective = target("p9", "f9")
			r.ExecutionLanes[0].Fallbacks = []Target{target("p3", "f3"), target("p3", "f3"), target("p8", "f8"), target("p9", "f9")}
		}, []string{"UNKNOWN_SUBSTITUTION /executionLanes/0/effective", "DUPLICATE_SUBSTITUTION /executionLanes/0/fallbacks/1", "UNKNOWN_SUBSTITUTION /executionLanes/0/fallbacks/2",
			"UNKNOWN_SUBSTITUTION /executionLanes/0/fallbacks/3", "DUPLICATE_SUBSTITUTION /executionLanes/0/fallbacks/3"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := resolution(desc)
			c.edit(&r)
			plan, err := ResolvePlan(desc, r)
			if c.want == nil {
				require.NoError(t, err)
				require.Regexp(t, `^sha256:[0-9a-f]{64}$`, plan.Digest)
				return
			}
			var problem *ValidationError
			require.ErrorAs(t, err, &problem)
			var got []string
			for _, issue := range problem.Issues {
				got = append(got, issue.Code+" "+issue.Path)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestPlanDigestFollowsEngineAndPackage(t *testing.T) {
	desc := newRun(t, V1, func(d *Definition) { d.node("A").Lane = lane("A", "p1", "f1", target("p3", "f3")) }).m.Describe()
	digest := func(edit func(*Resolution)) string {
		r := resolution(desc)
		edit(&r)
		plan, err := ResolvePlan(desc, r)
		require.NoError(t, err)
		return plan.Digest
	}
	same := digest(func(*Resolution) {})
	require.Equal(t, same, digest(func(r *Resolution) {
		r.ExecutionLanes[0], r.ExecutionLanes[1] = r.ExecutionLanes[1], r.ExecutionLanes[0]
	}))
	require.NotEqual(t, same, digest(func(r *Resolution) { r.ExecutionLanes[0].Effective = target("p3", "f3") }))
	require.NotEqual(t, same, digest(func(r *Resolution) {
		r.Package.Version = "conclave/v2"
		r.Admission.Package = r.Package
	}))
}

func TestBounds(t *testing.T) {
	bounds := func(rules Rules, edits ...edit) [2]int64 {
		d := newRun(t, rules, edits...).m.Bounds().Dispatches
		return [2]int64{d.Min.Value, d.Max.Value}
	}
	oneSeat := func(d *Definition) { d.Nodes = d.Nodes[:4]; d.Data.Quorum = 1 }
	require.Equal(t, [2]int64{4, 11}, bounds(V3))
	require.Equal(t, [2]int64{3, 11}, bounds(V3, oneSeat, limits(1, 2, 0)))
	require.Equal(t, [2]int64{4, 22}, bounds(V3, limits(2, 1, 1)))
	require.Equal(t, [2]int64{4, 8}, bounds(V1))
	require.Equal(t, [2]int64{4, 18}, bounds(V1, limits(3, 2, 1)))
	require.Equal(t, [2]int64{5, 18 + 2 + 2}, bounds(V1, full, limits(3, 2, 1)))
}

// TestMaximaAreReached plays the dearest run of both rule sets.
func TestMaximaAreReached(t *testing.T) {
	v3 := newRun(t, V3) // I=2, R=1, c=0: an unmet gate, then every seat twice
	v3.start().done("gen", fields{}).verify("t1", false)
	v3.start().done("gen", fields{}).verify("t1", true).start().says("A", block("F1")).says("B", block("F2"))
	v3.start().done("rep", fields{}).start().done("gen", fields{}).verify("t2", true).start().says("A", pass).says("B", pass).expect("complete")
	require.Equal(t, int64(11), v3.s.attempts())
	require.Equal(t, v3.m.Bounds().Dispatches.Max.Value, v3.s.attempts())

	v1 := newRun(t, V1, limits(2, 1, 1)).draft("t1")
	for range 2 {
		v1.start().failed("A", "TIMEOUT").failed("B", "TIMEOUT").start().says("A", block("F1")).says("B", block("F2"))
		if v1.s.Restarts == 0 {
			v1.repaired("t2").verify("t2", true)
		}
	}
	v1.expect("fail CONVERGENCE_EXHAUSTED")
	require.Equal(t, v1.m.Bounds().Dispatches.Max.Value, v1.s.attempts())
}
