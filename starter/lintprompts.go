package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/prompt"
)

// linting collects what is wrong with texts that agents are told.
type linting struct {
	// Checked lists the files that were read.
	Checked []string `json:"checked"`
	// Steering lists phrases that decide a review before it is done.
	Steering []prompt.Steering `json:"steering"`
	// Problems are other reasons for which a lens or a template cannot be used.
	Problems []lintProblem `json:"problems"`
}

type lintProblem struct {
	File    string `json:"file"`
	Problem string `json:"problem"`
}

func (a *app) lintPromptsCommand() *cobra.Command {
	var f workFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lint-prompts [FILE... | -]",
		Short: "Look for steering in prompts",
		Long: "Names every phrase that decides a review before it is done, such as \"do not flag\", \"at most minor\" or \"the plan chose\", as FILE:LINE: PHRASE, " +
			"and what else a lens or template cannot be used for.\n\nWithout FILE it checks the built-in templates and lenses, and those under `lenses` and `prompts` in conclave.yaml and in your " +
			"configuration, as the commit that a run starts from has them and as they lie there. A FILE is any text; TEMPLATE=FILE is checked as the template of that name.\n\n" +
			"Exits with 0 when nothing was found, else with 2.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var l linting
			var err error
			if len(args) > 0 {
				err = l.files(a, args)
			} else {
				err = l.configured(cmd, f)
			}
			if err != nil {
				return err
			}
			return a.printLinting(l, asJSON)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.workdir, "workdir", ".", "the repository, or any `DIR` in it")
	fs.StringVar(&f.base, "base", "", "the commit or branch `REF` whose files count (default HEAD)")
	fs.String("config", "", "a configuration `FILE` instead of the user's own")
	fs.BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// files checks the named files. One that is given as TEMPLATE=FILE must also do as that template.
func (l *linting) files(a *app, args []string) error {
	for _, arg := range args {
		template, path, named := strings.Cut(arg, "=")
		if !named || !slices.Contains(prompt.TemplateNames(), template) {
			template, path = "", arg
		}
		text, err := a.promptFile(path)
		if err != nil {
			return err
		}
		l.steering(path, text)
		if template != "" {
			l.template(template, path, text)
		}
	}
	return nil
}

// promptFile reads a file, or standard input.
func (a *app) promptFile(path string) ([]byte, error) {
	if path == "-" {
		a.askTerminal("the prompt")
		return io.ReadAll(a.in)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("name a file that exists, TEMPLATE=FILE, or - for standard input", "%v", err)
	}
	return text, nil
}

// configured checks what a run from here would tell its agents.
func (l *linting) configured(cmd *cobra.Command, f workFlags) error {
	builtIn := prompt.BuiltIn()
	for _, name := range slices.Sorted(maps.Keys(builtIn)) {
		l.steering("built-in "+name, []byte(builtIn[name]))
	}
	ctx := cmd.Context()
	p := &plan{flags: f, unrun: true}
	if err := p.openSource(ctx, cmd); err != nil {
		return err
	}
	if err := p.load(ctx, cmd); err != nil {
		return err
	}
	reader := baseReader{source: p.source, base: p.base}
	defer reader.close()
	if err := l.each(ctx, &reader, "lens", p.config.LensFiles, l.lens); err != nil {
		return err
	}
	return l.each(ctx, &reader, "template", p.config.PromptFiles, l.template)
}

// each checks files of the configuration. One of the repository is checked as the base has it, which is what a run
// reads, and also as it lies there when that differs.
func (l *linting) each(ctx context.Context, reader *baseReader, what string, files []config.PromptFile, check func(name, file string, text []byte)) error {
	for _, f := range files {
		there, err := os.ReadFile(filepath.Join(reader.source.Root(), filepath.FromSlash(f.Path)))
		beside := f.Repository && reader.source.IsRepository() && err == nil
		texts, err := reader.promptTexts(ctx, what, []config.PromptFile{f})
		if err != nil {
			return err
		}
		beside = beside && !bytes.Equal(unixLines(there), unixLines(texts[0].text))
		name := f.Path
		if beside {
			name += " (as committed)"
		}
		check(f.Name, name, texts[0].text)
		if beside {
			check(f.Name, f.Path, there)
		}
	}
	return nil
}

// steering checks a text for phrases only.
func (l *linting) steering(file string, text []byte) {
	l.Checked = append(l.Checked, file)
	l.Steering = append(l.Steering, prompt.Lint(file, text)...)
}

// lens checks a user's lens.
func (l *linting) lens(name, file string, text []byte) {
	l.steering(file, text)
	if err := prompt.CheckLens(name, file, text); err != nil {
		l.faults(file, err)
	}
}

// template checks a user's template. What steers is named already.
func (l *linting) template(name, file string, text []byte) {
	if !slices.Contains(l.Checked, file) {
		l.steering(file, text)
	}
	if _, err := prompt.ParseOverrides(map[string]string{name: string(text)}); err != nil {
		l.faults(file, err)
	}
}

// faults takes in the lines of an error that say something else than where the text steers.
func (l *linting) faults(file string, err error) {
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimPrefix(strings.TrimSpace(line), file+": ")
		if !strings.Contains(line, "steers the review: ") {
			l.Problems = append(l.Problems, lintProblem{file, line})
		}
	}
}

func (a *app) printLinting(l linting, asJSON bool) error {
	found := len(l.Steering) + len(l.Problems)
	code := 0
	if found > 0 {
		code = exitUsage
	}
	if asJSON {
		if l.Steering == nil {
			l.Steering = []prompt.Steering{}
		}
		if l.Problems == nil {
			l.Problems = []lintProblem{}
		}
		if err := a.printJSON(l); err != nil {
			return err
		}
		return silent(code)
	}
	for _, s := range l.Steering {
		a.print("%s:%d: %s", printable(s.File), s.Line, printable(s.Phrase))
	}
	for _, p := range l.Problems {
		a.print("%s: %s", printable(p.File), printable(p.Problem))
	}
	if found == 0 {
		a.print("nothing steers in %s", several(len(l.Checked), "text"))
		return nil
	}
	return &fault{code: code, what: fmt.Sprintf("%s in %s", several(found, "fault"), several(len(l.Checked), "text")),
		remedy: ifElse(len(l.Steering) > 0, notToBeFound, "begin with the built-in text; docs/lenses.md says what a lens and a template need")}
}

// several is a number of things.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
