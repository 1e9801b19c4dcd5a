package view

import (
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// tty is as much of a terminal as the painter may use; anything else fails the test.
type tty struct {
	t        *testing.T
	width    int
	rows     []string
	row, col int
	// boxed says that the last box is closed.
	boxed bool
}

func newTTY(t *testing.T, width int) *tty { return &tty{t: t, width: width, rows: []string{""}} }

func (y *tty) Write(p []byte) (int, error) {
	for s := string(p); s != ""; {
		s = s[y.take(s):]
	}
	return len(p), nil
}

// take obeys one character or sequence and returns its length.
func (y *tty) take(s string) int {
	switch {
	case strings.HasPrefix(s, frameBegin), strings.HasPrefix(s, frameEnd):
		return len(frameBegin)
	case s[0] == '\r':
		y.col = 0
	case s[0] == '\n':
		if y.row++; y.row == len(y.rows) {
			y.rows = append(y.rows, "")
		}
		y.col = 0 // a terminal that is not raw returns too
	case strings.HasPrefix(s, "\x1b["):
		end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' && r <= '~' })
		y.obey(s[2:2+end], s[2+end])
		return 3 + end
	case s[0] < ' ':
		y.t.Fatalf("control character in %q", s[:min(len(s), 20)])
	default:
		cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		y.put(cluster, width)
		return len(cluster)
	}
	return 1
}

func (y *tty) obey(parameter string, command byte) {
	switch command {
	case 'm':
	case 'A':
		n, err := strconv.Atoi(parameter)
		if y.row -= n; err != nil || y.row < 0 {
			y.t.Fatalf("cursor up by %q from row %d", parameter, y.row+n)
		}
	case 'J':
		if parameter != "" || y.col != 0 {
			y.t.Fatalf("erase %q at column %d", parameter, y.col)
		}
		y.rows = append(y.rows[:y.row], "")
	default:
		y.t.Fatalf("sequence CSI %s%c is not for every terminal", parameter, command)
	}
}

func (y *tty) put(cluster string, width int) {
	if ansi.StringWidth(y.rows[y.row]) != y.col {
		y.t.Fatalf("%q overwrites %q", cluster, y.rows[y.row])
	}
	y.rows[y.row] += cluster
	y.col += width
	y.boxed = y.boxed || cluster == "╰"
	// The commands below the last box are the terminal's to break, so that they can be copied whole.
	if y.col >= y.width && (!y.boxed || strings.ContainsAny(y.rows[y.row], "╭│╰")) {
		y.t.Fatalf("a line of %d columns on a terminal of %d: %q", y.col, y.width, y.rows[y.row])
	}
}

func (y *tty) screen() string { return strings.Join(y.rows, "\n") }
