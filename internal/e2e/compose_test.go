package e2e

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"conclave/workflows"
)

func TestTheComposeFile(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{"../../docker-compose.yml"}, cli.WithEnv([]string{"CONCLAVE_PG_PASSWORD=secret"}))
	require.NoError(t, err)
	project, err := options.LoadProject(context.Background())
	require.NoError(t, err)

	pinned := regexp.MustCompile(`^[\w/.-]+:\d+\.\d+(\.\d+)?$`)
	for name, service := range project.Services {
		if service.Build == nil {
			require.Regexp(t, pinned, service.Image, name)
		}
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s: nothing listens on the network unasked", name)
		}
		for on, dependency := range service.DependsOn {
			require.Contains(t, project.Services, on, name)
			require.NotEqual(t, types.ServiceConditionStarted, dependency.Condition, "%s waits for %s to be of use", name, on)
		}
	}
	worker := project.Services["worker"]
	require.Greater(t, time.Duration(*worker.StopGracePeriod), 30*time.Second)
	require.Equal(t, "temporal:7233", *worker.Environment["CONCLAVE_ADDRESS"])
	script := project.Services["namespace"].Command[0]
	for name, kind := range workflows.SearchAttributes() {
		require.Contains(t, script, "--name "+name+" --type "+kind)
	}

	options, err = cli.NewProjectOptions([]string{"../../docker-compose.yml"})
	require.NoError(t, err)
	_, err = options.LoadProject(context.Background())
	require.ErrorContains(t, err, "choose a password", "there is no default password")
}
