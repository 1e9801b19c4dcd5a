package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	// tableWidth is how wide a table is that goes to no terminal, in columns.
	tableWidth = 100
	// leastColumn is how narrow a column may become.
	leastColumn = 8
)

// printTable writes rows in columns that fit the terminal: what is too long is broken between words, in the widest
// columns first.
func (a *app) printTable(rows [][]string) {
	width := tableWidth
	if terminal, own := terminalOf(a.out); terminal && own > 0 {
		width = max(own, leastWidth)
	}
	writeTable(&shown{w: a.out}, rows, width)
}

func writeTable(w io.Writer, rows [][]string, width int) {
	widths := columnWidths(rows, width)
	for _, row := range rows {
		var cells [][]string
		height := 0
		for i, cell := range row {
			cells = append(cells, strings.Split(ansi.Wrap(cell, widths[i], ""), "\n"))
			height = max(height, len(cells[i]))
		}
		for line := range height {
			var b strings.Builder
			for i := range cells {
				text := strings.TrimSpace(nth(cells[i], line))
				b.WriteString(text + strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(text))+columnGap))
			}
			fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
		}
	}
}

// columnWidths are those of the longest cells, the widest of them made narrower until all fit.
func columnWidths(rows [][]string, width int) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	over := columnGap*(len(widths)-1) - width
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= leastColumn {
			break
		}
		widths[widest]--
	}
	return widths
}
