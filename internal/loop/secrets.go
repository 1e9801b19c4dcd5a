package loop

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/record"
)

// Secret is one that a change brings in. It does not hold the secret.
type Secret struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	// Rule is the rule that tells it, and Title its words; Masked is the secret in a form that can be shown.
	Rule   string `json:"rule"`
	Title  string `json:"title"`
	Masked string `json:"masked"`
}

// Secrets are those of a change: a gate that no command opens.
type Secrets struct {
	// Count is how many there are, Summary one line on them, Report all of them for a repair.
	Count   int          `json:"count"`
	Summary string       `json:"summary"`
	Report  artifact.Ref `json:"report"`
}

// host raises what no model is needed for.
const host = "conclave"

// hostSecurity is the lens of what the host finds.
const hostSecurity = "security"

// secretsOf takes in what a scan says of a change's secrets: each is a high finding of the host's, open until a later
// change has it no more, and the verifier's gate is closed as long.
func (p *Progress) secretsOf(scan *Scan, step string) {
	if scan == nil {
		return
	}
	p.Secret = scan.Found
	if scan.Found != nil {
		p.noteOnce("what is no secret, or may stay: list its path under `review.allow_secrets` in the configuration, and start a new run (docs/secrets.md)")
	}
	there := map[int]bool{} // findings that the change still has; equal ones are told apart by their number
	for _, s := range scan.Secrets {
		there[p.raiseSecret(s, step, there)] = true
	}
	for i := range p.Secrets {
		f := &p.Secrets[i]
		if f.Disposition == openSecret && !there[i] {
			f.Disposition = string(convergence.FindingAddressed)
			f.History = append(f.History, fmt.Sprintf("%s: the change has it no more", step))
		}
	}
}

// openSecret is the disposition of a secret that is there: nobody has to confirm what a rule has seen.
const openSecret = string(convergence.FindingConfirmed)

// raiseSecret finds or makes the finding of a secret, none of those that are taken, and returns its index.
func (p *Progress) raiseSecret(s Secret, step string, taken map[int]bool) int {
	for i := range p.Secrets {
		f := &p.Secrets[i]
		if taken[i] || keyOf(*f) != s.key() {
			continue
		}
		if f.Disposition != openSecret {
			f.Disposition = openSecret
			f.History = append(f.History, fmt.Sprintf("%s: it is there again", step))
		}
		f.Evidence[0].Line = s.Line
		return i
	}
	p.Secrets = append(p.Secrets, record.Finding{
		ID: fmt.Sprintf("S%d", len(p.Secrets)+1), Severity: convergence.SeverityHigh, Kind: convergence.KindPatch, Lens: hostSecurity,
		Title: clip(fmt.Sprintf("the change brings in a secret: %s", s.Title), titleBytes), Claim: secretClaim(s),
		Evidence: []record.Place{{Path: s.Path, Line: s.Line}}, Disposition: openSecret, RaisedBy: []string{host}, Lenses: []string{hostSecurity},
		ConfirmedBy: host, Proof: proofRule,
		History: []string{fmt.Sprintf("%s: raised by the rule %s", step, s.Rule)},
	})
	return len(p.Secrets) - 1
}

// proofRule: a rule of the host's has seen it.
const proofRule = "rule"

func secretClaim(s Secret) string {
	return clip(fmt.Sprintf("%s (%s): %s", s.Title, s.Rule, s.Masked), claimBytes)
}

func (s Secret) key() string { return s.Path + "\n" + secretClaim(s) }

func keyOf(f record.Finding) string { return f.Evidence[0].Path + "\n" + f.Claim }

// recorded are the findings of the record: the reviewers', and the host's behind them.
func (p *Progress) recorded() []record.Finding {
	findings := slices.DeleteFunc(slices.Clone(p.dispositions()), func(f record.Finding) bool {
		return len(f.RaisedBy) == 1 && f.RaisedBy[0] == host && strings.HasPrefix(f.ID, "S")
	})
	for _, f := range p.Secrets {
		f.Evidence, f.History = slices.Clone(f.Evidence), slices.Clone(f.History)
		findings = append(findings, f)
	}
	return findings
}

// openSecrets names the secrets that are there.
func (p *Progress) openSecrets() []string {
	var words []string
	for _, f := range p.Secrets {
		if f.Disposition == openSecret {
			words = append(words, fmt.Sprintf("%s (%s) %s, %s:%d", f.ID, f.Severity, f.Title, f.Evidence[0].Path, f.Evidence[0].Line))
		}
	}
	return words
}
