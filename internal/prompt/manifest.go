package prompt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// FilePart is one file's part of a git diff.
type FilePart struct {
	Path      string // in the new tree, or in the old one where the file was deleted; "" for text before the first file
	OldPath   string // "" unless it was renamed or copied
	Kind      string // KindText, KindBinary or KindBare
	FirstLine int    // line of the diff at which the part begins, from 1
	Lines     int    // lines of the diff, headers included
	Offset    int64  // bytes of the diff before the part
	Bytes     int64
	Added     int // lines
	Removed   int // lines
}

// Kinds of a FilePart. A bare one has no content: only the mode or the name changed, or the file is empty.
const (
	KindText   = "text"
	KindBinary = "binary"
	KindBare   = "bare"
)

// Manifest accounts for a whole diff: its parts follow each other without a gap.
type Manifest struct {
	Parts []FilePart
	Lines int
	Bytes int64
}

// longestHead bounds what is kept of a line, in bytes: the longest path, quoted, and then some.
const longestHead = 64 << 10

// ReadManifest reads a git diff (a/ and b/ prefixes) to its end in constant memory. It returns an error of the reader only:
// whatever stands before the first file, or is no diff at all, is a part without a path.
func ReadManifest(r io.Reader) (Manifest, error) {
	var m Manifest
	in := bufio.NewReaderSize(r, longestHead)
	for {
		head, size, err := nextLine(in)
		if size > 0 {
			m.add(head, size)
		}
		switch {
		case errors.Is(err, io.EOF):
			return m, nil
		case err != nil:
			return Manifest{}, fmt.Errorf("read the diff: %w", err)
		}
	}
}

// nextLine reads to the next line feed. head is the line's beginning without its end; size counts all of its bytes.
func nextLine(in *bufio.Reader) (head []byte, size int64, err error) {
	chunk, err := in.ReadSlice('\n')
	size = int64(len(chunk))
	head = bytes.TrimSuffix(chunk, []byte("\n"))
	if errors.Is(err, bufio.ErrBufferFull) {
		head = bytes.Clone(head) // the next read overwrites it
		for errors.Is(err, bufio.ErrBufferFull) {
			chunk, err = in.ReadSlice('\n')
			size += int64(len(chunk))
		}
	}
	return head, size, err
}

// add counts one more line. Inside of a file's part no line can look like a file's header: git begins each line of
// content with a sign, and a binary patch holds no blank.
func (m *Manifest) add(line []byte, size int64) {
	header, starts := bytes.CutPrefix(line, []byte("diff --git "))
	if starts || len(m.Parts) == 0 {
		m.Parts = append(m.Parts, FilePart{Kind: KindBare, FirstLine: m.Lines + 1, Offset: m.Bytes})
	}
	part := &m.Parts[len(m.Parts)-1]
	if starts {
		part.Path = headerPath(string(header))
	} else {
		part.read(line)
	}
	part.Lines++
	part.Bytes += size
	m.Lines++
	m.Bytes += size
}

// read takes in a line after a part's first.
func (p *FilePart) read(line []byte) {
	switch {
	case p.Kind == KindText:
		p.count(line)
	case p.Kind == KindBinary:
	case bytes.HasPrefix(line, []byte("@@ ")):
		p.Kind = KindText
	case bytes.HasPrefix(line, []byte("GIT binary patch")), bytes.HasPrefix(line, []byte("Binary files ")):
		p.Kind = KindBinary
	default:
		p.name(string(line))
	}
}

func (p *FilePart) count(line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte("+")):
		p.Added++
	case bytes.HasPrefix(line, []byte("-")):
		p.Removed++
	}
}

// Split cuts a diff into its parts; joined they are the diff. The manifest must be the diff's own.
func (m Manifest) Split(diff []byte) ([][]byte, error) {
	if int64(len(diff)) != m.Bytes {
		return nil, fmt.Errorf("the diff is %d bytes long, its manifest accounts for %d", len(diff), m.Bytes)
	}
	parts := make([][]byte, 0, len(m.Parts))
	for _, p := range m.Parts {
		parts = append(parts, diff[p.Offset:p.Offset+p.Bytes])
	}
	return parts, nil
}
