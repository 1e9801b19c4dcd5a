package activities

import (
	"context"
	"fmt"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/glob"
	"conclave/internal/guard"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/secret"
)

// secretsBytes bounds the secrets of a change that the history lists; the report has them all.
const secretsBytes = 4 << 10

// advice is what a repair is told.
const advice = "These lines bring in what looks like a secret: a key, a token, a password. None may stand in the repository, in no file and in no form. " +
	"Take each one out, and let the program read it from its environment or from a secret store. Tests make up values when they run."

// added reads a patch for the secrets that it brings in. What only a name calls a secret is let pass in tests, and in
// generated and vendored files.
func (a *Activities) added(rules *guard.Rules, allow []string) (*secret.Added, error) {
	allowed, err := glob.Compile(allow)
	if err != nil {
		return nil, fmt.Errorf("review.allow_secrets: %w", err)
	}
	return a.secrets.Added(allowed, func(path string) bool { return rules.Generated(path) || guard.IsTest(path) || guard.IsExample(path) }), nil
}

// found puts what a patch brings in into a scan.
func (a *Activities) found(ctx context.Context, scan *loop.Scan, added *secret.Added) error {
	hits, more := added.Hits()
	if len(hits) == 0 {
		return nil
	}
	room := secretsBytes
	var report strings.Builder
	report.WriteString(advice + "\n\n")
	for _, hit := range hits {
		entry := loop.Secret{Path: strings.ToValidUTF8(hit.Path, "\uFFFD"), Line: hit.Line, Rule: hit.Rule, Title: hit.Title, Masked: hit.Masked}
		fmt.Fprintf(&report, "- %s\n", hit)
		if room -= jsonBytes(entry); room >= 0 {
			scan.Secrets = append(scan.Secrets, entry)
		}
	}
	if more > 0 {
		fmt.Fprintf(&report, "- and %d more\n", more)
	}
	count := len(hits) + more
	words := "a secret"
	if count > 1 {
		words = fmt.Sprintf("%d secrets", count)
	}
	scan.Found = &loop.Secrets{Count: count, Summary: clip(fmt.Sprintf("the change brings in %s, first %s", words, hits[0]), claimLimit)}
	var err error
	scan.Found.Report, err = a.Store.Put(ctx, a.secrets.Redact([]byte(report.String())))
	return err
}

// closeGate lets the gate fail for secrets, whatever the command said: its words come behind ours.
func (v *verification) closeGate(ctx context.Context) error {
	secrets := v.req.Secrets
	if secrets == nil || v.result.Class != record.ClassOK {
		return nil
	}
	text, err := v.Store.Get(ctx, secrets.Report)
	if err != nil {
		return err
	}
	message := secrets.Summary
	if v.result.Gate == loop.GateFail {
		before, err := v.Store.Get(ctx, v.result.Failure)
		if err != nil {
			return err
		}
		text = append(append(text, '\n'), before...)
		message += "; and the verify command " + v.result.Message
	}
	digest := artifact.Of([]byte(v.result.FailureDigest + "\n" + secrets.Report.Digest)).Digest
	v.result.Gate, v.result.Secrets, v.result.Message, v.result.FailureDigest = loop.GateFail, secrets.Count, v.bounded(message), digest
	v.result.Failure, err = v.Store.Put(ctx, text)
	v.result.Artifacts["result.md"] = v.result.Failure
	return err
}
