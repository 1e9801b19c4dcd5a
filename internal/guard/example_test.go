package guard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsAnExampleFile(t *testing.T) {
	for path, want := range map[string]bool{
		".env.example": true, "config/Settings.Sample.yaml": true, "deploy/template.env": true, "app.ini.dist": true,
		".env": false, "examples/server/main.go": false, "config/settings.yaml": false, "dist/app.js": false, "": false,
	} {
		require.Equal(t, want, IsExample(path), path)
	}
}
