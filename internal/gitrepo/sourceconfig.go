package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// userConfig reads the user's whole configuration once (system, global, repository, includes). It is the only call
// that sees it; values are picked from it by name and nothing of it is executed.
func (s *Source) userConfig(ctx context.Context) (map[string]string, error) {
	s.configOnce.Do(func() {
		out, err := s.runner.run(ctx, call{gitDir: s.gitDir, user: true}, "config", "--list", "-z", "--show-scope")
		if err != nil {
			s.configErr = fmt.Errorf("read the git configuration: %w", err)
			return
		}
		s.config = s.values(splitZ(out))
	})
	return s.config, s.configErr
}

// fileSettings name files whose content goes into a run, where agents read it.
var fileSettings = []string{"core.excludesfile", "core.attributesfile"}

// values are settings out of pairs of a scope and a record; the last of a name counts. A repository that somebody else
// packed may name any file of this machine: its own settings count for files of its own only.
func (s *Source) values(pairs []string) map[string]string {
	values := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		scope, record := pairs[i], pairs[i+1]
		key, value, _ := strings.Cut(record, "\n")
		if (scope == "local" || scope == "worktree") && slices.Contains(fileSettings, key) && !s.ownFile(s.userFile(value, "")) {
			continue
		}
		values[key] = value
	}
	return values
}

// ownFile says that a path leads to something of the work tree or the git directory, links followed.
func (s *Source) ownFile(path string) bool {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, dir := range []string{s.root, s.gitDir, s.commonDir} {
		top, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(top, at); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// infoFile is a file of the repository's info folder, "" where it leads out of the repository.
func (s *Source) infoFile(name string) string {
	if path := filepath.Join(s.commonDir, "info", name); s.ownFile(path) {
		return path
	}
	return ""
}

// Identity is the user's name and address for a landed commit: the environment's author, the configuration's, else
// conclave. A missing half is filled with conclave's.
func (s *Source) Identity(ctx context.Context) (name, email string) {
	config, err := s.userConfig(ctx)
	if err != nil {
		config = nil
	}
	name = firstOf(os.Getenv("GIT_AUTHOR_NAME"), config["author.name"], config["user.name"], machineName)
	email = firstOf(os.Getenv("GIT_AUTHOR_EMAIL"), config["author.email"], config["user.email"], os.Getenv("EMAIL"), machineEmail)
	return name, email
}

func firstOf(values ...string) string {
	for _, value := range values {
		if strings.TrimSpace(value) != "" {
			return value
		}
	}
	return ""
}

// Excludes gives the user's ignore rules that lie outside the tree: core.excludesFile (or git's default for it), then
// info/exclude, whose later lines win as they do in git.
func (s *Source) Excludes(ctx context.Context) ([]byte, error) {
	config, err := s.userConfig(ctx)
	if err != nil {
		return nil, err
	}
	files := []string{s.userFile(config["core.excludesfile"], "ignore")}
	if s.IsRepository() {
		files = append(files, s.infoFile("exclude"))
	}
	return concatenate(files)
}

// attributes gives the user's attribute rules that lie outside the tree, lowest precedence first.
func (s *Source) attributes(config map[string]string) (global, repository []byte, err error) {
	global, err = concatenate([]string{s.userFile(config["core.attributesfile"], "attributes")})
	if err != nil || !s.IsRepository() {
		return global, nil, err
	}
	repository, err = concatenate([]string{s.infoFile("attributes")})
	return global, repository, err
}

// userFile gives the path of a configured file, or git's default for it in the user's configuration folder.
func (s *Source) userFile(configured, name string) string {
	home := os.Getenv("HOME")
	switch {
	case strings.HasPrefix(configured, "~/"):
		return filepath.Join(home, configured[2:])
	case configured != "" && !filepath.IsAbs(configured):
		return filepath.Join(s.root, configured)
	case configured != "":
		return configured
	}
	if xdg := os.Getenv("XDG_CONFIG_HOME"); xdg != "" {
		return filepath.Join(xdg, "git", name)
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".config", "git", name)
}

// concatenate joins files that exist, each ended by a newline.
func concatenate(files []string) ([]byte, error) {
	var all []byte
	for _, file := range files {
		if file == "" {
			continue
		}
		content, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		// Each file may begin with a byte order mark, which git skips at the start of a file only.
		content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
		all = append(all, content...)
		if len(all) > 0 && all[len(all)-1] != '\n' {
			all = append(all, '\n')
		}
	}
	return all, nil
}
