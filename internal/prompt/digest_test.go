package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDigestNamesTheTemplates(t *testing.T) {
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, Digest())
	require.Equal(t, Digest(), Digest())
	require.Equal(t, lenses["tests"], Lens("tests"))
	require.Empty(t, Lens("none"))
}
