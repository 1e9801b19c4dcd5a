//go:build linux

package process

import (
	"context"
	"os"
	"syscall"
	"testing"

	"conclave/internal/sandbox"
)

// BenchmarkTurn is the time of a turn that does nothing, without a sandbox and in each.
func BenchmarkTurn(b *testing.B) {
	for _, kind := range []sandbox.Kind{sandbox.None, sandbox.Landlock, sandbox.Bubblewrap} {
		b.Run(string(kind), func(b *testing.B) {
			dir := b.TempDir()
			home := b.TempDir()
			before := cpu(b)
			for b.Loop() {
				s := Spec{Name: "true", Path: "/bin/true", Dir: dir, Stdout: dir + "/out", Stderr: dir + "/err"}
				if kind != sandbox.None {
					policy, err := sandbox.Turn{
						Role: sandbox.Writer, Program: "/bin/true", Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, Workspace: dir, Temp: dir,
					}.Policy()
					if err != nil {
						b.Fatal(err)
					}
					if s.Sandbox, err = sandbox.Detect(context.Background()).Only(kind).Confine(policy, dir); err != nil {
						b.Skip(err)
					}
				}
				if res, err := Run(context.Background(), s, nil); err != nil || res.ExitCode != 0 {
					b.Fatal(res, err)
				}
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N)/1e3, "cpu-ms/op")
		})
	}
}

// cpu is the processor time of this process and of those it waited for, in microseconds: what a busy machine cannot blur.
func cpu(b *testing.B) (sum int64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += u.Utime.Nano()/1e3 + u.Stime.Nano()/1e3
	}
	return sum
}
