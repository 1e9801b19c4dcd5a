package secret

import "io"

// Bounds of a Writer's memory, in bytes: what it gathers before it looks, and what it keeps of what it has written, to
// know what stands before a place.
const (
	gathered = 128 << 10
	behind   = 256
)

// Writer takes secrets out of a stream, wherever its parts begin and end. It holds back what may belong to a secret
// that goes on; Close writes that. Its memory is bounded whatever is written.
type Writer struct {
	s    *Scanner
	to   io.Writer
	buf  []byte
	from int // buf up to here is written already
	over func(byte) bool
	err  error
	hits map[string]int
}

// Writer returns a writer that hands the redacted stream on.
func (s *Scanner) Writer(to io.Writer) *Writer {
	return &Writer{s: s, to: to, hits: map[string]int{}}
}

// Hits counts what was taken out, by rule.
func (w *Writer) Hits() map[string]int { return w.hits }

// Write takes the next part of the stream. Errors are those of the writer behind it.
func (w *Writer) Write(part []byte) (int, error) {
	n := len(part)
	for len(part) > 0 && w.err == nil {
		room := min(len(part), gathered)
		w.buf = append(w.buf, part[:room]...)
		part = part[room:]
		if len(w.buf)-w.from >= gathered+longest {
			w.flush(longest)
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return n, nil
}

// Close writes what was held back. It does not close the writer behind it.
func (w *Writer) Close() error {
	if w.err == nil {
		w.flush(0)
	}
	return w.err
}

// flush writes all but the last bytes, which it holds back, and the secrets that begin before those whole.
func (w *Writer) flush(held int) {
	w.swallow()
	limit := max(w.from, len(w.buf)-held)
	at := w.from
	for _, m := range w.matches(limit) {
		w.hits[m.Rule]++
		w.put(w.buf[at:m.Start])
		w.put(appendMark(nil, m, w.buf[m.Start:m.End]))
		at = m.End
		if at == len(w.buf) && held > 0 { // it goes on in what has not come yet
			w.over = w.goesOn(m)
		}
	}
	if at < limit {
		w.put(w.buf[at:limit])
		at = limit
	}
	w.from = at
	if cut := w.from - behind; cut > 0 {
		w.buf = append(w.buf[:0], w.buf[cut:]...)
		w.from = behind
	}
}

// matches are the secrets that begin before limit, or within one that does.
func (w *Writer) matches(limit int) []Match {
	if w.s == nil || w.s.auto == nil {
		return nil
	}
	var out []Match
	for _, m := range merge(w.s.candidates(w.buf, w.from, len(w.buf))) {
		if m.key < limit {
			out = append(out, m)
		}
	}
	return out
}

// goesOn says what of the stream still belongs to a secret that ends with what has come.
func (w *Writer) goesOn(m Match) func(byte) bool {
	if m.Rule == "private-key" {
		return inPEM
	}
	return solid
}

// swallow drops the rest of a secret that was longer than what is looked at at once.
func (w *Writer) swallow() {
	if w.over == nil {
		return
	}
	end := unescaped(w.buf, w.from, skip(w.buf, w.from, w.over))
	if end < len(w.buf) {
		w.over = nil
	}
	w.buf = append(w.buf[:w.from], w.buf[end:]...)
}

func (w *Writer) put(part []byte) {
	if w.err == nil && len(part) > 0 {
		_, w.err = w.to.Write(part)
	}
}
