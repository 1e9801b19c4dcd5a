package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"conclave/config"
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
	machine, events, resolution, err := readDecision(rules, definitionFile, eventsFile, resolutionFile)
	if err != nil {
		return err
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
	if resolution != nil {
		plan, err := convergence.ResolvePlan(machine.Describe(), *resolution)
		if err != nil {
			return config.Issues(resolutionFile, err)
		}
		doc.Plan = plan.Digest
	}
	return a.printJSON(doc)
}

// readDecision reads the documents. Every problem of each is reported, not only those of the first.
func readDecision(rules convergence.Rules, definitionFile, eventsFile, resolutionFile string) (*convergence.Machine, []convergence.Event, *convergence.Resolution, error) {
	var machine *convergence.Machine
	var events []convergence.Event
	var resolution *convergence.Resolution
	var problems []error
	document := func(flag, file string, read func([]byte) error) {
		raw, err := readDocument(flag, file)
		if err == nil {
			err = read(raw)
		}
		problems = append(problems, err)
	}
	document("--definition", definitionFile, func(raw []byte) (err error) {
		if machine, err = convergence.Compile(raw, rules); err != nil {
			return config.Issues(definitionFile, err)
		}
		return nil
	})
	document("--events", eventsFile, func(raw []byte) (err error) {
		if events, err = convergence.ParseEvents(raw); err != nil {
			return config.Issues(eventsFile, err)
		}
		return nil
	})
	if resolutionFile != "" {
		document("--resolution", resolutionFile, func(raw []byte) (err error) {
			resolution, err = readResolution(resolutionFile, raw)
			return err
		})
	}
	return machine, events, resolution, errors.Join(problems...)
}

func readResolution(file string, raw []byte) (*convergence.Resolution, error) {
	if _, err := convergence.CanonicalJSON(raw); err != nil {
		return nil, config.Issues(file, err)
	}
	var resolution convergence.Resolution
	err := json.Unmarshal(raw, &resolution)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return nil, config.Problem{What: fmt.Sprintf("%s: /%s: is a %s where a %s belongs", file, strings.ReplaceAll(wrong.Field, ".", "/"), wrong.Value, wrong.Type.Kind())}
	}
	if err != nil {
		return nil, config.Issues(file, err)
	}
	return &resolution, nil
}

func readDocument(flag, file string) ([]byte, error) {
	if file == "" {
		return nil, config.Problem{What: flag + " is missing", Remedy: "name a JSON file"}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, config.Problem{What: flag + ": " + err.Error(), Remedy: "name a readable file"}
	}
	return content, nil
}
