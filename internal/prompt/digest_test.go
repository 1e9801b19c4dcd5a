package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheDigestNamesEveryWordThatAgentsAreTold(t *testing.T) {
	type words = map[string]string
	seen := map[string]string{}
	for name, digest := range map[string]string{
		"nothing of the user's": Digest(nil, nil),
		"a template":            Digest(words{"review": "x"}, nil),
		"another word in it":    Digest(words{"review": "y"}, nil),
		"another template":      Digest(words{"recheck": "x"}, nil),
		"a lens":                Digest(nil, words{"own": "x"}),
		"another word of it":    Digest(nil, words{"own": "y"}),
		"another name":          Digest(nil, words{"own2": "x"}),
		"both":                  Digest(words{"review": "x"}, words{"own": "x"}),
		"a lens named review":   Digest(nil, words{"review": "x"}),
	} {
		require.Regexp(t, `^sha256:[0-9a-f]{64}$`, digest)
		require.NotContains(t, seen, digest, "%s and %s", name, seen[digest])
		seen[digest] = name
	}
	require.Equal(t, Digest(nil, nil), Digest(words{}, words{}))
	require.Equal(t, Digest(nil, nil), Digest(words{"review": Template("review")}, nil), "an override that changes nothing")
}
