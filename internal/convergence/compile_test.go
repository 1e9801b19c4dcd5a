package convergence

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// altered returns the plain definition as JSON with text replaced in it.
func altered(pairs ...string) []byte {
	raw := string(encode(define()))
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(raw, pairs[i]) {
			panic("not in the definition: " + pairs[i])
		}
		raw = strings.Replace(raw, pairs[i], pairs[i+1], 1)
	}
	return []byte(raw)
}

func issues(t *testing.T, raw []byte, rules Rules) []string {
	t.Helper()
	_, err := Compile(raw, rules)
	if err == nil {
		return nil
	}
	var problem *ValidationError
	require.ErrorAs(t, err, &problem)
	found := []string{}
	for _, issue := range problem.Issues {
		require.NotEmpty(t, issue.Message)
		found = append(found, issue.Code+" "+issue.Path)
	}
	require.Equal(t, len(found), strings.Count(err.Error(), "\n")+1)
	return found
}

func TestCompileLayers(t *testing.T) {
	cases := []struct {
		name string
		raw  []byte
		want []string
	}{
		{"it compiles", altered(), nil},
		{"no JSON", []byte("{"), []string{"INVALID_JSON_VALUE "}},
		{"no object", []byte("[]"), []string{"INVALID_DEFINITION "}},
		{"empty object: everything at once", []byte("{}"), []string{"INVALID_ID /id", "INVALID_VERSION /definitionVersion", "INVALID_DEFINITION /data", "INVALID_DEFINITION /nodes", "INVALID_DEFINITION /edges"}},
		{"ids", altered(`"id":"d"`, `"id":" d"`, `"id":"gen"`, `"id":"g\u007f"`), []string{"INVALID_ID /id", "INVALID_ID /nodes/0/id"}},
		{"a byte order mark is white space", altered(`"id":"d"`, `"id":"\ufeffd"`), []string{"INVALID_ID /id"}},
		{"next line is none", altered(`"id":"d"`, `"id":"\u0085d"`), nil},
		{"an id may hold a slash", altered(`"id":"A","data"`, `"id":"a/b","data"`), nil},
		{"version", altered(`"definitionVersion":1`, `"definitionVersion":0`), []string{"INVALID_VERSION /definitionVersion"}},
		{"version with a fraction", altered(`"definitionVersion":1`, `"definitionVersion":1.5`), []string{"INVALID_VERSION /definitionVersion"}},
		{"1e0 is an integer", altered(`"definitionVersion":1`, `"definitionVersion":1e0`), nil},
		{"version beyond safe integers", altered(`"definitionVersion":1`, `"definitionVersion":9007199254740992`), []string{"INVALID_VERSION /definitionVersion"}},
		{"duplicate node", altered(`"id":"eval"`, `"id":"gen"`), []string{"DUPLICATE_NODE_ID /nodes/1/id"}},
		{"edges", altered(`"edges":[]`, `"edges":[{"id":"e","source":"gen","target":"x","data":null},{"id":"e","source":"y","target":"gen"},3]`),
			[]string{"UNKNOWN_TARGET_NODE /edges/0/target", "INVALID_DEFINITION /edges/1/data", "DUPLICATE_EDGE_ID /edges/1/id", "UNKNOWN_SOURCE_NODE /edges/1/source", "INVALID_DEFINITION /edges/2"}},
		{"node without data", altered(`"id":"gen","data":{"role":"generator"}`, `"id":"gen"`), []string{"INVALID_DEFINITION /nodes/0/data"}},
		{"role", altered(`"role":"generator"`, `"role":"Generator"`), []string{"INVALID_ROLE /nodes/gen/data/role", "ROLE_COUNT /nodes"}},
		{"no seat", altered(`"role":"seat"`, `"role":"evaluator"`, `"role":"seat"`, `"role":"evaluator"`), []string{"ROLE_COUNT /nodes", "ROLE_COUNT /nodes", "INVALID_QUORUM /data/quorum"}},
		{"conflicting lane", altered(`"id":"B","requested"`, `"id":"A","requested"`), []string{"CONFLICTING_LANE /nodes/B/data/lane"}},
		{"evidence paths on a writer", altered(`"role":"generator"`, `"role":"generator","evidencePaths":["x"]`), []string{"INVALID_EVIDENCE_PATHS /nodes/gen/data/evidencePaths"}},
		{"evidence paths empty", altered(`"role":"seat"`, `"role":"seat","evidencePaths":[]`), []string{"INVALID_EVIDENCE_PATHS /nodes/A/data/evidencePaths"}},
		{"evidence paths blank", altered(`"role":"seat"`, `"role":"seat","evidencePaths":["\u3000"]`), []string{"INVALID_EVIDENCE_PATHS /nodes/A/data/evidencePaths"}},
		{"evidence paths twice", altered(`"role":"seat"`, `"role":"seat","evidencePaths":["x","x"]`), []string{"INVALID_EVIDENCE_PATHS /nodes/A/data/evidencePaths"}},
		{"limits", altered(`"maxIterations":2`, `"maxIterations":0`, `"maxReviewRestarts":1`, `"maxReviewRestarts":-1`, `"quorum":2`, `"quorum":0`, `"seatConcurrency":2`, `"seatConcurrency":"2"`, `"retryCapPerNode":0`, `"retryCapPerNode":0.5`),
			[]string{"INVALID_LIMIT /data/maxIterations", "INVALID_LIMIT /data/maxReviewRestarts", "INVALID_LIMIT /data/quorum", "INVALID_LIMIT /data/seatConcurrency", "INVALID_LIMIT /data/retryCapPerNode"}},
		{"quorum above the seats", altered(`"quorum":2`, `"quorum":3`), []string{"INVALID_QUORUM /data/quorum"}},
		{"diversity", altered(`"requireDiversity":false`, `"requireDiversity":0`), []string{"INVALID_DIVERSITY /data/requireDiversity"}},
		{"skippable no list", altered(`"skippableSeats":[]`, `"skippableSeats":"A"`), []string{"INVALID_SKIPPABLE /data/skippableSeats"}},
		{"skippable unknown", altered(`"skippableSeats":[]`, `"skippableSeats":["A","gen",1,"A"]`), []string{"UNKNOWN_SEAT /data/skippableSeats/1", "UNKNOWN_SEAT /data/skippableSeats/2"}},
		{"lane no object", altered(`"role":"evaluator"`, `"role":"evaluator","lane":null`), []string{"INVALID_SHAPE /nodes/eval/data/lane"}},
		{"lane parts", altered(`"requested":{"adapter":"mock","provider":"p1","modelFamily":"f1","model":"m","tools":[]},"knownSubstitutions":[]`, `"requested":{"adapter":"","provider":7,"modelFamily":"a\nb","tools":["x","x",""]},"knownSubstitutions":3`),
			[]string{"INVALID_TEXT /nodes/A/data/lane/requested/adapter", "INVALID_TEXT /nodes/A/data/lane/requested/provider", "INVALID_TEXT /nodes/A/data/lane/requested/modelFamily", "MISSING_FIELD /nodes/A/data/lane/requested/model",
				"DUPLICATE_ID /nodes/A/data/lane/requested/tools/1", "INVALID_TEXT /nodes/A/data/lane/requested/tools/2", "INVALID_SHAPE /nodes/A/data/lane/knownSubstitutions"}},
		{"lane without targets", altered(`"requested":{"adapter":"mock","provider":"p1","modelFamily":"f1","model":"m","tools":[]},"knownSubstitutions":[]`, `"knownSubstitutions":[[]]`),
			[]string{"MISSING_FIELD /nodes/A/data/lane/requested", "INVALID_SHAPE /nodes/A/data/lane/knownSubstitutions/0"}},
		{"bounds", altered(`"maxIterations":2`, `"maxIterations":9007199254740991`), []string{"INVALID_BOUND /bounds/dispatches/max"}},
		{"unknown fields are fine", altered(`"role":"generator"`, `"role":"generator","note":1`, `"quorum":2`, `"quorum":2,"note":[]`), nil},
	}
	for _, c := range cases {
		for _, rules := range []Rules{V3, V1} {
			t.Run(c.name+" "+rules.Name, func(t *testing.T) { require.Equal(t, c.want, issues(t, c.raw, rules)) })
		}
	}
}

func compileIssues(t *testing.T, rules Rules, edits ...edit) []string {
	t.Helper()
	return issues(t, encode(define(edits...)), rules)
}

func TestPublishedRulesRefuseSelfReview(t *testing.T) {
	sub := func(provider, family string) edit {
		return func(d *Definition) { d.node("gen").Lane = lane("w", "wp", "wf", target(provider, family)) }
	}
	require.Equal(t, []string{"SELF_REVIEW_LANE /nodes/A/data/lane"}, compileIssues(t, V3, sub("p1", "x")))
	require.Equal(t, []string{"SELF_REVIEW_LANE /nodes/B/data/lane"}, compileIssues(t, V3, sub("x", "f2")))
	require.Nil(t, compileIssues(t, V3, sub("x", "y")))
	require.Equal(t, []string{"SELF_REVIEW_LANE /nodes/A/data/lane"}, compileIssues(t, V3, func(d *Definition) {
		d.node("rep").Lane = d.node("A").Lane
	}))
	require.Nil(t, compileIssues(t, V3, func(d *Definition) { d.node("eval").Lane = d.node("A").Lane }), "the evaluator is free")
}

func TestLiveRulesRefuseWhatCannotBeReached(t *testing.T) {
	diverse := func(d *Definition) { d.Data.RequireDiversity = true }
	paths := func(key string) edit { return func(d *Definition) { d.node("A").EvidencePaths = []string{key} } }
	no := false
	cases := []struct {
		name  string
		edits []edit
		want  []string
	}{
		{"every seat is a writer's engine", []edit{writersOn("p1", "f2")}, []string{"NO_VOTING_SEAT /nodes"}},
		{"self-review allowed", []edit{writersOn("p1", "f2"), func(d *Definition) { d.Data.WriterExclusion = &no }}, nil},
		{"quorum counts non-voting seats", []edit{writersOn("p1", "x")}, []string{"UNREACHABLE_QUORUM /data/quorum"}},
		{"quorum counts skippable seats", []edit{func(d *Definition) { d.Data.SkippableSeats = []string{"A", "A"} }}, []string{"UNREACHABLE_QUORUM /data/quorum"}},
		{"declared non-voting", []edit{func(d *Definition) { d.node("A").Voting = &no }}, []string{"UNREACHABLE_QUORUM /data/quorum"}},
		{"diverse", []edit{diverse}, nil},
		{"data-only seats are not diverse", []edit{diverse, func(d *Definition) { d.node("A").Lane = nil }}, []string{"UNREACHABLE_DIVERSITY /data/requireDiversity"}},
		{"one lane cannot stand for two", []edit{diverse, func(d *Definition) {
			d.node("A").Lane = lane("A", "p1", "f1", target("p2", "f2"))
			d.node("B").Lane = lane("B", "p1", "f2")
		}}, []string{"UNREACHABLE_DIVERSITY /data/requireDiversity"}},
		{"a substitution makes it diverse", []edit{diverse, func(d *Definition) { d.node("B").Lane = lane("B", "p1", "f1", target("p2", "f2")) }}, nil},
		{"writer node as evidence", []edit{paths("rep")}, nil},
		{"the requirement as evidence", []edit{paths("requirement")}, nil},
		{"glob as evidence", []edit{paths("docs/**")}, nil},
		{"file at the root as evidence", []edit{paths("README.md")}, nil},
		{"misspelt evidence", []edit{paths("requiremend")}, []string{"UNREPORTED_EVIDENCE /nodes/A/data/evidencePaths/0"}},
		{"evaluator as evidence", []edit{paths("eval")}, []string{"UNREPORTED_EVIDENCE /nodes/A/data/evidencePaths/0"}},
		{"evidence outside", []edit{paths("../x")}, []string{"UNREPORTED_EVIDENCE /nodes/A/data/evidencePaths/0"}},
		{"absolute evidence", []edit{paths("/etc/*")}, []string{"UNREPORTED_EVIDENCE /nodes/A/data/evidencePaths/0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, compileIssues(t, V1, c.edits...)) })
	}
	_, err := Compile(encode(define(writersOn("p1", "f2"))), V1)
	require.ErrorContains(t, err, "--allow-self-review")
	require.ErrorContains(t, err, "data.writerExclusion: false")
}

func TestExtensionsAreValidated(t *testing.T) {
	raw := func(data, seat string) []byte {
		return altered(`"quorum":2`, `"quorum":2`+data, `"role":"seat"`, `"role":"seat"`+seat)
	}
	broken := raw(`,"discipline":"strict","reviewWhen":1,"writerExclusion":"no","requireFindings":null,"advisory":0`, `,"voting":"yes"`)
	require.Equal(t, []string{"INVALID_FLAG /nodes/A/data/voting", "INVALID_DISCIPLINE /data/discipline", "INVALID_REVIEW_WHEN /data/reviewWhen",
		"INVALID_FLAG /data/writerExclusion", "INVALID_FLAG /data/requireFindings", "INVALID_FLAG /data/advisory"}, issues(t, broken, V1))
	require.Nil(t, issues(t, broken, V3), "the published form ignores what it does not know")
	require.Equal(t, []string{"MISSING_FIELD /data/arbiter/id", "MISSING_FIELD /data/arbiter/requested", "MISSING_FIELD /data/arbiter/knownSubstitutions", "INVALID_SHAPE /data/escalation"},
		issues(t, raw(`,"arbiter":{},"escalation":1`, ""), V1))
}

func TestConfirmerAndArbiterAreNoWriters(t *testing.T) {
	require.Equal(t, []string{"SELF_REVIEW_LANE /data/confirmer", "SELF_REVIEW_LANE /data/confirmer"}, compileIssues(t, V1, writersOn("wp", "wf"), func(d *Definition) {
		d.Data.Confirmer, d.Data.Arbiter = lane("c", "wp", "x"), lane("a", "ap", "af")
	}))
}

func TestEscalationTarget(t *testing.T) {
	escalate := func(to Target, declared ...Target) edit {
		return func(d *Definition) {
			d.node("gen").Lane, d.node("rep").Lane = lane("w", "wp", "wf"), lane("r", "wp", "wf", declared...)
			d.Data.Escalation = &to
		}
	}
	bigger := target("wp", "wf")
	bigger.Model = "bigger"
	require.Nil(t, compileIssues(t, V1, escalate(bigger, bigger)))
	require.Equal(t, []string{"UNKNOWN_SUBSTITUTION /data/escalation"}, compileIssues(t, V1, escalate(bigger)))
	require.Equal(t, []string{"ESCALATION_CONFLICT /data/escalation"}, compileIssues(t, V1, escalate(target("p1", "x"), target("p1", "x"))))
}

func TestWarningsAndSeats(t *testing.T) {
	no := false
	m, err := Compile(encode(define(quorum(1), writersOn("p1", "x"), limits(2, 5, 0), func(d *Definition) {
		d.Nodes = append(d.Nodes, Node{ID: "C", Data: NodeData{Role: RoleSeat, Voting: &no}})
	})), V1)
	require.NoError(t, err)
	require.Equal(t, []string{
		`seat "A" does not vote: it shares the provider "p1" with the generator "gen"`,
		`only 1 of 5 repairs can happen: each needs an iteration, and there are 2`,
	}, m.Warnings())
	var seats []string
	for _, s := range m.Seats() {
		seats = append(seats, s.ID+" "+s.Reason)
	}
	require.Equal(t, []string{"A it shares the provider \"p1\" with the generator \"gen\"", "B ", "C declared non-voting"}, seats)
	require.Equal(t, RoleRepair, m.Role("rep"))
	require.Empty(t, m.Role("nobody"))
	require.Equal(t, []string{"gen", "rep"}, m.Writers())
	require.Equal(t, "B", m.Lane("B").ID)
	require.Zero(t, m.Lane("C"))
	require.Equal(t, V1, m.Rules())
}

func TestDigestCoversTheDefinitionAsGiven(t *testing.T) {
	plain, err := Compile(altered(), V3)
	require.NoError(t, err)
	noted, err := Compile(altered(`"quorum":2`, `"quorum":2,"discipline":"full"`), V3)
	require.NoError(t, err)
	require.NotEqual(t, plain.DefinitionDigest(), noted.DefinitionDigest())
	spaced, err := Compile([]byte(" "+string(altered())), V1)
	require.NoError(t, err)
	require.Equal(t, plain.DefinitionDigest(), spaced.DefinitionDigest())
	require.Equal(t, Basic, noted.Definition().Data.Discipline, "an extension is not read under the published rules")
}

func TestDefinitionSurvivesItsOwnJSON(t *testing.T) {
	m, err := Compile(encode(define(full, func(d *Definition) {
		d.Edges = []Edge{{ID: "e", Source: "gen", Target: "eval", Data: json.RawMessage(`{"x":1}`)}}
		d.Data.Confirmer = lane("c", "cp", "cf")
	})), V1)
	require.NoError(t, err)
	again, err := Compile(encode(m.Definition()), V1)
	require.NoError(t, err)
	require.Equal(t, m.Definition(), again.Definition())
}
