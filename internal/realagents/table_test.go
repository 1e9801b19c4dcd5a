//go:build linux || darwin

package realagents

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// row is one case that was played with one program.
type row struct {
	adapter, name, class, detail string
	seconds                      float64
}

var (
	tableMutex sync.Mutex
	table      []row
)

// noted takes a case into the table that is printed at the end.
func noted(r row) {
	tableMutex.Lock()
	defer tableMutex.Unlock()
	table = append(table, r)
}

// printTable prints the cases and the classes that were recognised.
func printTable() {
	if len(table) == 0 {
		return
	}
	slices.SortStableFunc(table, func(a, b row) int { return strings.Compare(a.adapter, b.adapter) })
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%d cases\nadapter\tcase\tclass\tseconds\tmessage\n", len(table))
	for _, r := range table {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f\t%s\n", r.adapter, r.name, r.class, r.seconds, r.detail)
	}
	_ = w.Flush()
}
