package guard

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALargePatchIsReadInLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of matching")
	}
	for path, lines := range map[string][]string{
		"a_test.go":   {"-func TestSum%d(t *testing.T) {", "+\tt.Skip(%d)", "+/*"},
		"a.test.ts":   {"-  it('adds %d', () => {", "+  it.skip('adds %d', () => {", "+    expect(1).toBe(%d)"},
		"src/lib.rs":  {"-#[test]", "-fn adds%d() {", "+let x = %d;"},
		"test_sum.py": {"-def test_%d():", "+class Test%d:", "+    x = 1"},
	} {
		one := spent(t, path, lines, 1_000)
		four := spent(t, path, lines, 4_000)
		t.Logf("%s: %v, %v", path, one, four)
		require.Less(t, four, 10*one+time.Second, path)
	}
}

// spent is the processor time of a scan: other programs on the machine do not lengthen it.
func spent(t *testing.T, path string, lines []string, n int) time.Duration {
	var body []string
	for i := range n {
		for _, line := range lines {
			if strings.Contains(line, "%d") {
				line = fmt.Sprintf(line, i)
			}
			body = append(body, line)
		}
	}
	diff := patch(path, path, body...)
	var before, after syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	tests := NewTests()
	_, err := NewPatch(tests).Write([]byte(diff))
	require.NoError(t, err)
	require.NotEmpty(t, tests.Hits())
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	return time.Duration(after.Utime.Nano()-before.Utime.Nano()) + time.Duration(after.Stime.Nano()-before.Stime.Nano())
}
