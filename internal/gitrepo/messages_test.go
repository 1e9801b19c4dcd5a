package gitrepo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMessagesAreThoseOfTheChangeOldestFirst(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{"a": "1"})
	s := open(t, dir)
	base := userGit(t, dir, "rev-parse", "HEAD")
	userGit(t, dir, "config", "log.showSignature", "true")
	userGit(t, dir, "config", "log.decorate", "full")
	userGit(t, dir, "commit", "-q", "--allow-empty", "-m", "Add a\n\nIt was missing.\n")
	userGit(t, dir, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	userGit(t, dir, "commit", "-q", "--allow-empty", "-m", "  Add ü \n")
	got, err := s.Messages(t.Context(), base, "HEAD")
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, "Add a\n\nIt was missing.", got[0].Text)
	require.Equal(t, "Add a", got[0].Subject())
	require.Empty(t, got[1].Text)
	require.Empty(t, got[1].Subject())
	require.Equal(t, "Add ü", got[2].Text)
	require.Equal(t, userGit(t, dir, "rev-parse", "HEAD"), got[2].ID)

	none, err := s.Messages(t.Context(), "HEAD", "HEAD")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = s.Messages(t.Context(), "--all", "HEAD")
	require.ErrorIs(t, err, ErrUnresolved)
	_, err = s.Messages(t.Context(), strings.Repeat("0", 40), "HEAD")
	require.Error(t, err)
	_, err = open(t, t.TempDir()).Messages(t.Context(), "a", "b")
	require.ErrorIs(t, err, ErrNoRepository)
}
