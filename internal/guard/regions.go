package guard

import (
	"bytes"
	"unicode/utf8"
)

// Regions are the places that a patch shows: the lines of its hunks, on both sides, with their context.
type Regions struct {
	files map[string]*region
	now   []*region // of the file that is being read
}

// region is what a patch shows of one path.
type region struct {
	spans [][2]int // first and last line
	// whole is set until a hunk comes: of a binary file, a rename, a mode there are no lines.
	whole bool
}

// NewRegions gives a Reader to fill.
func NewRegions() *Regions { return &Regions{files: map[string]*region{}} }

// File implements Reader.
func (r *Regions) File(old, new string) {
	r.now = r.now[:0]
	for i, name := range []string{old, new} {
		if name == "" || i == 1 && name == old {
			continue
		}
		if r.files[name] == nil {
			r.files[name] = &region{whole: true}
		}
		r.now = append(r.now, r.files[name])
	}
}

// Hunk implements Reader.
func (r *Regions) Hunk(oldStart, oldLines, newStart, newLines int) {
	for _, file := range r.now {
		file.whole = false
		file.spans = append(file.spans, [2]int{oldStart, oldStart + max(oldLines, 1) - 1}, [2]int{newStart, newStart + max(newLines, 1) - 1})
	}
}

// Line implements Reader.
func (r *Regions) Line(byte, []byte) {}

// Covers reports whether the patch shows one of the lines from line to end of a path. Line 0 means the whole file.
func (r *Regions) Covers(path string, line, end int) bool {
	file := r.files[path]
	if file == nil {
		return false
	}
	if file.whole || line <= 0 {
		return true
	}
	for _, span := range file.spans {
		if line <= span[1] && max(line, end) >= span[0] {
			return true
		}
	}
	return false
}

// Lines counts the added and removed lines of a patch. A file that is exempt on both sides does not count.
type Lines struct {
	Counted int
	exempt  func(string) bool
	skip    bool
}

// NewLines gives a Reader that counts.
func NewLines(exempt func(path string) bool) *Lines { return &Lines{exempt: exempt} }

// File implements Reader.
func (l *Lines) File(old, new string) {
	l.skip = (old == "" || l.exempt(old)) && (new == "" || l.exempt(new))
}

// Hunk implements Reader.
func (l *Lines) Hunk(int, int, int, int) {}

// Line implements Reader.
func (l *Lines) Line(op byte, _ []byte) {
	if op != ' ' && !l.skip {
		l.Counted++
	}
}

// TextLines counts the lines of what people wrote, although git takes it for binary: bytes that nobody writes are rare
// in it, or it is UTF-16. It is 0 for anything else.
func TextLines(content []byte) int {
	if bytes.HasPrefix(content, []byte{0xff, 0xfe}) || bytes.HasPrefix(content, []byte{0xfe, 0xff}) {
		return bytes.Count(content, []byte{'\n', 0}) + 1
	}
	odd := 0
	for _, b := range content {
		if b < '\t' || b > '\r' && b < ' ' && b != 0x1b {
			odd++
		}
	}
	if len(content) == 0 || odd > 1+len(content)/50 || !mostlyText(content) {
		return 0
	}
	return bytes.Count(content, []byte{'\n'}) + 1
}

// mostlyText reports whether nearly all of the bytes are UTF-8: of compressed data few are.
func mostlyText(content []byte) bool {
	broken := 0
	for rest := content; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			broken++
		}
		rest = rest[size:]
	}
	return broken <= 1+len(content)/50
}
