package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/internal/report/text"
)

// page is a Markdown document in the making. Whatever comes from agents, files
// or users enters it by code, fence or prose only, so that it cannot make
// headings, links or HTML of its own.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// gap leaves exactly one empty line before what follows.
func (p *page) gap() {
	if s := p.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		p.WriteByte('\n')
	}
}

func (p *page) heading(level int, title string) {
	p.gap()
	p.line("%s %s\n", strings.Repeat("#", level), title)
}

// paragraph writes our own Markdown with an empty line around it.
func (p *page) paragraph(format string, args ...any) {
	p.gap()
	p.line(format+"\n", args...)
}

func (p *page) fence(content string) {
	content = strings.Trim(text.Block(content), "\n")
	marks := strings.Repeat("`", max(3, longestRun(content, '`')+1))
	p.line("%stext\n%s\n%s", marks, content, marks)
}

// table writes a GitHub table; cells are Markdown already, made by code or prose.
func (p *page) table(head []string, rows [][]string) {
	p.line("| %s |", strings.Join(head, " | "))
	p.line("|%s", strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		p.line("| %s |", strings.Join(cells, " | "))
	}
}

// code is s as an inline code span of one bounded line.
func code(s string) string { return codeUpTo(s, 300) }

func codeUpTo(s string, limit int) string {
	s = text.OneLine(s, limit)
	if s == "" {
		return ""
	}
	marks := strings.Repeat("`", longestRun(s, '`')+1)
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		pad = " "
	}
	return marks + pad + s + pad + marks
}

// prose is s as one bounded line of plain words: what Markdown would obey is escaped, and nothing else.
func prose(s string) string {
	s = text.OneLine(s, 1000)
	var out strings.Builder
	for i, r := range s {
		if obeyed(s[:i], r, s[i+utf8.RuneLen(r):]) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// obeyed says whether Markdown may take r as a mark between what stands before and after it.
func obeyed(before string, r rune, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	last, _ := utf8.DecodeLastRuneInString(before)
	switch r {
	case '\\', '`', '*', '[', '<', '~':
		return true
	case '_': // within a word it is a letter
		return !isWord(last) || !isWord(next)
	case '&':
		return next == '#' || isWord(next)
	case '#', '+', '-', '=', '>':
		return before == ""
	case '.', ')': // a number that begins a list
		return before != "" && strings.Trim(before, "0123456789") == "" && (after == "" || next == ' ')
	}
	return false
}

func isWord(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

func longestRun(s string, mark rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != mark {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
