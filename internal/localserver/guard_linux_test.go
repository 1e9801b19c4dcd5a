package localserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"conclave/internal/process"
	"conclave/internal/sandbox"
)

// intrude does what an agent would that has found our ports: it rules on the findings of run-1, and asks the Web UI's
// interface for the namespaces. It prints a line for each port that let it.
func intrude(ports []string) int {
	for _, port := range ports {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := ruleBySignal(ctx, "127.0.0.1:"+port); err == nil {
			fmt.Println(port, "took a ruling")
		}
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+port+"/api/v1/namespaces", nil)
		if answer, err := http.DefaultClient.Do(request); err == nil {
			if _ = answer.Body.Close(); answer.StatusCode == http.StatusOK {
				fmt.Println(port, "answered by HTTP")
			}
		}
		cancel()
	}
	fmt.Println("tried")
	return 0
}

func ruleBySignal(ctx context.Context, address string) error {
	conn, err := dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = workflowservice.NewWorkflowServiceClient(conn).SignalWorkflowExecution(ctx, &workflowservice.SignalWorkflowExecutionRequest{
		Namespace: defaultNamespace, SignalName: "ruling", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: "run-1"},
	})
	return err
}

// portsOf are the ports on which a process listens.
func portsOf(t *testing.T, pid int) []string {
	t.Helper()
	mine := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil {
			mine[target] = true
		}
	}
	table, err := os.ReadFile("/proc/net/tcp")
	require.NoError(t, err)
	var ports []string
	for line := range strings.Lines(string(table)) {
		columns := strings.Fields(line)
		if len(columns) > 9 && columns[3] == "0A" && mine["socket:["+columns[9]+"]"] {
			var port int
			_, err := fmt.Sscanf(columns[1][strings.IndexByte(columns[1], ':')+1:], "%X", &port)
			require.NoError(t, err)
			ports = append(ports, fmt.Sprint(port))
		}
	}
	return ports
}

// An agent shares the network with the server. It must not rule on its own findings, answer for a reviewer, or start what
// a worker runs outside of any sandbox.
func TestNobodyButItsUserReachesTheDevserver(t *testing.T) {
	o := devserverOptions(t)
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer s.Close()
	startRun(t, dialServer(t, s), "run-1", "RunPhase")
	ports := portsOf(t, s.PID)
	require.GreaterOrEqual(t, len(ports), 6, "the door, four services and the Web UI")

	exe, err := os.Executable()
	require.NoError(t, err)
	plain := run(t, process.Spec{Path: exe, Args: append([]string{"intruder"}, ports...)}, nil)
	require.Contains(t, plain, "tried")
	require.NotContains(t, plain, "took a ruling", "a supervised process without a sandbox")
	require.NotContains(t, plain, "answered")

	support := sandbox.Detect(testContext(t))
	for _, kind := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Landlock} {
		only := support.Only(kind)
		if only.Kind() != kind {
			t.Logf("%s does not work here: %s", kind, only.Why()) // internal/sandbox says whether that is a failure
			continue
		}
		said := run(t, process.Spec{Path: exe, Args: append([]string{"intruder"}, ports...)}, &only)
		require.Contains(t, said, "tried", kind)
		require.NotContains(t, said, "took a ruling", kind)
		require.NotContains(t, said, "answered", kind)
	}
	if os.Getuid() == 0 {
		require.NotContains(t, asNobody(t, exe, ports), "took a ruling")
	}
	log, err := os.ReadFile(files{o.StateDir}.log())
	require.NoError(t, err)
	require.Contains(t, string(log), "refused a connection")

	// The same attempts by a process of ours get through: what was tried before would have worked.
	var out strings.Builder
	for _, port := range ports {
		if ruleBySignal(testContext(t), "127.0.0.1:"+port) == nil {
			fmt.Fprintln(&out, port, "took a ruling")
		}
	}
	require.Equal(t, strings.TrimPrefix(s.Address, "127.0.0.1:")+" took a ruling\n", out.String())
	answer, err := http.Get("http://" + s.UIAddress + "/api/v1/namespaces")
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// startWithin is a run inside of an agent's turn, such as our own tests as a verify command: it has a server of its own.
func startWithin(state, program string) int {
	s, err := Ensure(context.Background(), Options{StateDir: state, Binary: program, IdleExit: time.Minute})
	if err != nil {
		fmt.Println("not started:", err)
		return 1
	}
	defer func() { _ = s.Stop(context.Background()) }()
	if err := frontendAnswers(context.Background(), s.Address); err != nil {
		fmt.Println("not reached:", err)
		return 1
	}
	fmt.Println("reached its own")
	return 0
}

func TestARunInsideOfATurnHasAServerOfItsOwn(t *testing.T) {
	o := devserverOptions(t)
	program, err := filepath.Abs(o.Binary)
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	spec := process.Spec{Path: exe, Args: []string{"inner-starter", "state", program}}
	require.Contains(t, run(t, spec, nil), "reached its own")
	support := sandbox.Detect(testContext(t))
	for _, kind := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Landlock} {
		if only := support.Only(kind); only.Kind() == kind {
			require.Contains(t, run(t, spec, &only), "reached its own", kind)
		}
	}
}

// run supervises a program as a turn would, in a sandbox where one is given.
func run(t *testing.T, spec process.Spec, support *sandbox.Support) string {
	t.Helper()
	dir := t.TempDir()
	spec.Name, spec.Dir, spec.Env, spec.Timeout = "intruder", dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir}, 2*time.Minute
	spec.Stdout, spec.Stderr = filepath.Join(dir, "stdout"), filepath.Join(dir, "stderr")
	if support != nil {
		work, temp := filepath.Join(dir, "work"), filepath.Join(dir, "temp")
		require.NoError(t, os.Mkdir(work, 0o755))
		require.NoError(t, os.Mkdir(temp, 0o700))
		spec.Dir = work
		policy, err := sandbox.Turn{Role: sandbox.Writer, Program: spec.Path, Args: spec.Args, Env: spec.Env, Home: dir, Workspace: work, Temp: temp}.Policy()
		require.NoError(t, err)
		spec.Sandbox, err = support.Confine(policy, work)
		require.NoError(t, err)
	}
	end, err := process.Run(testContext(t), spec, nil)
	require.NoError(t, err)
	stdout, err := os.ReadFile(spec.Stdout)
	require.NoError(t, err)
	stderr, _ := os.ReadFile(spec.Stderr)
	require.Zero(t, end.ExitCode, "%s %s %s", end.Message, stdout, stderr)
	return string(stdout)
}

// asNobody runs the intruder as another user of the machine.
func asNobody(t *testing.T, exe string, ports []string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "intruder-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	program, err := os.ReadFile(exe)
	require.NoError(t, err)
	copied := filepath.Join(dir, "intruder")
	require.NoError(t, os.WriteFile(copied, program, 0o755))
	r, w, err := os.Pipe()
	require.NoError(t, err)
	p, err := os.StartProcess(copied, append([]string{copied, "intruder"}, ports...), &os.ProcAttr{
		Dir: "/", Files: []*os.File{nil, w, w}, Sys: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}},
	})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	state, err := p.Wait()
	require.NoError(t, err)
	require.True(t, state.Success(), "%s", out)
	require.Contains(t, string(out), "tried")
	return string(out)
}
