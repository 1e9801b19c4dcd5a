package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// memoryFolder keeps the disk out of a measurement: what it does with a quarter of a million new files depends on who else
// writes, by a factor of ten.
const memoryFolder = "/dev/shm"

// bigRepository runs the benchmark of package gitrepo: 80,000 files.
func bigRepository(s settings) ([]row, error) {
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "BenchmarkPrepare/(worktree|run)", "-benchtime", "1x", "-count", "3", "./internal/gitrepo")
	cmd.Dir, cmd.Env = s.root, os.Environ()
	if info, err := os.Stat(memoryFolder); err == nil && info.IsDir() {
		cmd.Env = append(cmd.Env, "TMPDIR="+memoryFolder)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	one, all := benchSeconds(out, "/worktree-add"), benchSeconds(out, "/run-and-two-seats")
	if len(one) == 0 || len(one) != len(all) {
		return nil, fmt.Errorf("the benchmark's output was not understood: %s", out)
	}
	var ratio []float64
	for i := range one {
		ratio = append(ratio, all[i]/one[i])
	}
	return []row{
		{"80,000 files: one `git worktree add`", one, seconds, 0},
		{"80,000 files: run repository, writer's workspace and two seats", all, seconds, 0},
		{"the same as a ratio", ratio, times, 2},
	}, nil
}

// benchSeconds reads the time per operation of one benchmark.
func benchSeconds(output []byte, name string) []float64 {
	var values []float64
	lines := bufio.NewScanner(bytes.NewReader(output))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 3 && strings.Contains(fields[0], name) && fields[3] == "ns/op" {
			if ns, err := strconv.ParseFloat(fields[2], 64); err == nil {
				values = append(values, ns/1e9)
			}
		}
	}
	return values
}
