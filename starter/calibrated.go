package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/agent"
	"conclave/internal/calibration"
	"conclave/internal/convergence"
)

// bookFile is where measurements are kept, in the state folder.
const bookFile = "calibration.json"

// book is what was measured on this machine.
func (p *plan) book() (calibration.Book, error) { return readBook(p.config.Host) }

func readBook(h config.Host) (calibration.Book, error) {
	path := filepath.Join(h.StateDir, bookFile)
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return calibration.Book{}, usage("make it readable, or remove it and calibrate again", "the calibration cannot be read: %v", err)
	}
	book, err := calibration.Read(raw)
	if err != nil {
		return book, usage("remove it and calibrate again", "%s: %v", path, err)
	}
	return book, nil
}

// keep adds the result to the book, whatever it is: the latest measurement counts. A seat whose engine could not be asked
// was not measured. It gives the file.
func (p *plan) keep(d calibrationDocument, at time.Time) (string, error) {
	book, err := p.book()
	if err != nil {
		return "", err
	}
	var names []string
	for _, c := range d.Cases {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	for _, s := range d.Seats {
		if s.Lost > 0 {
			continue
		}
		book.Put(calibration.Entry{Key: calibration.Key{Engine: s.Engine, Lens: s.Lens, Words: p.words([]string{s.Lens})}, At: at.Truncate(time.Second),
			Cases: d.CasesDigest, Names: names, Reported: s.Reported, Counts: s.Counts})
	}
	path := filepath.Join(p.config.Host.StateDir, bookFile)
	if err := writeBook(path, book); err != nil {
		return "", usage("set CONCLAVE_STATE_DIR to a folder you can write", "the calibration cannot be kept: %v", err)
	}
	return path, nil
}

// writeBook replaces the file, all at once.
func writeBook(path string, book calibration.Book) error {
	content, err := json.MarshalIndent(book, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".calibration-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // gone once it was renamed
	_, err = file.Write(append(content, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// key is what a measurement of a lane under a lens holds for. The engine is the one that the configuration sees in it.
func (p *plan) key(lane config.Lane, lens string) calibration.Key {
	k := calibration.Key{Engine: calibration.Engine{Adapter: lane.Adapter, Model: lane.Model}, Lens: lens, Words: p.words([]string{lens})}
	if t, err := agent.TargetFor(lane.Adapter, lane.Model, p.agents); err == nil {
		k.Engine = calibration.Engine{Adapter: t.Adapter, Provider: t.Provider, ModelFamily: t.ModelFamily, Model: t.Model}
	}
	return k
}

// checkCalibration refuses voting seats that nobody measured, where findings decide: a run whose reviewers see nothing
// would end green. Nothing is asked of a plan or a dry run.
func (p *plan) checkCalibration(context.Context, *cobra.Command) error {
	if p.config.Discipline != string(convergence.Full) || p.flags.dryRun || p.config.Advisory {
		return nil
	}
	missing, err := p.notCalibrated()
	switch {
	case err != nil:
		return err
	case len(missing) == 0:
		return nil
	case p.config.TrustReviewers:
		for _, m := range missing {
			p.uncalibrated = append(p.uncalibrated, m.seat)
		}
		return nil
	}
	var words []string
	for _, m := range missing {
		words = append(words, m.String())
	}
	what := "discipline full with seats that are not calibrated: " + strings.Join(words, ", ")
	if p.unrun {
		p.config.Warnings = append(p.config.Warnings, what+"; a run needs `starter calibrate`, --trust-reviewers or --advisory")
		return nil
	}
	advisory := "--advisory lets findings not stop the end"
	if p.flags.definition != "" {
		advisory = "--advisory (here data.advisory of the definition) lets findings not stop the end"
	}
	return usage("measure them with `starter calibrate`; or --trust-reviewers lets them gate as they are; or "+advisory, "%s", what)
}

// unmeasured is a voting seat with the reason why it may not gate.
type unmeasured struct{ seat, why string }

func (u unmeasured) String() string { return u.seat + " (" + u.why + ")" }

// notCalibrated lists the voting seats that an engine may sit in which has no calibration that holds under their lens.
func (p *plan) notCalibrated() ([]unmeasured, error) {
	book, err := p.book()
	if err != nil {
		return nil, err
	}
	var missing []unmeasured
	for _, s := range p.config.Seats {
		if !p.machine.Voting(s.Name) {
			continue
		}
		for i, lane := range append([]config.Lane{s.Lane}, s.Substitutions...) {
			why := p.lacks(book, p.key(lane, s.Lens))
			if why == "" {
				continue
			}
			if i > 0 {
				why = fmt.Sprintf("its substitution %s: %s", laneWords(lane), why)
			}
			missing = append(missing, unmeasured{s.Name, why})
			break
		}
	}
	return missing, nil
}

func laneWords(l config.Lane) string {
	if l.Model == "" || l.Model == agent.DefaultModel {
		return l.Adapter
	}
	return l.Adapter + ":" + l.Model
}

// wordsChanged is why a measurement does not hold any more.
const wordsChanged = "its lens or a prompt has changed since it was measured"

// lacks says why an engine under a lens may not gate, "" where it may.
func (p *plan) lacks(book calibration.Book, k calibration.Key) string {
	entry, ok := book.Find(k)
	switch {
	case ok:
		return p.thresholds().Lacks(entry.Counts)
	case book.Known(k):
		return wordsChanged
	}
	return "never measured"
}

func (p *plan) thresholds() calibration.Thresholds {
	return calibration.Thresholds{Precision: p.config.Calibration.MinPrecision, Recall: p.config.Calibration.MinRecall}
}

// uncalibratedSeats are those of a configuration alone, whatever its discipline; only of full, they matter.
func (p *plan) uncalibratedSeats() ([]unmeasured, error) {
	if p.config.Discipline != string(convergence.Full) {
		return nil, nil
	}
	ctx := context.Background()
	for _, step := range []func(context.Context, *cobra.Command) error{p.readOwnPrompts, p.compile} {
		if err := step(ctx, nil); err != nil {
			return nil, err
		}
	}
	return p.notCalibrated()
}

// readOwnPrompts is readPrompts where there is no repository: its lenses and templates are left out.
func (p *plan) readOwnPrompts(ctx context.Context, cmd *cobra.Command) error {
	ours := func(f config.PromptFile) bool { return f.Repository }
	p.config.LensFiles = slices.DeleteFunc(slices.Clone(p.config.LensFiles), ours)
	p.config.PromptFiles = slices.DeleteFunc(slices.Clone(p.config.PromptFiles), ours)
	return p.readPrompts(ctx, cmd)
}
