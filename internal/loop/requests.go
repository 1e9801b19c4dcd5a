package loop

import (
	"encoding/json"
	"time"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

// Snapshot is a committed git tree of the run's own repository.
type Snapshot struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
}

// PrepareRequest asks the starter to resolve where the run starts.
type PrepareRequest struct {
	RunID  string `json:"run_id"`
	Source Source `json:"source"`
	// Shared puts the base's objects into the store for other machines.
	Shared bool      `json:"shared,omitempty"`
	At     time.Time `json:"at"`
	// Policy says what to scan a gate's change for, and so does VerifyCommand: its files are protected.
	Policy        Policy `json:"policy,omitzero"`
	VerifyCommand string `json:"verify_command,omitempty"`
}

// Prepared is where a run starts.
type Prepared struct {
	// Base is the commit in the run's repository that every diff is against.
	Base Snapshot `json:"base"`
	// Head is the user's commit that landing builds on; empty without a repository.
	Head string `json:"head,omitempty"`
	// LeftOut lists uncommitted paths that the run does not start from.
	LeftOut []string `json:"left_out,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Author is who the landed commit belongs to.
	AuthorName  string `json:"author_name,omitempty"`
	AuthorEmail string `json:"author_email,omitempty"`
	// Excludes are the user's own ignore rules, copied at the start.
	Excludes artifact.Ref `json:"excludes"`
	// ObjectFormat is the repository's hash function: sha1 or sha256.
	ObjectFormat string `json:"object_format,omitempty"`
	// Given is the change that a gate reviews, nil for a run.
	Given *Given `json:"given,omitempty"`
}

// Given is a change that exists already: what a gate reviews.
type Given struct {
	// Head is the commit in the run's repository; Prepared.Base is then the merge base.
	Head      Snapshot     `json:"head"`
	Total     artifact.Ref `json:"total"`
	TotalDiff artifact.Ref `json:"total_diff"`
	Stats     record.Stats `json:"stats"`
	Scan      Scan         `json:"scan"`
}

// Feedback is what a repair turn must answer.
type Feedback struct {
	// Blocks are the messages of the reviewers that block, whole, named by seat.
	Blocks []NamedRef `json:"blocks,omitempty"`
	// Findings are what stands open under full, word for word.
	Findings []Known `json:"findings,omitempty"`
	// Failure is the verifier's failing checks and the tail of its output.
	Failure artifact.Ref `json:"failure"`
}

// Workspace is what every request needs to rebuild a workspace anywhere.
type Workspace struct {
	RunID string   `json:"run_id"`
	Base  Snapshot `json:"base"`
	// From is the snapshot that the workspace holds when the step begins.
	From         Snapshot     `json:"from"`
	Excludes     artifact.Ref `json:"excludes"`
	ObjectFormat string       `json:"object_format,omitempty"`
	Contract     artifact.Ref `json:"contract"`
	// Setup is run once in each new writer workspace.
	Setup        string        `json:"setup,omitempty"`
	SetupTimeout time.Duration `json:"setup_timeout,omitempty"`
	Shared       bool          `json:"shared,omitempty"`
}

// TurnRequest asks for one agent invocation.
type TurnRequest struct {
	Workspace
	// Step and Try are the turn's key: a finished key is never run again.
	Step string `json:"step"`
	Try  int    `json:"try"`
	// Turn is the prompt's role: design, implement, repair, review.
	Turn      string `json:"turn"`
	Writing   bool   `json:"writing,omitempty"`
	Iteration int    `json:"iteration"`
	Seat      string `json:"seat,omitempty"`
	Lens      string `json:"lens,omitempty"`
	// Evidence is the token that an answer echoes.
	Evidence    string        `json:"evidence,omitempty"`
	Target      record.Engine `json:"target"`
	Requirement artifact.Ref  `json:"requirement"`
	Constraints []NamedRef    `json:"constraints,omitempty"`
	Feedback    Feedback      `json:"feedback"`
	Lint        artifact.Ref  `json:"lint"`
	// VerifyCommand is named to writers; VerifySummary tells reviewers how it ended.
	VerifyCommand string `json:"verify_command,omitempty"`
	VerifySummary string `json:"verify_summary,omitempty"`
	// Scope is what a reviewer reads: all, fix or final; empty is all.
	Scope string `json:"scope,omitempty"`
	// Findings are the ids that a recheck, a confirm or an arbitrate turn is about.
	Findings []string `json:"findings,omitempty"`
	// Since is what a recheck's fix diff starts from: the snapshot that the seat judged last.
	Since Snapshot `json:"since,omitzero"`
	// Open are the findings that the turn is about; Log are all the others that a final review reads.
	Open []Known `json:"open,omitempty"`
	Log  []Known `json:"log,omitempty"`
	// FixReport is the whole answer of the last repair, nil for none: evidence for a recheck and a rebuttal.
	FixReport artifact.Ref `json:"fix_report,omitzero"`
	// Rebuttal says that the writer refuted the finding that a confirm turn is about.
	Rebuttal bool `json:"rebuttal,omitempty"`
	// Escalated tells a repair that the task is its own now; ReportOnly that only its fix report is missing.
	Escalated  bool `json:"escalated,omitempty"`
	ReportOnly bool `json:"report_only,omitempty"`
	// Resume is the writer's own session that a repair goes on with, nil for a new one; no reader ever has one.
	Resume *Earlier `json:"resume,omitempty"`
	// Lenses are the texts of users' own lenses, Prompts those of overridden templates, both by name.
	Lenses  []NamedRef `json:"lenses,omitempty"`
	Prompts []NamedRef `json:"prompts,omitempty"`
	// Protected and Generated are the globs of Policy: what a writing turn's Scan looks for.
	Protected []string `json:"protected,omitempty"`
	Generated []string `json:"generated,omitempty"`
	// AllowSecrets are the globs of Policy: paths in which no secret is looked for.
	AllowSecrets []string `json:"allow_secrets,omitempty"`
	// KeepProtected has the sandbox of a writer keep reviewer definitions, instruction files and conclave.yaml.
	KeepProtected bool `json:"keep_protected,omitempty"`
	// MaxFindings bounds the high findings of one answer; 0 is the default.
	MaxFindings int `json:"max_findings,omitempty"`
	// FromCommits says that the requirement is commit messages and not the user's own text.
	FromCommits bool `json:"from_commits,omitempty"`
	// Substitution counts the declared substitutions that were tried before this engine.
	Substitution int `json:"substitution,omitempty"`
	// Reask is why the seat's last answer did not count.
	Reask       string        `json:"reask,omitempty"`
	Timeout     time.Duration `json:"timeout"`
	IdleTimeout time.Duration `json:"idle_timeout"`
	Discipline  string        `json:"discipline"`
	// RequireFindings refuses answers without JSON.
	RequireFindings bool   `json:"require_findings,omitempty"`
	VerdictMode     string `json:"verdict_mode"`
	DryRun          bool   `json:"dry_run,omitempty"`
	// At is the workflow's time: a repeated snapshot gets the same commit id.
	At time.Time `json:"at"`
}

// TurnResult is what a turn left: a class, small facts and names of artifacts.
type TurnResult struct {
	Class record.Class `json:"class"`
	// Code is the form's failure code when the class is not ok.
	Code     string         `json:"code,omitempty"`
	Message  string         `json:"message,omitempty"`
	Reported *record.Engine `json:"reported,omitempty"`
	Usage    *record.Usage  `json:"usage,omitempty"`
	// Worked says that the model answered, whatever became of the turn: what nobody reported of it is unknown then, and
	// not nothing. Lost counts earlier attempts, whose workers died or stopped, and a request that was going on at the end
	// of one whose others were reported: what these consumed is known to nobody.
	Worked  bool   `json:"worked,omitempty"`
	Lost    int    `json:"lost,omitempty"`
	Session string `json:"session,omitempty"`
	// Resumed says that the turn went on with the session that it was asked to resume.
	Resumed bool `json:"resumed,omitempty"`
	// Verdict is pass or block for a reviewer's valid answer, else empty.
	Verdict    string    `json:"verdict,omitempty"`
	Confidence *float64  `json:"confidence,omitempty"`
	Findings   []Finding `json:"findings,omitempty"`
	// Answer is the parsed answer of a confirm or an arbitrate turn, as the machine reads it.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Rechecked answers a recheck; FixReport a repair; Said a confirm or an arbitrate turn.
	Rechecked []Rechecked `json:"rechecked,omitempty"`
	FixReport []Fixed     `json:"fix_report,omitempty"`
	Said      []Said      `json:"said,omitempty"`
	// Scan is what a writing turn changed so far, against the run's base.
	Scan *Scan `json:"scan,omitempty"`
	// Snapshot is the workspace after a writing turn; Changed says whether its tree is new.
	Snapshot Snapshot `json:"snapshot"`
	Changed  bool     `json:"changed,omitempty"`
	// Question is what a writer that changed nothing asked at its end: a decision that it needs. Bounded.
	Question string        `json:"question,omitempty"`
	Stats    *record.Stats `json:"stats,omitempty"`
	// Total lists what the run changed so far, base to snapshot, for writing turns.
	Total      artifact.Ref            `json:"total"`
	TotalDiff  artifact.Ref            `json:"total_diff"`
	Final      artifact.Ref            `json:"final"`
	Artifacts  map[string]artifact.Ref `json:"artifacts,omitempty"`
	Notes      []string                `json:"notes,omitempty"`
	DurationMS int64                   `json:"duration_ms"`
	Attempt    int                     `json:"attempt"`
	Sandbox    string                  `json:"sandbox,omitempty"`
	// RetryAfter is when a transient or quota failure may be tried again, from its end.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

// Known is a finding of the ledger for a prompt. Its whole texts are in the store, one per raiser.
type Known struct {
	ID string `json:"id"`
	// Disposition and Note say where it stands, for a log.
	Disposition string         `json:"disposition,omitempty"`
	Note        string         `json:"note,omitempty"`
	Texts       []artifact.Ref `json:"texts"`
}

// Scan is what must be looked at before money is spent on reviewing a change.
type Scan struct {
	// Lines counts added and removed lines outside of generated and vendored files.
	Lines int `json:"lines"`
	// Exempt lists changed generated and vendored paths, which are not counted; bounded.
	Exempt []string `json:"exempt,omitempty"`
	// Protected lists changes to protected paths; bounded.
	Protected []Guarded `json:"protected,omitempty"`
	// ProtectedDigest is over the paths and new contents of all protected changes, "" without any.
	ProtectedDigest string `json:"protected_digest,omitempty"`
	// Secrets are what the change brings in that looks like one; bounded. Found is all of it, nil for none.
	Secrets []Secret `json:"secrets,omitempty"`
	Found   *Secrets `json:"found,omitempty"`
}

// Guarded is one change to a protected path.
type Guarded struct {
	Path string `json:"path"`
	// Why says which rule protects it: "reviewer definition", "instruction file", "conclave.yaml", "CI file",
	// "verify command", "deleted test", "skipped test", "protected path" for a glob of the user's without a reason.
	Why string `json:"why"`
	// Detail names what of the file it is, for tests; bounded.
	Detail string `json:"detail,omitempty"`
}

// Fixed is one entry of a fix report.
type Fixed struct {
	Finding string `json:"finding"`
	// Status is fixed or refuted.
	Status string `json:"status"`
}

// Rechecked is a seat's word on an older finding.
type Rechecked struct {
	Finding string `json:"finding"`
	// Status is addressed or not-addressed.
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// Said is an arbiter's or a confirmer's word on a finding, for the record.
type Said struct {
	Finding string `json:"finding"`
	// Decision is confirmed, refuted, stand, fix or person.
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	// Change is the smallest change that unblocks, with the decision fix.
	Change string `json:"change,omitempty"`
}

// Finding is a reviewer's claim as the machine and the record need it.
type Finding struct {
	// Anchor is the line of code that the first place points at, as package review normalises it.
	Anchor string `json:"anchor,omitempty"`
	// File tells the content of the file at the first place from every other content of it.
	File string `json:"file,omitempty"`
	// Text is the whole finding as JSON.
	Text artifact.Ref `json:"text,omitzero"`
	// Outside says that a recheck raised it and that none of its places lies in the fix diff: it is logged and opens no round.
	Outside  bool           `json:"outside,omitempty"`
	Severity string         `json:"severity"`
	Kind     string         `json:"kind"`
	Title    string         `json:"title"`
	Claim    string         `json:"claim,omitempty"`
	Evidence []record.Place `json:"evidence,omitempty"`
}

// VerifyRequest asks for the verifier and the linter on a snapshot.
type VerifyRequest struct {
	Workspace
	Step    string        `json:"step"`
	Command string        `json:"command,omitempty"`
	Lint    string        `json:"lint,omitempty"`
	Timeout time.Duration `json:"timeout"`
	// Secrets are those of the snapshot: the gate fails for them whatever the command says.
	Secrets *Secrets `json:"secrets,omitempty"`
	// Globs are the evidence paths to digest.
	Globs []string  `json:"globs,omitempty"`
	At    time.Time `json:"at"`
}

// VerifyResult is how the verifier ended.
type VerifyResult struct {
	// Secrets says that the gate fails for so many secrets, whatever the command said.
	Secrets int `json:"secrets,omitempty"`
	// Gate is pass, fail or not-run; empty when the command could not be judged.
	Gate     string       `json:"gate,omitempty"`
	ExitCode int          `json:"exit_code"`
	Class    record.Class `json:"class"`
	Code     string       `json:"code,omitempty"`
	Message  string       `json:"message,omitempty"`
	Failure  artifact.Ref `json:"failure"`
	// FailureDigest identifies what the verifier said when it failed, without times and paths of one run.
	FailureDigest string       `json:"failure_digest,omitempty"`
	Lint          artifact.Ref `json:"lint"`
	Restored      []string     `json:"restored,omitempty"`
	// Sandbox says what contained the commands, "" when none ran; Notes what a reader of the record should know of it.
	Sandbox string   `json:"sandbox,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Globs are the digests of the requested globs, in their order.
	Globs      []string                `json:"globs,omitempty"`
	Artifacts  map[string]artifact.Ref `json:"artifacts,omitempty"`
	DurationMS int64                   `json:"duration_ms"`
	Attempt    int                     `json:"attempt"`
}

// The gates of a VerifyResult.
const (
	GatePass   = "pass"
	GateFail   = "fail"
	GateNotRun = "not-run"
)

// LandRequest asks for the branch with the change.
type LandRequest struct {
	RunID    string    `json:"run_id"`
	Source   Source    `json:"source"`
	Prepared Prepared  `json:"prepared"`
	Final    Snapshot  `json:"final"`
	Branch   string    `json:"branch"`
	Title    string    `json:"title"`
	Outcome  string    `json:"outcome"`
	At       time.Time `json:"at"`
	Shared   bool      `json:"shared,omitempty"`
}

// Landed is where the change can be taken from.
type Landed struct {
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Note says why nothing was landed.
	Note string `json:"note,omitempty"`
}

// BundleRequest asks the starter to rebuild the bundle from the run's record.
type BundleRequest struct {
	RunID       string       `json:"run_id"`
	Source      Source       `json:"source"`
	Requirement artifact.Ref `json:"requirement"`
	// Mark names the moment, so that each rebuild reads well in the history.
	Mark string `json:"mark"`
}
