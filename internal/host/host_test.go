package host

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"conclave/activities"
	"conclave/internal/loop"
	"conclave/internal/record"
)

func payloads(t *testing.T, v any) *commonpb.Payloads {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: raw}}}
}

func noTemporal(t *testing.T) {
	for _, name := range append(profileVariables, "TEMPORAL_NAMESPACE", "TEMPORAL_TLS", "TEMPORAL_API_KEY") {
		t.Setenv(name, "")
	}
}

func TestOnlyAnExplicitProfileLeavesTheLocalServer(t *testing.T) {
	noTemporal(t)
	target, err := Resolve("", "default", "")
	require.NoError(t, err)
	require.True(t, target.Local())

	t.Setenv("TEMPORAL_ADDRESS", "cluster:7233")
	t.Setenv("TEMPORAL_NAMESPACE", "team")
	target, err = Resolve("", "default", "")
	require.NoError(t, err)
	require.Equal(t, "cluster:7233 team TEMPORAL_ADDRESS", target.Address+" "+target.Namespace+" "+target.Named)

	target, err = Resolve("ours:1", "mine", "--address")
	require.NoError(t, err)
	require.Equal(t, "ours:1 mine --address", target.Address+" "+target.Namespace+" "+target.Named)

	t.Setenv("TEMPORAL_CONFIG_FILE", t.TempDir())
	_, err = Resolve("", "default", "")
	require.Error(t, err)
}

func TestActionsComeFromHeartbeats(t *testing.T) {
	pending := []*workflowpb.PendingActivityInfo{
		{HeartbeatDetails: payloads(t, activities.Beat{Step: "03", Action: "edit main.go"})},
		{HeartbeatDetails: payloads(t, activities.Beat{Step: "04"})},
		{HeartbeatDetails: &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte("{")}}}},
		{},
	}
	require.Equal(t, map[string]string{"03": "edit main.go"}, actions(pending))
}

func TestUnpolledMeansThatNobodyBeganAnything(t *testing.T) {
	began := timestamppb.Now()
	cases := []struct {
		name    string
		pending []*workflowpb.PendingActivityInfo
		task    *workflowpb.PendingWorkflowTaskInfo
		want    bool
	}{
		{"between two tasks", nil, nil, false},
		{"workflow task waits", nil, &workflowpb.PendingWorkflowTaskInfo{}, true},
		{"workflow task runs", nil, &workflowpb.PendingWorkflowTaskInfo{StartedTime: began}, false},
		{"activity waits", []*workflowpb.PendingActivityInfo{{}}, nil, true},
		{"one of two runs", []*workflowpb.PendingActivityInfo{{}, {LastStartedTime: began}}, nil, false},
	}
	for _, c := range cases {
		require.Equal(t, c.want, unpolled(c.pending, c.task), c.name)
	}
}

func TestARunWaitsOnlyWhenNothingIsAtWork(t *testing.T) {
	waiting := Look{Known: true, Run: record.Run{Waiting: "interrupted", Stop: record.StopInterrupted}}
	require.True(t, waiting.Waits())
	busy := waiting
	busy.Busy = true // its bundle is being written
	require.False(t, busy.Waits())
	unknown := waiting
	unknown.Known = false
	require.False(t, unknown.Waits())
	require.False(t, Look{Known: true}.Waits())
	require.False(t, Look{Known: true, Run: record.Run{Waiting: "x", Stop: record.Converged}}.Waits())
}

func TestPastHoldsTheInputAndTheLastLanding(t *testing.T) {
	var past Past
	started := &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: payloads(t, loop.Input{RunID: "r"})}}}
	scheduled := func(kind string, v any) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityType: &commonpb.ActivityType{Name: kind}, Input: payloads(t, v)}}}
	}
	for _, event := range []*historypb.HistoryEvent{started, scheduled("RunTurn", loop.TurnRequest{Step: "01"}), {}} {
		require.NoError(t, past.read(event))
	}
	require.Equal(t, "r", past.Input.RunID)
	require.Nil(t, past.Land)
	require.NoError(t, past.read(scheduled("Land", loop.LandRequest{Branch: "conclave/r"})))
	require.Equal(t, "conclave/r", past.Land.Branch)
}

func TestOnlyKeepsSomeTypes(t *testing.T) {
	s := Standing{Open: true, Started: []Attempt{{"1", "RunTurn"}, {"2", "Land"}}}
	require.Equal(t, []Attempt{{"2", "Land"}}, s.Only("Land", "WriteBundle").Started)
	require.True(t, s.Only().Open)
	require.Len(t, s.Started, 2)
}
