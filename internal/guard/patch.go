package guard

import (
	"bytes"
	"strconv"
	"strings"
)

// A Reader is told what stands in a patch, in its order.
type Reader interface {
	// File begins a file. An old or new name of "" is a side that does not exist.
	File(old, new string)
	// Hunk begins a hunk of the file: first line and number of lines on both sides.
	Hunk(oldStart, oldLines, newStart, newLines int)
	// Line is a line of the hunk: ' ', '-' or '+', and its text without the line feed. Text is only valid during the call.
	Line(op byte, text []byte)
}

// Patch parses a unified diff of git, of any size, while it is written to it. It never fails: what it does not know it
// passes over. Names come from a/ and b/ as package gitrepo writes them.
type Patch struct {
	readers  []Reader
	line     []byte // of the line that is being written, at most maxLine
	head     header
	told     bool // the file of head was told
	old, new int  // lines that are left in the hunk
}

// header is what the lines before the first hunk say.
type header struct {
	open             bool
	old, new         string
	oldGone, newGone bool
}

// maxLine is how much of a line is kept: what names a test stands in its front.
const maxLine = 64 << 10

// NewPatch tells the readers; Close ends it.
func NewPatch(readers ...Reader) *Patch { return &Patch{readers: readers} }

// Write takes the next bytes of the diff.
func (p *Patch) Write(part []byte) (int, error) {
	n := len(part)
	for len(part) > 0 {
		end := bytes.IndexByte(part, '\n')
		if end < 0 {
			p.keep(part)
			break
		}
		p.keep(part[:end])
		p.take(p.line)
		p.line = p.line[:0]
		part = part[end+1:]
	}
	return n, nil
}

// Close takes in a last line without a line feed, and the file whose hunks never came.
func (p *Patch) Close() error {
	if len(p.line) > 0 {
		p.take(p.line)
		p.line = nil
	}
	p.tell()
	return nil
}

func (p *Patch) keep(part []byte) {
	p.line = append(p.line, part[:min(len(part), maxLine-len(p.line))]...)
}

func (p *Patch) take(line []byte) {
	if p.old > 0 || p.new > 0 {
		if p.body(line) {
			return
		}
		p.old, p.new = 0, 0 // a broken hunk: what follows is looked at anew
	}
	switch {
	case bytes.HasPrefix(line, []byte("diff --git ")):
		p.tell()
		p.told = false
		p.head = header{open: true}
		p.head.old, p.head.new = names(string(line[len("diff --git "):]))
	case bytes.HasPrefix(line, []byte("@@ -")):
		if old, oldLines, start, lines, ok := hunk(string(line)); ok && p.head.open {
			p.tell()
			p.old, p.new = oldLines, lines
			for _, r := range p.readers {
				r.Hunk(old, oldLines, start, lines)
			}
		}
	case p.head.open && !p.told:
		p.head.read(string(line))
	}
}

// body takes a line of a hunk; false where it cannot be one.
func (p *Patch) body(line []byte) bool {
	op := byte(' ') // some tools strip the blank of an empty line
	if len(line) > 0 {
		op, line = line[0], line[1:]
	}
	switch op {
	case ' ':
		p.old, p.new = p.old-1, p.new-1
	case '-':
		p.old--
	case '+':
		p.new--
	case '\\':
		return true
	default:
		return false
	}
	for _, r := range p.readers {
		r.Line(op, line)
	}
	return true
}

// tell begins the file of the header, once.
func (p *Patch) tell() {
	if !p.head.open || p.told {
		return
	}
	p.told = true
	old, now := p.head.old, p.head.new
	if p.head.oldGone {
		old = ""
	}
	if p.head.newGone {
		now = ""
	}
	for _, r := range p.readers {
		r.File(old, now)
	}
}

func (h *header) read(line string) {
	key, value, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "new file mode "):
		h.oldGone = true
	case strings.HasPrefix(line, "deleted file mode "):
		h.newGone = true
	case strings.HasPrefix(line, "rename from "), strings.HasPrefix(line, "copy from "):
		h.old = unquote(strings.TrimPrefix(value, "from "))
	case strings.HasPrefix(line, "rename to "), strings.HasPrefix(line, "copy to "):
		h.new = unquote(strings.TrimPrefix(value, "to "))
	case key == "---" && value != "/dev/null":
		h.old = side(value)
	case key == "+++" && value != "/dev/null":
		h.new = side(value)
	}
}

// side reads the name of a --- or +++ line. Git puts a tab behind a name with a blank.
func side(value string) string { return strip(unquote(strings.TrimSuffix(value, "\t"))) }

// strip cuts the prefix a/ or b/ off.
func strip(name string) string {
	if len(name) > 2 && name[1] == '/' {
		return name[2:]
	}
	return name
}

// names reads "a/NAME b/NAME", which is unambiguous only because both names are equal wherever no other line names them.
func names(rest string) (old, now string) {
	if strings.HasPrefix(rest, `"`) || strings.HasSuffix(rest, `"`) {
		if cut := strings.Index(rest, ` "b/`); cut > 0 {
			return strip(unquote(rest[:cut])), strip(unquote(rest[cut+1:]))
		}
		if cut := strings.LastIndex(rest, `" b/`); cut > 0 {
			return strip(unquote(rest[:cut+1])), strip(rest[cut+2:])
		}
	}
	half := len(rest) / 2
	if len(rest)%2 == 1 && strip(rest[:half]) == strip(rest[half+1:]) {
		return strip(rest[:half]), strip(rest[half+1:])
	}
	old, now, _ = strings.Cut(rest, " b/")
	return strip(old), now
}

// unquote reads a name as git quotes it: C escapes with octal bytes.
func unquote(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}

// hunk reads "@@ -a,b +c,d @@"; a count that is left out is 1.
func hunk(line string) (oldStart, oldLines, newStart, newLines int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[3] != "@@" {
		return 0, 0, 0, 0, false
	}
	oldStart, oldLines, ok1 := span(fields[1], '-')
	newStart, newLines, ok2 := span(fields[2], '+')
	return oldStart, oldLines, newStart, newLines, ok1 && ok2
}

func span(field string, sign byte) (start, lines int, ok bool) {
	if field == "" || field[0] != sign {
		return 0, 0, false
	}
	first, count, counted := strings.Cut(field[1:], ",")
	start, err := strconv.Atoi(first)
	if err != nil || start < 0 {
		return 0, 0, false
	}
	if !counted {
		return start, 1, true
	}
	lines, err = strconv.Atoi(count)
	return start, lines, err == nil && lines >= 0
}
