package config

import (
	"strings"

	"conclave/internal/review"
)

// scope says who may set a key. The zero value is the narrow one.
type scope int

const (
	// host: what runs the loop; only the person or the worker's operator sets it.
	host scope = iota
	// policy: what the loop does; a repository may set it too.
	policy
	// person: what the loop does, but only on the word of the person who runs it: these switch a protection off.
	person
)

// kind is the form of a value.
type kind string

const (
	text     kind = "text"
	boolean  kind = "true or false"
	count    kind = "whole number"
	duration kind = "duration"
	choice   kind = "choice"
	list     kind = "list"
	globs    kind = "list of globs"
	amount   kind = "amount of money"
	folder   kind = "folder"
	share    kind = "share between 0 and 1"
)

// key is one setting with all its names.
type key struct {
	name  string
	kind  kind
	scope scope
	// flag is the name on the command line, "" when there is none; usage is its help text.
	flag, usage string
	def         string
	choices     []string
	// least is the smallest count, most the largest; 0 bounds nothing above.
	least, most int
	// later names what has to exist before the key works; such a key is refused.
	later string
	// decided says where a definition file decides the same; "" when it does not.
	decided string
}

// variable is the key's environment variable.
func (k key) variable() string {
	name := strings.TrimSuffix(k.name, ".when")
	return "CONCLAVE_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// keys is every scalar or list setting. Structured ones (seats, agents, models) are in file.go.
var keys = []key{
	{name: "preset", kind: choice, scope: policy, flag: "preset", usage: "a named combination of agents: `NAME` (see starter presets)", def: DefaultPreset, choices: presetNames(), decided: "nodes"},
	{name: "implementer", kind: text, scope: policy, flag: "implementer", usage: "the adapter that writes: `A`[:MODEL]", decided: "the lanes of generator and repair"},
	{name: "reviewers", kind: list, scope: policy, flag: "reviewers", usage: "the adapters that review: `A,B` (each A[:MODEL][@LENS])", decided: "the seats"},
	{name: "designer", kind: text, scope: policy, flag: "designer", usage: "the adapter that writes the design contract: `A`[:MODEL] (default: the implementer)"},
	{name: "design", kind: boolean, scope: policy, flag: "design", usage: "write a design contract first", def: "false"},
	{name: "discipline", kind: choice, scope: policy, flag: "discipline", usage: "how strict a review is: `basic|full`", choices: []string{"basic", "full"}, def: "basic", decided: "data.discipline"},
	{name: "allow_self_review", kind: boolean, scope: policy, flag: "allow-self-review", usage: "let a seat of the writer's own engine vote", def: "false", decided: "data.writerExclusion"},
	{name: "verify_cmd", kind: text, scope: policy, flag: "verify-cmd", usage: "the command that must succeed: `C`"},
	{name: "setup_cmd", kind: text, scope: policy, flag: "setup-cmd", usage: "a command to run once in a new workspace: `C`"},
	{name: "lint_cmd", kind: text, scope: policy, flag: "lint-cmd", usage: "a linter whose output reviewers get: `C`"},
	{name: "review.when", kind: choice, scope: policy, flag: "review", usage: "when seats review: `verified|always`", choices: []string{"verified", "always"}, def: "verified", decided: "data.reviewWhen"},
	{name: "review.require_findings", kind: boolean, scope: policy, decided: "data.requireFindings"},
	{name: "review.max_findings", kind: count, scope: policy, def: "20", least: 1, most: review.MostHigh},
	{name: "review.confirmer", kind: text, scope: policy, decided: "data.confirmer"},
	{name: "review.arbiter", kind: text, scope: policy, decided: "data.arbiter"},
	{name: "review.identity", kind: choice, scope: policy, choices: []string{"any", "served"}, def: "any"},
	{name: "review.size_limit", kind: count, scope: policy, def: "500"},
	{name: "review.generated", kind: globs, scope: policy},
	{name: "review.protected", kind: globs, scope: policy},
	{name: "review.allow_secrets", kind: globs, scope: policy},
	{name: "escalation.model", kind: text, scope: policy, decided: "data.escalation"},
	{name: "rulings.reminder", kind: duration, scope: policy, def: "4h"},
	{name: "rulings.deadline", kind: duration, scope: policy},
	{name: "rulings.deadline_decision", kind: choice, scope: policy, choices: []string{"stand", "fix", "abort"}},
	{name: "budget.max_tokens", kind: count, scope: policy, flag: "max-tokens", usage: "the most tokens of the whole run: `N`", least: 1},
	{name: "budget.max_cost", kind: amount, scope: policy, flag: "max-cost", usage: "the most that the run may cost, as far as engines or prices tell: `USD`"},
	{name: "budget.max_duration", kind: duration, scope: policy, flag: "max-duration", usage: "the most time for the whole run: `D`"},
	{name: "budget.assume_tokens", kind: count, scope: policy, def: "50000", least: 1},
	{name: "calibration.min_precision", kind: share, scope: policy, def: "0.7"},
	{name: "calibration.min_recall", kind: share, scope: policy, def: "0.7"},
	{name: "trust_reviewers", kind: boolean, scope: person, flag: "trust-reviewers", usage: "let reviewers gate that are not calibrated (discipline full)", def: "false"},
	{name: "advisory", kind: boolean, scope: person, flag: "advisory", usage: "findings are repaired and reported but cannot stop the end (discipline full)", def: "false", decided: "data.advisory"},
	{name: "allow_protected", kind: boolean, scope: person, flag: "allow-protected", usage: "let the change touch protected paths without asking", def: "false"},
	{name: "verdict_mode", kind: choice, scope: policy, flag: "verdict-mode", usage: "how a text answer is read: `strict|heuristic`", choices: []string{"strict", "heuristic"}, def: "strict"},
	{name: "max_iters", kind: count, scope: policy, flag: "max-iters", usage: "the most iterations: `N` (6 under full)", def: "3", least: 1, decided: "data.maxIterations"},
	{name: "quorum", kind: count, scope: policy, flag: "quorum", usage: "how many voting seats must accept: `N` (default: all)", least: 1, decided: "data.quorum"},
	{name: "require_diversity", kind: boolean, scope: policy, flag: "require-diversity", usage: "the quorum must differ in provider and model family", def: "false", decided: "data.requireDiversity"},
	{name: "seat_concurrency", kind: count, scope: policy, flag: "seat-concurrency", usage: "how many seats review at once: `N` (default: all)", least: 1, decided: "data.seatConcurrency"},
	{name: "writer_session", kind: choice, scope: policy, flag: "writer-session", usage: "what a repair goes on with: `resume|fresh` (the writer's own session in rounds 1 to 3, or a new one each time)", choices: []string{"resume", "fresh"}, def: "resume"},
	{name: "timeout", kind: duration, scope: policy, flag: "timeout", usage: "the most time for one agent turn: `D` (default 30m for writers, 15m for others)"},
	{name: "idle_timeout", kind: duration, scope: policy, def: "10m"},
	{name: "verify_timeout", kind: duration, scope: policy, flag: "verify-timeout", usage: "the most time for one command: `D`", def: "30m"},

	{name: "sandbox", kind: choice, scope: host, flag: "sandbox", usage: "contain agents: `auto|required|off`", choices: []string{"auto", "required", "off"}, def: "auto"},
	{name: "sandbox_caches", kind: list, scope: host},
	{name: "isolate_home", kind: boolean, scope: host, flag: "isolate-home", usage: "give agents a home folder of the run's own: they see no login files of yours, so each needs its key variable", def: "false"},
	{name: "store", kind: folder, scope: host, flag: "store", usage: "where artifacts are kept: `URL` (a folder; default <state folder>/store)"},
	{name: "address", kind: text, scope: host, flag: "address", usage: "a Temporal server: `HOST:PORT` (default: the local one)"},
	{name: "namespace", kind: text, scope: host, flag: "namespace", usage: "the Temporal namespace: `NAME`", def: "default"},
	{name: "task_queue", kind: text, scope: host, flag: "task-queue", usage: "the workflows' task queue on a cluster: `NAME` (turns: NAME-agents)", def: "conclave"},
	{name: "state_dir", kind: folder, scope: host},
}

// sections are the structured keys.
var sections = map[string]scope{"seats": policy, "models": policy, "lenses": policy, "prompts": policy, "agents": host, "prices": host, "families": host}

func keyNamed(name string) (key, bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// names lists the keys below a prefix ("" is the top), as one writes them in a file.
func names(prefix string) []string {
	var found []string
	seen := map[string]bool{}
	for _, k := range keys {
		rest, ok := strings.CutPrefix(k.name, prefix)
		if first, _, _ := strings.Cut(rest, "."); ok && !seen[first] {
			seen[first] = true
			found = append(found, first)
		}
	}
	if prefix == "" {
		found = append(found, "seats", "models", "lenses", "prompts", "agents", "prices", "families")
	}
	return found
}
