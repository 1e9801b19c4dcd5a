package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/gitrepo"
	"conclave/internal/runindex"
)

// addHostFlags adds the flags of where runs live and what runs them.
func addHostFlags(cmd *cobra.Command) {
	config.HostFlags(cmd.Flags())
	cmd.Flags().String("config", "", "a configuration `FILE` instead of the user's own")
}

// hostSettings loads the part of the configuration that is no policy of a run.
func hostSettings(cmd *cobra.Command, entry runindex.Entry) (config.Config, error) {
	user, named, err := config.ReadFiles(configFile(cmd, entry))
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(config.Sources{Flags: cmd.Flags(), User: user, Named: named, HostOnly: true})
}

// configFile is the file of --config, else the one that the run was started with.
func configFile(cmd *cobra.Command, entry runindex.Entry) string {
	if f := cmd.Flags().Lookup("config"); f != nil && f.Changed {
		return f.Value.String()
	}
	if os.Getenv("CONCLAVE_CONFIG") == "" && entry.Config != "" {
		if _, err := os.Stat(entry.Config); err == nil {
			return entry.Config
		}
	}
	return ""
}

func openIndex(cmd *cobra.Command) (runindex.Index, error) {
	c, err := hostSettings(cmd, runindex.Entry{})
	if err != nil {
		return runindex.Index{}, err
	}
	return runindex.Open(c.Host.StateDir), nil
}

// findRun finds a run by the state folder's index, else in the bundles of the
// repository that holds the current directory. @last is that repository's
// newest run; where it has none, the newest of all is taken and said so.
func findRun(cmd *cobra.Command, name string) (runindex.Index, runindex.Entry, error) {
	index, err := openIndex(cmd)
	if err != nil {
		return index, runindex.Entry{}, err
	}
	all, err := index.List()
	if err != nil {
		return index, runindex.Entry{}, err
	}
	here, _, whereErr := gitrepo.WorkTreeRoot(".")
	entry, missing := runindex.Find(all, name, here)
	if whereErr == nil && (unknownRun(missing) || missing == nil && name == runindex.Last && entry.Source != here) {
		if entry, err := runindex.Find(runindex.Bundles(here), name, here); err == nil {
			return index, entry, nil
		}
	}
	if missing == nil && name == runindex.Last && entry.Source != here {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: no run was started here; the newest run, %s, is of %s\n", entry.RunID, entry.Source)
	}
	return index, entry, missing
}

// unknownRun says that a name fits no run at all.
func unknownRun(err error) bool {
	var unknown *runindex.NotFoundError
	return errors.As(err, &unknown) && len(unknown.Fits) == 0
}

// policyFile reads conclave.yaml as the base has it: the change under work cannot rewrite its own rules.
func policyFile(ctx context.Context, source *gitrepo.Source, base gitrepo.Commit) (config.File, error) {
	content, ok, err := baseFile(ctx, source, base, config.RepositoryFile)
	if err != nil || !ok {
		return config.File{}, err
	}
	name := config.RepositoryFile
	if base.ID != "" {
		name += " of " + base.ID[:12]
	}
	return config.File{Name: name, Content: content, Repository: true}, nil
}

// baseFile reads a file of the base commit, or of a directory that is no repository.
func baseFile(ctx context.Context, source *gitrepo.Source, base gitrepo.Commit, path string) ([]byte, bool, error) {
	reader := baseReader{source: source, base: base}
	defer reader.close()
	return reader.file(ctx, path)
}

// sourceFault turns a condition of the user's directory into a usage error.
func sourceFault(err error) error {
	for _, known := range []struct {
		is     error
		remedy string
	}{
		{gitrepo.ErrNotDirectory, "name a directory with --workdir"},
		{gitrepo.ErrBareRepository, "name a work tree with --workdir"},
		{gitrepo.ErrCorruptRepository, "repair the repository (`git fsck` says what is broken) or clone it again"},
		{gitrepo.ErrForeign, "if you trust it: `git config --global --add safe.directory DIR`, with the work tree's root"},
		{gitrepo.ErrNoCommit, "make a first commit, for instance `git commit --allow-empty -m start`"},
		{gitrepo.ErrUnresolved, "name a commit, branch or tag that exists with --base"},
		{gitrepo.ErrNoRepository, "leave out --base, or make a repository with `git init`"},
		{gitrepo.ErrNoGit, gitrepo.InstallGit},
	} {
		if errors.Is(err, known.is) {
			return usage(known.remedy, "%v", err)
		}
	}
	return err
}
