package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"conclave/activities"
	"conclave/internal/gitrepo"
	"conclave/internal/record"
	"conclave/internal/report"
	"conclave/internal/runindex"
)

func (a *app) applyCommand() *cobra.Command {
	var target string
	var force, deletions bool
	cmd := &cobra.Command{
		Use:   "apply [flags] RUN",
		Short: "Copy a run's change into a work tree",
		Long: "Copies the files that a run added or changed into a directory and lists them. It deletes nothing unless asked,\n" +
			"refuses a run that did not converge and files that changed since the run's base unless forced, and writes all or nothing.\n" +
			"Without --workdir it writes only where the run was started, or into a clone or worktree that has the run's base.",
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			index, entry, err := findRun(cmd, args[0])
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("workdir") && !force {
				if err := ownPlace(cmd.Context(), entry, target); err != nil {
					return err
				}
			}
			return a.apply(cmd.Context(), index, entry, gitrepo.ApplyOptions{Target: target, Force: force, WithDeletions: deletions})
		},
	}
	addHostFlags(cmd)
	cmd.Flags().StringVar(&target, "workdir", ".", "where to copy to: `DIR`")
	cmd.Flags().BoolVar(&force, "force", false, "also a run that did not converge, also over files that changed since its base")
	cmd.Flags().BoolVar(&deletions, "with-deletions", false, "also delete what the run deleted")
	return cmd
}

// ownPlace refuses a directory that nobody named and that has nothing to do with the run: neither its source, nor a
// repository that has the commit it began with.
func ownPlace(ctx context.Context, entry runindex.Entry, target string) error {
	source, err := gitrepo.OpenSource(ctx, target)
	if err != nil {
		return sourceFault(err)
	}
	if source.Root() == entry.Source {
		return nil
	}
	if run, err := readRecord(entry); err == nil && run.Head != "" && source.IsRepository() {
		if _, err := source.Resolve(ctx, run.Head); err == nil {
			return nil
		}
	}
	return usage("go there, or name the directory with --workdir", "run %s is of %s, and %s does not have the commit it began with", entry.RunID, entry.Source, source.Root())
}

func (a *app) apply(ctx context.Context, index runindex.Index, entry runindex.Entry, o gitrepo.ApplyOptions) error {
	run, err := readRecord(entry)
	if err != nil {
		return usage("its bundle was removed or is damaged: "+entry.Bundle, "run %s cannot be applied: %v", entry.RunID, err)
	}
	if err := mayApply(run, o.Force); err != nil {
		return err
	}
	tree := finalTree(run)
	if tree == "" {
		a.say("run %s changed nothing", entry.RunID)
		return nil
	}
	repo, err := a.runRepository(ctx, index, entry)
	if err != nil {
		return err
	}
	if o.Target, _, err = gitrepo.WorkTreeRoot(o.Target); err != nil {
		return sourceFault(err)
	}
	o.Base, o.Commit = run.Head, tree
	applied, err := repo.Apply(ctx, o)
	var conflict *gitrepo.ConflictError
	if errors.As(err, &conflict) {
		return a.explainConflicts(conflict)
	}
	if err != nil {
		return &fault{code: exitStep, what: err.Error()}
	}
	a.printApplied(applied, o.Target)
	return nil
}

func mayApply(run record.Run, force bool) error {
	switch {
	case run.Kind == record.KindReview:
		return usage("merge or apply "+short(run.Head)+" itself", "run %s is a review: it changed nothing that could be applied", run.RunID)
	case run.Stop == record.Converged || run.Stop == record.Ruled || force:
		return nil
	case !run.Stop.Final():
		return usage("wait for its end, resume it, or apply what there is with --force", "run %s has not ended: %s", run.RunID, report.Outcome(run))
	}
	return &fault{code: exitFailed, what: "run " + run.RunID + " did not converge: " + report.Outcome(run),
		remedy: "look at it with `starter show --diff " + run.RunID + "`, then apply it with --force"}
}

// finalTree is the tree after the last writing step that succeeded.
func finalTree(run record.Run) string {
	tree := ""
	for _, s := range run.Steps {
		if s.Role == record.RoleImplementer && s.Status == record.OK && s.Tree != "" {
			tree = s.Tree
		}
	}
	return tree
}

func (a *app) runRepository(ctx context.Context, index runindex.Index, entry runindex.Entry) (*gitrepo.RunRepo, error) {
	dir := activities.RepoDir(index.StateDir(), entry.RunID)
	if _, err := os.Stat(dir); err != nil {
		return nil, usage("apply it where the run was started (CONCLAVE_STATE_DIR), or use its branch or `git apply` with "+entry.Bundle+"/changes.diff",
			"the files of run %s are not in the state folder %s", entry.RunID, index.StateDir())
	}
	repo, err := gitrepo.OpenRunRepo(ctx, dir)
	if err != nil {
		return nil, &fault{code: exitStep, what: err.Error()}
	}
	return repo, nil
}

func (a *app) explainConflicts(c *gitrepo.ConflictError) error {
	forced := false
	for _, path := range c.Conflicts {
		a.say("conflict: %s: %s", printable(path.Path), printable(path.Reason))
		forced = forced || path.Forced
	}
	remedy := "resolve them by hand, or merge the run's branch"
	if forced {
		remedy += "; --force overwrites files that changed since the run's base"
	}
	return &fault{code: exitFailed, what: "nothing was written to " + c.Target, remedy: remedy}
}

func (a *app) printApplied(applied gitrepo.Applied, target string) {
	for _, group := range []struct {
		verb  string
		paths []string
	}{
		{"wrote", applied.Written}, {"deleted", applied.Deleted}, {"unchanged", applied.Unchanged}, {"skipped submodule", applied.Skipped},
	} {
		for _, path := range group.paths {
			a.print("%s %s", group.verb, printable(path))
		}
	}
	for _, path := range applied.SkippedDeletions {
		a.say("not deleted (use --with-deletions): %s", printable(path))
	}
	a.say("%d written, %d deleted in %s", len(applied.Written), len(applied.Deleted), target)
}
