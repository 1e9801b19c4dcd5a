package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"conclave/internal/record"
)

const (
	// wholeLimit bounds a blocking review in the report, in bytes: far above any real one.
	wholeLimit = 1 << 20
	// passLimit and tailLimit bound what is only for orientation; the file is linked.
	passLimit = 4 << 10
	tailLimit = 8 << 10
)

// The names, without extension, under which steps keep what the report quotes.
var (
	resultStems  = []string{"result"}
	stderrStems  = []string{"stderr"}
	setupStems   = []string{"setup"}
	outputStems  = []string{"output", "verify"}
	failureStems = []string{"failure", "failures", "failing"}
)

// excerpt is a quoted part of a file of the bundle.
type excerpt struct {
	// file is the path in the bundle.
	file    string
	content string
	cut     bool
}

// quotes are the excerpts of one step; a nil one is not there.
type quotes struct{ result, stderr, setup, output, failure, fixReport *excerpt }

// excerpts reads what the report quotes from the bundle's own files.
func excerpts(out *folder, run record.Run) map[string]quotes {
	all := map[string]quotes{}
	for _, step := range run.Steps {
		dir, ok := stepDir(step)
		if !ok {
			continue
		}
		limit := int64(passLimit)
		if step.Verdict != "pass" {
			limit = wholeLimit
		}
		q := quotes{
			result:  read(out, dir, step, resultStems, limit, true),
			stderr:  read(out, dir, step, stderrStems, tailLimit, false),
			setup:   read(out, dir, step, setupStems, tailLimit, false),
			output:  read(out, dir, step, outputStems, tailLimit, false),
			failure: read(out, dir, step, failureStems, tailLimit, true),
		}
		if step.Turn == record.TurnRepair {
			q.fixReport = read(out, dir, step, fixReportStems, wholeLimit, true)
		}
		if step.Role == record.RoleVerifier && q.failure == nil {
			q.failure = q.result // a verifier's result is its failing checks
		}
		all[step.ID] = q
	}
	return all
}

func read(out *folder, dir string, step record.Step, stems []string, limit int64, head bool) *excerpt {
	name := find(step, stems)
	if name == "" {
		return nil
	}
	file := path.Join(dir, name)
	content, cut, err := out.excerpt(file, limit, head)
	if err != nil || strings.TrimSpace(content) == "" {
		return nil
	}
	return &excerpt{file: file, content: content, cut: cut}
}

// find is the step's artifact with one of the stems; the last attempt's wins,
// because a lost attempt's files say nothing about the end.
func find(step record.Step, stems []string) string {
	best, bestRank := "", -1
	for name := range step.Artifacts {
		stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
		if !validName(name) || !slices.Contains(stems, stem) {
			continue
		}
		rank := 0
		if dir := path.Dir(name); dir != "." {
			if _, err := fmt.Sscanf(dir, "attempt-%d", &rank); err != nil {
				continue
			}
		}
		if rank > bestRank || (rank == bestRank && name < best) {
			best, bestRank = name, rank
		}
	}
	return best
}
