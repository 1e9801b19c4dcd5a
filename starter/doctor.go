package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/calibration"
	"conclave/internal/gitrepo"
	"conclave/internal/localserver"
	"conclave/internal/runindex"
	"conclave/internal/store"
)

// check is one line of doctor.
type check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Needed checks make doctor fail.
	Needed bool   `json:"needed"`
	Says   string `json:"says"`
	// Agent is what was found out about an agent's program.
	Agent *agentState `json:"agent,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Check what a run needs on this machine",
		Long:  "Checks git, the server, the folders and the agents: where their programs are, their versions, which login can be seen,\nand that they start under a reviewer's conditions, without asking a model. Lists what ended runs left behind.\nIt exits with 1 when something is missing that the preset needs.",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks, err := diagnose(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(map[string]any{"checks": checks})
			} else {
				err = a.printChecks(checks)
			}
			if err == nil && slices.ContainsFunc(checks, func(c check) bool { return c.Needed && !c.OK }) {
				return silent(exitFailed)
			}
			return err
		},
	}
	config.PolicyFlags(cmd.Flags())
	addHostFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func diagnose(ctx context.Context, cmd *cobra.Command) ([]check, error) {
	name, _ := cmd.Flags().GetString("config")
	user, named, err := config.ReadFiles(name)
	if err != nil {
		return nil, err
	}
	c, err := config.Load(config.Sources{Flags: cmd.Flags(), User: user, Named: named})
	if err != nil {
		return nil, err
	}
	checks := []check{checkGit(ctx), checkState(c.Host), checkStore(c.Host), checkServer(ctx, c.Host)}
	checks = append(checks, checkSandboxes(ctx, c.Host)...)
	checks = append(checks, checkAgents(ctx, c)...)
	checks = append(checks, checkBook(c)...)
	return append(checks, checkLeftovers(c.Host)...), nil
}

func checkGit(ctx context.Context) check {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	version, err := gitrepo.CheckGit(ctx)
	switch {
	case errors.Is(err, gitrepo.ErrNoGit):
		return check{Name: "git", Needed: true, Says: "not found: " + gitrepo.InstallGit}
	case err != nil:
		return check{Name: "git", Needed: true, Says: err.Error()}
	}
	return check{Name: "git", OK: true, Needed: true, Says: "git version " + version}
}

func checkState(h config.Host) check {
	c := check{Name: "state folder", Needed: true, Says: h.StateDir}
	err := os.MkdirAll(h.StateDir, 0o700)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(h.StateDir, ".doctor-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		c.Says = err.Error() + "; set CONCLAVE_STATE_DIR to a folder you can write"
		return c
	}
	c.OK = true
	return c
}

func checkStore(h config.Host) check {
	c := check{Name: "store", Needed: true, Says: h.Store}
	if _, err := store.OpenFolder(h.Store); err != nil {
		c.Says = err.Error()
		return c
	}
	c.OK = true
	return c
}

// checkServer says which server a run would use. It starts none.
func checkServer(ctx context.Context, h config.Host) check {
	c := check{Name: "Temporal server", Needed: true}
	if h.Address != "" {
		c.OK, c.Needed, c.Says = true, false, "cluster at "+h.Address+" (not dialled)"
		return c
	}
	server, err := localserver.Find(ctx, h.StateDir)
	switch {
	case err == nil:
		c.OK, c.Says = true, fmt.Sprintf("local, running at %s (process %d)", server.Address, server.PID)
	case !errors.Is(err, localserver.ErrNotRunning):
		c.Says = err.Error()
	default:
		c.OK, c.Says = serverBinary(h.StateDir)
	}
	return c
}

func serverBinary(stateDir string) (bool, string) {
	path, err := localserver.Program(stateDir)
	switch {
	case err != nil:
		return false, err.Error()
	case path == "":
		return true, "local, not built yet: the first run builds it, which takes minutes, once (`make build` does it now)"
	}
	if !localserver.Guarded(path) {
		path += "; an agent that looks for its port can reach it and rule on findings (docs/sandbox.md)"
	}
	return true, "local, not running; " + path
}

// checkBook lists what was measured, and the voting seats of the configuration that may not gate yet. They fail doctor
// where a run would be refused for them.
func checkBook(c config.Config) []check {
	p := &plan{config: c}
	if err := p.readOwnPrompts(context.Background(), nil); err != nil {
		return []check{{Name: "calibration", Says: err.Error()}}
	}
	missing, err := p.uncalibratedSeats()
	if err != nil {
		return []check{{Name: "calibration", Says: err.Error()}}
	}
	var checks []check
	needed := c.Discipline == "full" && !c.TrustReviewers && !c.Advisory
	for _, m := range missing {
		checks = append(checks, check{Name: "calibration of " + m.seat, Needed: needed, Says: m.why + ": `starter calibrate` measures it; --trust-reviewers or --advisory do without"})
	}
	book, err := p.book()
	if err != nil {
		return append(checks, check{Name: "calibration", Needed: needed, Says: err.Error()})
	}
	for _, e := range book.Entries {
		if !p.replaced(book, e) {
			checks = append(checks, p.measured(e))
		}
	}
	return checks
}

// replaced reports whether the same engine was measured under today's words of the lens too: then nobody asks for the
// older measurement.
func (p *plan) replaced(book calibration.Book, e calibration.Entry) bool {
	now := e.Key
	now.Words = p.words([]string{e.Lens})
	_, measured := book.Find(now)
	return measured && now != e.Key
}

// measured is one measurement for people.
func (p *plan) measured(e calibration.Entry) check {
	precision, recall := shares(e.Counts)
	line := check{Name: "calibration " + laneWords(config.Lane{Adapter: e.Adapter, Model: e.Model}) + "@" + e.Lens}
	line.Says = fmt.Sprintf("precision %s, recall %s over %d cases on %s", shareWords(precision, e.Counts.Correct, e.Counts.Raised),
		shareWords(recall, e.Counts.Found, e.Counts.Expected), e.Counts.Cases, e.At.Format(time.DateOnly))
	why := p.thresholds().Lacks(e.Counts)
	switch {
	case p.lensText(e.Lens) == "":
		why = "a lens of some repository, which a run there compares"
	case e.Words != p.words([]string{e.Lens}):
		why = wordsChanged
	}
	if line.OK = why == ""; !line.OK {
		line.Says += ": " + why
	}
	return line
}

// checkLeftovers lists workspaces that runs left although they have ended.
func checkLeftovers(h config.Host) []check {
	index := runindex.Open(h.StateDir)
	entries, err := index.List()
	if err != nil {
		return []check{{Name: "leftovers", Says: err.Error()}}
	}
	var checks []check
	for _, e := range entries {
		work := filepath.Join(index.Dir(e.RunID), "work")
		if left, err := os.ReadDir(work); err != nil || len(left) == 0 || index.Carried(e.RunID) {
			continue
		}
		run, err := readRecord(e)
		switch {
		case err != nil:
			checks = append(checks, check{Name: "leftover", Says: work + ": the bundle of its run is gone; remove it"})
		case run.Stop.Final():
			checks = append(checks, check{Name: "leftover", Says: work + ": its run has ended; remove it"})
		case run.Stop == "":
			checks = append(checks, check{Name: "leftover", Says: work + ": its run was killed; `starter resume " + e.RunID + "` or `starter cancel " + e.RunID + "`"})
		}
	}
	if len(checks) == 0 {
		return []check{{Name: "leftovers", OK: true, Says: "none"}}
	}
	return checks
}

func (a *app) printChecks(checks []check) error {
	table := a.table()
	agentless := false
	for _, c := range checks {
		mark := "ok"
		switch {
		case !c.OK && c.Needed:
			mark = "MISSING"
		case !c.OK:
			mark = "note"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", mark, c.Name, c.Says)
		agentless = agentless || !c.OK && c.Needed && strings.HasPrefix(c.Name, agentCheck)
	}
	if err := table.Flush(); err != nil || !agentless {
		return err
	}
	a.print("\n`starter run --dry-run` needs no agent: a stub stands for each")
	return nil
}
