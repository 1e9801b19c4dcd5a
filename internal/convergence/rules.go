package convergence

import "fmt"

// Rules names every point where the rule sets differ. Each field is consulted in
// one place of the machine. A field's zero value is the published form's
// behaviour; an empty Name is no rule set and is refused by Compile.
type Rules struct {
	// Name is the rule set's id, stored with each run.
	Name string `json:"name"`

	// ReadExtensions: the optional keys of Data and NodeData beyond the form are
	// read and validated. Otherwise they are ignored.
	ReadExtensions bool `json:"readExtensions"`
	// DemoteWriterLanes: a seat whose lane shares provider or family with a
	// writer's becomes non-voting. Otherwise the definition is refused.
	DemoteWriterLanes bool `json:"demoteWriterLanes"`
	// RefuseUnreachable: definitions that can never complete are refused.
	// Otherwise they fail after every seat has been paid for.
	RefuseUnreachable bool `json:"refuseUnreachable"`
	// DecidedDispatchOnly: a dispatch is accepted only when Decide asked for
	// it. Otherwise neither phase nor prefix of a position is checked.
	DecidedDispatchOnly bool `json:"decidedDispatchOnly"`
	// KeepPauseOnDispatch: only run-resumed clears a pause. Otherwise any
	// accepted dispatch does.
	KeepPauseOnDispatch bool `json:"keepPauseOnDispatch"`
	// RepairIsDraft: after a repair the evaluator runs at once. Otherwise the
	// generator runs again first, without the findings.
	RepairIsDraft bool `json:"repairIsDraft"`
	// RepairTakesIteration: each repair needs an iteration, so there are at most
	// I-1. Otherwise a repair at the cap repeats the iteration number.
	RepairTakesIteration bool `json:"repairTakesIteration"`
	// RepairFailedGate: an unmet gate leads to a repair turn. Otherwise to the
	// generator again, without the reason.
	RepairFailedGate bool `json:"repairFailedGate"`
	// WritersReportTree: writers say whether the tree changed, and one that
	// changed nothing ends the run. Otherwise their results are not read.
	WritersReportTree bool `json:"writersReportTree"`
	// RetryPerRound: the retry cap counts a seat's attempts of this round.
	// Otherwise those of the whole run.
	RetryPerRound bool `json:"retryPerRound"`
	// WriterFailureEnds: a failed writer or evaluator ends the run. Otherwise it
	// is retried under the cap.
	WriterFailureEnds bool `json:"writerFailureEnds"`
	// CapEveryAsk: no asking of a seat escapes the cap, also after an
	// invalidation. Otherwise pending seats are always asked.
	CapEveryAsk bool `json:"capEveryAsk"`
	// ReaskUntrusted: every answer that does not count is asked again while the
	// cap permits. Otherwise only a pass is.
	ReaskUntrusted bool `json:"reaskUntrusted"`
	// ConsistentAnswers: a verdict that disagrees with its findings (a block
	// without any, a pass with a high one) is no answer. Otherwise it is taken as given.
	ConsistentAnswers bool `json:"consistentAnswers"`
	// VerdictOnly: where findings are not required, a pass without a confidence
	// counts. Otherwise never.
	VerdictOnly bool `json:"verdictOnly"`
	// ForgetOnReask: asking a seat again clears what it said before. Otherwise
	// old findings survive a failed re-review.
	ForgetOnReask bool `json:"forgetOnReask"`
	// FingerprintBinds: a seat that watches everything loses its pass when the
	// workspace fingerprint changes. Otherwise only hashes and proof are compared.
	FingerprintBinds bool `json:"fingerprintBinds"`
	// DemandWatchedKeys: evidence that lacks a key some seat watches ends the run
	// before any seat is asked. Otherwise that seat is asked in vain.
	DemandWatchedKeys bool `json:"demandWatchedKeys"`
	// CountReturns: findingRounds counts rounds in which a known finding came
	// back after a repair. Otherwise every report counts.
	CountReturns bool `json:"countReturns"`
	// EscalateAt ends the run when a blocking finding was counted that often; 0
	// never does.
	EscalateAt int `json:"escalateAt"`
	// BlockBeforeQuorum: a valid block stands against a met quorum. Otherwise it
	// is only listed in the output.
	BlockBeforeQuorum bool `json:"blockBeforeQuorum"`
	// MissingSeatStops: a required seat without a valid answer stops the run
	// before the quorum is looked at. Otherwise a met quorum completes.
	MissingSeatStops bool `json:"missingSeatStops"`
	// UnavailableIsMissing: a required seat without an engine is a missing seat,
	// to be reopened or waived. Otherwise it pauses the run for good.
	UnavailableIsMissing bool `json:"unavailableIsMissing"`
	// WaiverLowersQuorum: a waived voting seat's place leaves the quorum, which
	// never falls below one. Otherwise a waived seat just does not count.
	WaiverLowersQuorum bool `json:"waiverLowersQuorum"`
	// Resumable: run-resumed, seat-reopened, seat-waived and the events of
	// questions and rulings are understood. Otherwise they are ignored.
	Resumable bool `json:"resumable"`
	// SpokenCommands: commands say more than the form's exact shape: who raised a
	// finding, whether the gate is met, the code of a pause, how the run ended.
	SpokenCommands bool `json:"spokenCommands"`
	// ReserveWords: node ids that the machine uses as words itself are refused.
	ReserveWords bool `json:"reserveWords"`
	// BoundPerIteration: max dispatches is 2I + S*I*(1+c). Otherwise it is the
	// form's looser product.
	BoundPerIteration bool `json:"boundPerIteration"`
}

// V3 is the published form, to the letter.
var V3 = Rules{Name: "convergence/v3", EscalateAt: 3}

// V1 is the rule set of live runs.
var V1 = Rules{
	Name:                 "conclave/v1",
	ReadExtensions:       true,
	DemoteWriterLanes:    true,
	RefuseUnreachable:    true,
	DecidedDispatchOnly:  true,
	KeepPauseOnDispatch:  true,
	RepairIsDraft:        true,
	RepairFailedGate:     true,
	RepairTakesIteration: true,
	WritersReportTree:    true,
	RetryPerRound:        true,
	WriterFailureEnds:    true,
	CapEveryAsk:          true,
	ReaskUntrusted:       true,
	ConsistentAnswers:    true,
	VerdictOnly:          true,
	ForgetOnReask:        true,
	FingerprintBinds:     true,
	DemandWatchedKeys:    true,
	CountReturns:         true,
	BlockBeforeQuorum:    true,
	MissingSeatStops:     true,
	UnavailableIsMissing: true,
	WaiverLowersQuorum:   true,
	Resumable:            true,
	SpokenCommands:       true,
	ReserveWords:         true,
	BoundPerIteration:    true,
}

// RulesByName returns the rule set of that name.
func RulesByName(name string) (Rules, error) {
	switch name {
	case V3.Name:
		return V3, nil
	case V1.Name:
		return V1, nil
	}
	return Rules{}, fmt.Errorf("unknown rule set %q: use %s or %s", name, V3.Name, V1.Name)
}
