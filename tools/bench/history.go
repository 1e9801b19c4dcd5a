package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
)

// stage is one activity of a history.
type stage struct {
	name, summary                 string
	writing                       bool
	index                         int // of its scheduled event
	scheduled, started, completed time.Time
}

// stages lists the activities in the order of their scheduling.
func stages(history *historypb.History) []*stage {
	var list []*stage
	byID := map[int64]*stage{}
	for i, e := range history.Events {
		at := e.GetEventTime().AsTime()
		switch {
		case e.GetActivityTaskScheduledEventAttributes() != nil:
			a := e.GetActivityTaskScheduledEventAttributes()
			s := &stage{name: a.GetActivityType().GetName(), index: i, scheduled: at}
			var request struct {
				Writing bool `json:"writing"`
			}
			if p := a.GetInput().GetPayloads(); len(p) > 0 && json.Unmarshal(p[0].GetData(), &request) == nil {
				s.writing = request.Writing
			}
			s.summary = strings.Trim(string(e.GetUserMetadata().GetSummary().GetData()), `"`)
			byID[e.GetEventId()] = s
			list = append(list, s)
		case e.GetActivityTaskStartedEventAttributes() != nil:
			byID[e.GetActivityTaskStartedEventAttributes().GetScheduledEventId()].started = at
		case e.GetActivityTaskCompletedEventAttributes() != nil:
			byID[e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()].completed = at
		}
	}
	return list
}

// length is the time from a workflow's start to its end.
func length(history *historypb.History) time.Duration {
	first, last := history.Events[0], history.Events[len(history.Events)-1]
	return last.GetEventTime().AsTime().Sub(first.GetEventTime().AsTime())
}

// reviewTime is the time from the end of the last step before the seats to the end of the last seat.
func reviewTime(history *historypb.History) time.Duration {
	var before, last time.Time
	for _, s := range stages(history) {
		switch {
		case s.name == "Verify":
			before = s.completed
		case s.name == "RunTurn" && !s.writing && s.completed.After(last):
			last = s.completed
		}
	}
	return last.Sub(before)
}

// printTimeline says for each activity when it was scheduled, how long it waited and how long it ran.
func printTimeline(what string, history *historypb.History) {
	out := os.Stderr
	begin := history.Events[0].GetEventTime().AsTime()
	ms := func(d time.Duration) string { return fmt.Sprintf("%6.1f", float64(d.Microseconds())/1000) }
	fmt.Fprintf(out, "\ntimeline: %s, ms\n  since last end | scheduled at | until started | ran\n", what)
	last := begin
	for _, s := range stages(history) {
		fmt.Fprintf(out, "  %s %8s %8s %9s  %s %s\n", ms(s.scheduled.Sub(last)), ms(s.scheduled.Sub(begin)), ms(s.started.Sub(s.scheduled)), ms(s.completed.Sub(s.started)), s.name, s.summary)
		if s.completed.After(last) {
			last = s.completed
		}
	}
	fmt.Fprintf(out, "  the workflow ended %s ms after its last activity, at %s ms\n", ms(begin.Add(length(history)).Sub(last)), ms(length(history)))
}

// historySizes measures what an iteration with two seats adds to the history, for a small and a large change.
func historySizes(s settings) ([]row, error) {
	var rows []row
	for _, change := range []struct {
		name string
		size int
	}{{"10 lines", 10}, {"5 MB", 5 << 20 / lineBytes}} {
		events, bytes, err := iterationSizes(s, change.size)
		if err != nil {
			return nil, err
		}
		rows = append(rows,
			row{"history events of an iteration, two seats, a change of " + change.name, events, count, 40},
			row{"history bytes of an iteration, two seats, a change of " + change.name, bytes, kibi, 64 << 10})
	}
	return rows, nil
}

const lineBytes = 64

// iterationSizes carries a run of three iterations that each change so many lines.
func iterationSizes(s settings, lines int) (events, bytes []float64, err error) {
	change := func(version string) map[string]string {
		line := "// version " + version
		line += strings.Repeat(".", lineBytes-1-len(line)) + "\n"
		return map[string]string{"calc.go": "package calc\n" + strings.Repeat(line, lines)}
	}
	l, err := newLab(s, []step{
		{Role: "implement", Write: change("1"), Say: "done"},
		{Role: "repair", Round: "1", Write: change("2"), Say: "done"},
		{Role: "repair", Write: change("3"), Say: "done"},
		{Role: "review", Round: "0", Say: blocks}, {Role: "review", Round: "1", Say: blocks},
		{Role: "review", Say: passes},
	})
	if err != nil {
		return nil, nil, err
	}
	defer l.close()
	run, history, _, err := l.run("--preset", "dual-review", "--max-iters", "3", "--verify-cmd", "true")
	if err != nil {
		return nil, nil, err
	}
	if run.Iterations != 3 {
		return nil, nil, fmt.Errorf("%d iterations instead of 3", run.Iterations)
	}
	var borders []int
	for _, s := range stages(history) {
		if s.writing || s.name == "Land" {
			borders = append(borders, s.index)
		}
	}
	for i, from := range borders[:len(borders)-1] {
		size := 0
		for _, e := range history.Events[from:borders[i+1]] {
			size += proto.Size(e)
		}
		events, bytes = append(events, float64(borders[i+1]-from)), append(bytes, float64(size))
	}
	return events, bytes, nil
}
