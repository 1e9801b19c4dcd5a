package secret

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/guard"
)

// hits reads a patch as a change is read.
func hits(t *testing.T, s *Scanner, patch string, lenient func(string) bool) ([]Hit, int) {
	t.Helper()
	added := s.Added(nil, lenient)
	p := guard.NewPatch(added)
	_, err := p.Write([]byte(patch))
	require.NoError(t, err)
	require.NoError(t, p.Close())
	return added.Hits()
}

func patchOf(path, old, now string) string {
	var b strings.Builder
	count := func(text string) int { return strings.Count(text, "\n") }
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -10,%d +10,%d @@\n context\n", path, count(old)+1, count(now)+1)
	for line := range strings.Lines(old) {
		b.WriteString("-" + line)
	}
	for line := range strings.Lines(now) {
		b.WriteString("+" + line)
	}
	return b.String()
}

func TestWhatAChangeBringsInIsNamed(t *testing.T) {
	s, random := New("DEPLOY_KEY=a value of 17 letters"), rand.New(rand.NewPCG(1, 1))
	token, block := "ghp_"+draw(random, "alnum", 36), key(random, "RSA PRIVATE KEY", 12)
	patch := patchOf("config/prod.env", "", "NAME=x\nGH="+token+"\n") +
		patchOf("deploy/id_rsa", "", block) +
		patchOf("a.go", "", "var x = `a value of 17 letters`\n")
	found, more := hits(t, s, patch, nil)
	require.Zero(t, more)
	require.Equal(t, []Hit{
		{Path: "a.go", Line: 11, Rule: "environment:DEPLOY_KEY", Title: "the value of the variable DEPLOY_KEY", Masked: "... (21 characters)"},
		{Path: "config/prod.env", Line: 12, Rule: "github-token", Title: "GitHub token", Masked: "ghp_... (40 characters)"},
		{Path: "deploy/id_rsa", Line: 11, Rule: "private-key", Title: "private key", Masked: found[2].Masked},
	}, found)
	require.Equal(t, "config/prod.env:12: GitHub token (github-token), ghp_... (40 characters)", found[1].String())
	for _, hit := range found {
		require.NotContains(t, fmt.Sprint(hit), token[4:])
	}
}

func TestWhatWasThereBeforeIsNotBroughtIn(t *testing.T) {
	s, random := New(), rand.New(rand.NewPCG(2, 1))
	token, other := "ghp_"+draw(random, "alnum", 36), "glpat-"+draw(random, "alnum", 20)
	moved := patchOf("new.env", "", "A="+token+"\nB="+other+"\n") + patchOf("old.env", "A="+token+"\n", "")
	found, _ := hits(t, s, moved, nil)
	require.Len(t, found, 1)
	require.Equal(t, "gitlab-token", found[0].Rule)
	context := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n A=" + token + "\n-b\n+c\n"
	found, _ = hits(t, s, context, nil)
	require.Empty(t, found, "a line that stays is not the change's")
}

func TestATestMayHoldWhatOnlyANameCallsASecret(t *testing.T) {
	s, random := New(), rand.New(rand.NewPCG(3, 1))
	lines := `password: "` + draw(random, "alnum", 12) + `!7x"` + "\ntoken=ghp_" + draw(random, "alnum", 36) + "\n"
	lenient := func(path string) bool { return strings.HasSuffix(path, "_test.go") }
	found, _ := hits(t, s, patchOf("a_test.go", "", lines), lenient)
	require.Len(t, found, 1)
	require.Equal(t, "github-token", found[0].Rule)
	found, _ = hits(t, s, patchOf("a.go", "", lines), lenient)
	require.Len(t, found, 2)
	added := s.Added(func(string) bool { return true }, nil)
	p := guard.NewPatch(added)
	_, _ = p.Write([]byte(patchOf("a.go", "", lines)))
	require.NoError(t, p.Close())
	found, _ = added.Hits()
	require.Empty(t, found, "a person allows a path")
}

func TestManyAndLargeChangesAreBounded(t *testing.T) {
	s, random := New(), rand.New(rand.NewPCG(4, 1))
	var text strings.Builder
	for range mostHits + 50 {
		text.WriteString(strings.Repeat("x", 2000) + " ghp_" + draw(random, "alnum", 36) + "\n")
	}
	found, more := hits(t, s, patchOf("big.txt", "", text.String()), nil)
	require.Len(t, found, mostHits)
	require.Equal(t, 50, more)
	for i, hit := range found {
		require.Equal(t, 11+i, hit.Line)
	}
}
