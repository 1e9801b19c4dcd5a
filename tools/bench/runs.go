package main

import (
	"fmt"
	"os"
	"time"

	historypb "go.temporal.io/api/history/v1"
)

// dryRuns measures the whole `starter run --dry-run`, from its start to its exit.
func dryRuns(s settings) ([]row, error) {
	l, err := newLab(s, nil)
	if err != nil {
		return nil, err
	}
	defer l.close()
	dry := func() (time.Duration, error) {
		_, took, err := l.starter("run", "--dry-run", "--quiet", "Add a sum")
		return took, err
	}
	cold, err := repeat(5, func(int) (time.Duration, error) {
		l.stopServer()
		if err := os.RemoveAll(l.State); err != nil {
			return 0, err
		}
		return dry()
	})
	if err != nil {
		return nil, err
	}
	again, err := repeat(5, func(int) (time.Duration, error) {
		l.stopServer()
		return dry()
	})
	if err != nil {
		return nil, err
	}
	warm, err := repeat(15, func(int) (time.Duration, error) { return dry() })
	if err != nil {
		return nil, err
	}
	if s.timeline {
		_, history, _, err := l.run("--dry-run")
		if err != nil {
			return nil, err
		}
		printTimeline("dry run", history)
	}
	return []row{
		{"dry run, server running", warm, seconds, 0.5},
		{"dry run, no server yet, new state folder", cold, seconds, 1.5},
		{"dry run, no server, old state folder", again, seconds, 1.5},
	}, nil
}

// sleepingAgents measures what is added to agents that take 2 s each.
func sleepingAgents(s settings) ([]row, error) {
	const pause, path = 2000, 8 // ms of each agent; seconds of draft, review, repair, review
	l, err := newLab(s, []step{
		{Role: "implement", Write: map[string]string{"calc.go": "package calc // 1\n"}, SleepMS: pause, Say: "done"},
		{Role: "repair", Write: map[string]string{"calc.go": "package calc // 2\n"}, SleepMS: pause, Say: "done"},
		{Role: "review", Round: "0", SleepMS: pause, Say: blocks},
		{Role: "review", SleepMS: pause, Say: passes},
	})
	if err != nil {
		return nil, err
	}
	defer l.close()
	if _, _, err := l.starter("run", "--dry-run", "--quiet", "x"); err != nil { // brings up the server
		return nil, err
	}
	var inside []float64
	var last *historypb.History
	wall, err := repeat(5, func(int) (time.Duration, error) {
		run, history, took, err := l.run("--preset", "dual-review")
		if err == nil && run.Iterations != 2 {
			err = fmt.Errorf("%d iterations instead of 2", run.Iterations)
		}
		if err == nil {
			inside, last = append(inside, length(history).Seconds()), history
		}
		return took, err
	})
	if err != nil {
		return nil, err
	}
	if s.timeline {
		printTimeline("two iterations of agents that sleep 2 s", last)
	}
	return []row{
		{"two iterations, agents of 2 s: whole command / critical path of 8 s", over(wall, path), times, 1.05},
		{"the same: workflow alone / critical path", over(inside, path), times, 0},
	}, nil
}

// eightSeats measures a review by eight seats of 3 s.
func eightSeats(s settings) ([]row, error) {
	l, err := newLab(s, []step{
		{Role: "implement", Write: map[string]string{"calc.go": "package calc // 1\n"}, Say: "done"},
		{Role: "review", SleepMS: 3000, Say: passes},
	})
	if err != nil {
		return nil, err
	}
	defer l.close()
	var args []string
	for i := range 8 {
		args = append(args, "--seat", fmt.Sprintf("s%d=codex", i))
	}
	var last *historypb.History
	review, err := repeat(5, func(int) (time.Duration, error) {
		run, history, _, err := l.run(args...)
		if err == nil && len(run.Steps) != 10 {
			err = fmt.Errorf("%d steps instead of 10", len(run.Steps))
		}
		if err != nil {
			return 0, err
		}
		last = history
		return reviewTime(history), nil
	})
	if err != nil {
		return nil, err
	}
	if s.timeline {
		printTimeline("eight seats of 3 s", last)
	}
	return []row{{"review by 8 seats of 3 s, from the verifier's end to the last seat's", review, seconds, 3.5}}, nil
}
