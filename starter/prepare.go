package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/agent"
	"conclave/internal/convergence"
	"conclave/internal/gitrepo"
)

// workFlags say what a run works on.
type workFlags struct {
	workdir, base string
	includeDirty  bool
	dryRun        bool
	constraints   []string
	definition    string
}

func (f *workFlags) add(cmd *cobra.Command) {
	config.PolicyFlags(cmd.Flags())
	addHostFlags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.workdir, "workdir", ".", "the directory to work on: `DIR`")
	fs.StringVar(&f.base, "base", "", "the commit to start from: `REF` (default HEAD)")
	fs.BoolVar(&f.includeDirty, "include-dirty", false, "start from the uncommitted state")
	fs.StringArrayVar(&f.constraints, "constraint", nil, "a file with binding constraints: `FILE` (repeatable)")
	fs.StringVar(&f.definition, "definition", "", "run a convergence definition, which decides nodes, engines and limits: `FILE`")
	fs.BoolVar(&f.dryRun, "dry-run", false, "let the stub stand for every agent: no agent binary, no network")
}

// plan is a run that was checked and not started yet.
type plan struct {
	flags workFlags
	// unrun says that nothing will be started: what is not supported yet is a warning then.
	unrun       bool
	config      config.Config
	agents      agent.Settings
	source      *gitrepo.Source
	base        gitrepo.Commit // empty for a directory that is no repository
	definition  []byte
	machine     *convergence.Machine
	resolved    convergence.Plan
	requirement []byte
	// selfReviewed says that a seat of the writer's engine may count.
	selfReviewed bool
	identify     config.Identify
	constraints  []constraint
	// lenses and templates are the user's own texts that stand in prompts.
	lenses, templates []promptText
	// uncalibrated names the voting seats that gate on trust alone.
	uncalibrated []string
	// gate is the change that `starter review` reviews, nil for a run.
	gate *gate
	// folder says what is copied of a directory that is no repository.
	folder string
	// dirty waits for the list of uncommitted paths.
	dirty func() ([]string, error)
}

type constraint struct {
	name string
	text []byte
}

// prepare checks everything that can be checked before anything starts.
func prepare(ctx context.Context, cmd *cobra.Command, p *plan) error {
	steps := []func(context.Context, *cobra.Command) error{p.openSource, p.checkFolder, p.load, p.readPrompts, p.compile, p.checkCalibration, p.readConstraints}
	for _, step := range steps {
		if err := step(ctx, cmd); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) openSource(ctx context.Context, _ *cobra.Command) error {
	source, err := gitrepo.OpenSource(ctx, p.flags.workdir)
	if err != nil {
		return sourceFault(err)
	}
	p.source = source
	if source.IsRepository() || p.flags.base != "" {
		if p.base, err = source.Resolve(ctx, p.flags.base); err != nil {
			return sourceFault(err)
		}
	}
	p.dirty = func() ([]string, error) { return nil, nil }
	if source.IsRepository() && !p.flags.includeDirty {
		p.lookForDirt(ctx)
	}
	return nil
}

// lookForDirt lists uncommitted paths in the background: in a large repository that takes a while.
func (p *plan) lookForDirt(ctx context.Context) {
	done := make(chan struct{})
	var left []string
	var err error
	go func() {
		defer close(done)
		left, err = p.source.Dirty(ctx)
	}()
	p.dirty = func() ([]string, error) {
		<-done
		return left, err
	}
}

func (p *plan) load(ctx context.Context, cmd *cobra.Command) error {
	name, _ := cmd.Flags().GetString("config")
	user, named, err := config.ReadFiles(name)
	if err != nil {
		return err
	}
	policy, err := policyFile(ctx, p.source, p.base)
	if err != nil {
		return sourceFault(err)
	}
	p.notePolicy(ctx, cmd.ErrOrStderr())
	definition, err := p.definitionFile(cmd)
	if err != nil {
		return err
	}
	p.config, err = config.Load(config.Sources{Flags: cmd.Flags(), User: user, Repository: policy, Named: named, Definition: definition, Unrun: p.flags.dryRun || p.unrun})
	return err
}

func (p *plan) definitionFile(cmd *cobra.Command) (config.File, error) {
	if !cmd.Flags().Changed("definition") {
		return config.File{}, nil
	}
	content, err := readDocument("--definition", p.flags.definition)
	return config.File{Name: p.flags.definition, Content: content}, err
}

func (p *plan) compile(context.Context, *cobra.Command) error {
	p.agents = p.config.Host.AgentSettings(os.Environ())
	compile := p.config.Compile
	if p.gate != nil {
		p.config = p.config.ForGate()
		compile = p.config.CompileGate
	}
	var err error
	if p.identify, err = p.config.Identify(p.agents); err != nil {
		return err
	}
	if p.definition, p.machine, err = compile(p.identify); err != nil {
		return err
	}
	p.selfReviewed = config.SelfReviewed(p.machine.Definition())
	p.resolved, err = resolvePlan(p)
	return err
}

func (p *plan) readConstraints(context.Context, *cobra.Command) error {
	for _, path := range p.flags.constraints {
		text, err := os.ReadFile(path)
		if err != nil {
			return usage("name a readable file", "--constraint: %v", err)
		}
		// Reviewers read it word for word, so it may decide no review either.
		if found := steeringIn(promptText{file: path, text: text}); len(found) > 0 {
			return errors.Join(found...)
		}
		p.constraints = append(p.constraints, constraint{name: path, text: text})
	}
	return nil
}

// checkBinaries makes sure that every agent of the run can be started here.
func (p *plan) checkBinaries() error {
	names, err := p.agentsHere()
	for _, name := range names {
		if err := findBinary(name, p.agents); err != nil {
			return err
		}
	}
	return err
}

// agentsHere are the agents that this machine has to start. On a cluster they are the workers' business.
func (p *plan) agentsHere() ([]string, error) {
	target, err := targetOf(p.config)
	if err != nil || p.flags.dryRun || !target.Local() {
		return nil, err
	}
	return p.config.Adapters(), nil
}

// missingAgents says which agents a run of the plan would miss here: what cannot be seen in a plan is found out when it
// is too late.
func (p *plan) missingAgents() []string {
	names, err := p.agentsHere()
	if err != nil {
		return []string{err.Error()}
	}
	var missing []string
	for _, name := range names {
		if err := findBinary(name, p.agents); err != nil {
			what := err.Error()
			var f *fault
			if errors.As(err, &f) {
				what = f.what
			}
			missing = append(missing, oneLine(what)+": a run of this plan is refused here; `starter doctor` tells more")
		}
	}
	return missing
}

func findBinary(name string, settings agent.Settings) error {
	if name == agent.StubName {
		return nil
	}
	_, err := agent.ResolveBinary(name, settings)
	var missing *agent.MissingBinary
	if errors.As(err, &missing) {
		return usage("install it, or set "+missing.Variable+" to its path; `starter doctor` checks it, --dry-run needs no agent",
			"the agent %s cannot be run: %s %s", missing.Adapter, missing.Binary, missing.Reason)
	}
	return err
}

// readRequirement takes the requirement from the argument, or from standard input for "-".
func (a *app) readRequirement(args []string) ([]byte, error) {
	text := []byte(args[0])
	if args[0] == "-" {
		a.askTerminal("the requirement")
		var err error
		if text, err = io.ReadAll(a.in); err != nil {
			return nil, usage("pipe the requirement into standard input", "the requirement cannot be read: %v", err)
		}
	}
	if strings.TrimSpace(string(text)) == "" {
		return nil, usage(`write it in quotes: starter run "Add an endpoint"`, "the requirement is empty")
	}
	return text, nil
}

// oneRequirement is the argument check of run and plan.
func oneRequirement(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usage(`write it in quotes: `+cmd.CommandPath()+` "Add an endpoint"; - reads it from standard input`, "the requirement is missing")
	case 1:
		return nil
	}
	return usage(`write it in quotes: `+cmd.CommandPath()+` "`+strings.Join(args, " ")+`"`, "the requirement is %d arguments instead of one", len(args))
}
