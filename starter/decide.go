package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"conclave/internal/convergence"
)

// decideDocument is what decide prints.
type decideDocument struct {
	// Decision is the first command; null when nothing can start before events arrive.
	Decision  *convergence.Command            `json:"decision"`
	Decisions []convergence.Command           `json:"decisions"`
	Events    int                             `json:"events"`
	Bounds    convergence.Bounds              `json:"bounds"`
	Seats     map[string]*convergence.Outcome `json:"seats"`
	Rejected  []convergence.Rejection         `json:"engineReceiptRejections,omitempty"`
	Digest    string                          `json:"definitionDigest"`
	Plan      string                          `json:"planDigest,omitempty"`
}

func (a *app) decideCommand() *cobra.Command {
	var definition, events, resolution, rules string
	cmd := &cobra.Command{
		Use:   "decide --definition D.json --events E.json [flags]",
		Short: "Fold recorded events and print what comes next",
		Long:  "Folds recorded events over a convergence definition and prints the next commands as one JSON object.",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			set, err := convergence.RulesByName(rules)
			if err != nil {
				names := []string{convergence.V3.Name, convergence.V1.Name}
				return usage(didYouMean(rules, names, "use convergence/v3 or conclave/v1"), "--rules: unknown value %q", rules)
			}
			return a.decide(set, definition, events, resolution)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&definition, "definition", "", "the definition: `D.json`")
	fs.StringVar(&events, "events", "", "the events, a JSON list: `E.json`")
	fs.StringVar(&resolution, "resolution", "", "the resolution of the plan: `R.json`")
	fs.StringVar(&rules, "rules", convergence.V3.Name, "the rule set: `convergence/v3|conclave/v1`")
	return cmd
}

func (a *app) decide(rules convergence.Rules, definitionFile, eventsFile, resolutionFile string) error {
	definition, err := readDocument("--definition", definitionFile)
	if err != nil {
		return err
	}
	raw, err := readDocument("--events", eventsFile)
	if err != nil {
		return err
	}
	machine, err := convergence.Compile(definition, rules)
	if err != nil {
		return a.listIssues(definitionFile, err)
	}
	events, err := convergence.ParseEvents(raw)
	if err != nil {
		return a.listIssues(eventsFile, err)
	}
	state := machine.Initial()
	for _, e := range events {
		state = machine.Reduce(state, e)
	}
	doc := decideDocument{
		Decisions: machine.Decide(state), Events: len(events), Bounds: machine.Bounds(), Seats: map[string]*convergence.Outcome{},
		Rejected: state.EngineReceiptRejections.Slice(), Digest: machine.DefinitionDigest(),
	}
	if len(doc.Decisions) > 0 {
		doc.Decision = &doc.Decisions[0]
	} else {
		doc.Decisions = []convergence.Command{}
	}
	for id, seat := range machine.Outcomes(state) {
		doc.Seats[id] = seat.Outcome
	}
	if resolutionFile != "" {
		if doc.Plan, err = a.resolve(machine, resolutionFile); err != nil {
			return err
		}
	}
	return a.printJSON(doc)
}

func (a *app) resolve(machine *convergence.Machine, file string) (string, error) {
	raw, err := readDocument("--resolution", file)
	if err != nil {
		return "", err
	}
	var resolution convergence.Resolution
	if err := json.Unmarshal(raw, &resolution); err != nil {
		return "", usage("correct the file", "%s: %v", file, err)
	}
	plan, err := convergence.ResolvePlan(machine.Describe(), resolution)
	if err != nil {
		return "", a.listIssues(file, err)
	}
	return plan.Digest, nil
}

func readDocument(flag, file string) ([]byte, error) {
	if file == "" {
		return nil, usage("name a JSON file", "%s is missing", flag)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("name a readable file", "%s: %v", flag, err)
	}
	return content, nil
}

// listIssues prints every problem of a document with its path.
func (a *app) listIssues(file string, err error) error { return inFile(file, invalidDefinition(err)) }
