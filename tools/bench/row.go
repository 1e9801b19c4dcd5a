package main

import (
	"fmt"
	"slices"
	"time"
)

// row is one line of the table. Lower is better.
type row struct {
	what   string
	values []float64
	// show turns a value into text.
	show func(float64) string
	// budget is the most that the median may be; 0 means that there is none.
	budget float64
}

// String is the row as Markdown.
func (r row) String() string {
	if len(r.values) == 0 {
		return fmt.Sprintf("| %s | not measured | | | 0 | | |", r.what)
	}
	sorted := slices.Sorted(slices.Values(r.values))
	middle := median(sorted)
	budget, holds := "", ""
	if r.budget > 0 {
		budget, holds = "<= "+r.show(r.budget), "holds"
		if middle > r.budget {
			holds = "**missed**"
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %d | %s | %s |", r.what,
		r.show(middle), r.show(sorted[0]), r.show(sorted[len(sorted)-1]), len(sorted), budget, holds)
}

// median of a sorted list that is not empty.
func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

func seconds(v float64) string  { return fmt.Sprintf("%.2f s", v) }
func millis(v float64) string   { return fmt.Sprintf("%.1f ms", v*1000) }
func times(v float64) string    { return fmt.Sprintf("%.3f x", v) }
func count(v float64) string    { return fmt.Sprintf("%.0f", v) }
func kibi(v float64) string     { return fmt.Sprintf("%.1f KiB", v/(1<<10)) }
func megabyte(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }

// repeat measures n times.
func repeat(n int, once func(i int) (time.Duration, error)) ([]float64, error) {
	var values []float64
	for i := range n {
		took, err := once(i)
		if err != nil {
			return nil, err
		}
		values = append(values, took.Seconds())
	}
	return values, nil
}

// over divides every value.
func over(values []float64, by float64) []float64 {
	var out []float64
	for _, v := range values {
		out = append(out, v/by)
	}
	return out
}
