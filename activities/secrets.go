package activities

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.temporal.io/sdk/temporal"

	"conclave/internal/agent"
	"conclave/internal/secret"
)

// secretsOf makes the scanner of a process: the kept rules, and the values of its environment's keys and of the
// variables that its configuration gives to agents.
func secretsOf(o Options) *secret.Scanner {
	names := keyNames(o.Agents)
	variables := secret.KeyVariables(append(o.Environ[:len(o.Environ):len(o.Environ)], o.Agents.Environ...), names)
	for _, extra := range o.Agents.ExtraEnv {
		var given []string
		for name, value := range extra {
			given = append(given, name+"="+value)
		}
		variables = append(variables, secret.KeyVariables(given, names)...)
	}
	return secret.New(variables...)
}

// keyNames are the variables that hold a login of an agent.
func keyNames(s agent.Settings) []string {
	var names []string
	for _, name := range agent.Names() {
		if adapter, err := s.Lookup(name); err == nil {
			names = append(names, adapter.Facts().Keys...)
		}
	}
	return names
}

// spotless takes secrets out of a result. Nothing else of it changes: a mark means nothing in JSON.
func spotless[Result any](a *Activities, result *Result) (*Result, error) {
	raw, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("look for secrets in a result: %w", err)
	}
	if a.secrets.Clean(raw) {
		return result, nil
	}
	out := new(Result)
	if err := json.Unmarshal(a.secrets.Redact(raw), out); err != nil {
		return nil, fmt.Errorf("take secrets out of a result: %w", err)
	}
	return out, nil
}

// bounded is a text that fits a history and holds no secret. It is looked at before it is cut: a part of a secret looks
// like nothing.
func (a *Activities) bounded(text string) string { return bounded(a.secrets.String(text)) }

// hide takes secrets out of an activity's error, which goes into the history.
func (a *Activities) hide(err *error) {
	if *err == nil {
		return
	}
	var told *temporal.ApplicationError
	text := (*err).Error()
	if a.secrets.Clean([]byte(text)) {
		return
	}
	if !errors.As(*err, &told) {
		*err = errors.New(a.secrets.String(text))
		return
	}
	*err = temporal.NewApplicationErrorWithOptions(a.secrets.String(told.Message()), told.Type(), temporal.ApplicationErrorOptions{
		NonRetryable: told.NonRetryable(), Category: told.Category(), NextRetryDelay: told.NextRetryDelay(),
	})
}

// hidden writes to a stream through a writer that takes secrets out.
func (a *Activities) hidden(to io.Writer, write func(io.Writer) error) error {
	w := a.secrets.Writer(to)
	return errors.Join(write(w), w.Close())
}

// cleanFile takes the secrets out of a file, of any size. It is written again only where it holds one, and need not be
// there: a program that never began left none.
func (a *Activities) cleanFile(path string) error {
	hits, err := a.copyClean(path, io.Discard)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || hits == 0:
		return err
	}
	out, err := os.OpenFile(path+".clean", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out.Name()) }()
	_, err = a.copyClean(path, out)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}

func (a *Activities) copyClean(path string, to io.Writer) (hits int, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }()
	w := a.secrets.Writer(to)
	_, err = io.Copy(w, in)
	err = errors.Join(err, w.Close()) // what was held back is looked at now
	return len(w.Hits()), err
}
