// Command bench measures what the design promises about time and size, on this
// machine, with the programs that `make build` left. It only reports: a budget
// that is missed does not fail it.
//
//	bench --bin bin [--only dry,doctor,sleep,seats,history,shape,prepare,memory] [--timeline] [--write docs/benchmarks.md]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/internal/process"
)

// settings are what the measurements share.
type settings struct {
	bin      string
	timeline bool
	root     string
}

// measurement is one group of rows. It must leave nothing running.
type measurement struct {
	name string
	run  func(settings) ([]row, error)
}

var measurements = []measurement{
	{"dry", dryRuns}, {"doctor", doctorWithoutAgents}, {"sleep", sleepingAgents}, {"seats", eightSeats}, {"history", historySizes},
	{"shape", sameShape}, {"prepare", bigRepository}, {"memory", manyRuns},
}

func main() {
	process.Main() // does not return in a supervisor
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var s settings
	only := flag.String("only", "", "comma-separated `NAMES` of measurements")
	flag.StringVar(&s.bin, "bin", "bin", "the `FOLDER` with starter, worker, devserver and scriptagent")
	flag.BoolVar(&s.timeline, "timeline", false, "print where the time of one run goes")
	write := flag.String("write", "", "put the report between the marks of this `FILE` too")
	flag.Parse()
	var err error
	if s.bin, err = filepath.Abs(s.bin); err != nil {
		return err
	}
	if s.root, err = os.Getwd(); err != nil {
		return err
	}
	for _, name := range split(*only) {
		if !slices.ContainsFunc(measurements, func(m measurement) bool { return m.name == name }) {
			return fmt.Errorf("--only %s: no such measurement", name)
		}
	}
	var copied strings.Builder
	report(io.MultiWriter(os.Stdout, &copied), s, split(*only))
	if *write == "" {
		return nil
	}
	return replaceReport(*write, copied.String())
}

// report measures and prints Markdown.
func report(out io.Writer, s settings, only []string) {
	printMachine(out)
	fmt.Fprintln(out, "\n| what | median | min | max | n | budget | |\n| --- | --- | --- | --- | --- | --- | --- |")
	began := time.Now()
	for _, m := range measurements {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		load := loadAverage()
		rows, err := m.run(s)
		if err != nil {
			fmt.Fprintf(out, "| %s | not measured: %s | | | | | |\n", m.name, strings.ReplaceAll(firstLine(err.Error()), "|", "/"))
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", m.name, err)
			continue
		}
		for _, r := range rows {
			fmt.Fprintln(out, r)
		}
		fmt.Fprintf(os.Stderr, "bench: %s done after %.0f s; load before %s, after %s\n", m.name, time.Since(began).Seconds(), load, loadAverage())
	}
	fmt.Fprintf(out, "\nLoad at the end: %s. Took %.0f s.\n", loadAverage(), time.Since(began).Seconds())
}

// The marks between which a report stands in a document.
const beginMark, endMark = "<!-- report -->\n", "<!-- end of report -->\n"

// replaceReport puts a report into a document.
func replaceReport(path, text string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(raw), beginMark)
	_, after, ends := strings.Cut(rest, endMark)
	if !begins || !ends {
		return fmt.Errorf("%s: the marks %q and %q are missing", path, beginMark, endMark)
	}
	return os.WriteFile(path, []byte(before+beginMark+text+endMark+after), 0o644)
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
