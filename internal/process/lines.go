package process

import (
	"bytes"
	"io"
)

// keepLine is how much of an unfinished line stays in memory. A longer line is read back from disk once its end is
// known, so that the memory of a turn is one line of exactly its size, and nothing for lines over the limit.
const keepLine = 1 << 20

// transcript is the file behind a splitter.
type transcript interface {
	io.Writer
	io.ReaderAt
}

// splitter writes a stream to disk and hands on its lines. It splits at '\n' only: not at '\r', U+2028 or U+0085,
// which occur inside JSON strings.
type splitter struct {
	file    transcript
	max     int
	onLine  func(line []byte) // the line without its '\n', valid during the call
	head    []byte            // the first bytes of the unfinished line
	start   int64             // where the unfinished line begins on disk
	written int64
	dropped int
}

// add takes the next bytes of the stream.
func (s *splitter) add(p []byte) error {
	n, err := s.file.Write(p)
	s.written += int64(n)
	if err != nil {
		return err
	}
	pos := s.written - int64(n)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p)
			return nil
		}
		if err := s.line(p[:i], pos+int64(i)); err != nil {
			return err
		}
		p, pos = p[i+1:], pos+int64(i)+1
		s.start = pos
	}
	return nil
}

// end hands on a last line that had no '\n'.
func (s *splitter) end() error {
	if s.written == s.start {
		return nil
	}
	err := s.line(nil, s.written)
	s.start = s.written
	return err
}

func (s *splitter) keep(p []byte) {
	room := keepLine - len(s.head)
	s.head = append(s.head, p[:min(room, len(p))]...)
}

// line finishes the line that ends on disk at end; last are its bytes from the newest chunk.
func (s *splitter) line(last []byte, end int64) error {
	size := end - s.start
	defer func() { s.head = s.head[:0] }()
	switch {
	case size > int64(s.max):
		s.dropped++
		return nil
	case size == int64(len(last)):
		s.onLine(last)
		return nil
	case size <= int64(len(s.head)+len(last)):
		s.head = append(s.head, last...)
		s.onLine(s.head)
		return nil
	}
	whole := make([]byte, size)
	if _, err := s.file.ReadAt(whole, s.start); err != nil {
		return err
	}
	s.onLine(whole)
	return nil
}
