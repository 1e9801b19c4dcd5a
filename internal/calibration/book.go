package calibration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// BookSchema is the version of a Book that this code reads.
const BookSchema = 1

// Key is what a measurement holds for. Another engine, lens or word of the prompts needs another one.
type Key struct {
	Engine
	Lens string `json:"lens"`
	// Words is the digest of the prompt's templates and of the lens's text.
	Words string `json:"words"`
}

// Entry is one measurement.
type Entry struct {
	Key
	// At is when it was made, Cases which cases it was made with, by digest and names.
	At       time.Time `json:"at"`
	Cases    string    `json:"cases_digest"`
	Names    []string  `json:"case_names"`
	Reported []string  `json:"reported"`
	Counts   Counts    `json:"counts"`
}

// Book is every measurement of a machine, one for each Key: the latest.
type Book struct {
	Schema  int     `json:"schema"`
	Entries []Entry `json:"entries"`
}

// Read reads a book. An empty text is an empty book.
func Read(raw []byte) (Book, error) {
	if len(raw) == 0 {
		return Book{Schema: BookSchema}, nil
	}
	var b Book
	if err := json.Unmarshal(raw, &b); err != nil {
		return Book{}, fmt.Errorf("read the calibration: %w", err)
	}
	if b.Schema != BookSchema {
		return Book{}, fmt.Errorf("the calibration has schema %d, this program reads %d", b.Schema, BookSchema)
	}
	return b, nil
}

// Put adds a measurement and takes the older one of the same key out.
func (b *Book) Put(e Entry) {
	b.Schema = BookSchema
	b.Entries = slices.DeleteFunc(b.Entries, func(known Entry) bool { return known.Key == e.Key })
	b.Entries = append(b.Entries, e)
	slices.SortStableFunc(b.Entries, func(x, y Entry) int { return strings.Compare(x.sorted(), y.sorted()) })
}

func (k Key) sorted() string {
	return strings.Join([]string{k.Adapter, k.Provider, k.ModelFamily, k.Model, k.Lens, k.Words}, "\x00")
}

// Find gives the measurement of a key.
func (b Book) Find(k Key) (Entry, bool) {
	i := slices.IndexFunc(b.Entries, func(e Entry) bool { return e.Key == k })
	if i < 0 {
		return Entry{}, false
	}
	return b.Entries[i], true
}

// Known gives a measurement of the same engine and lens with other words: what was calibrated before they changed.
func (b Book) Known(k Key) bool {
	return slices.ContainsFunc(b.Entries, func(e Entry) bool { return e.Engine == k.Engine && e.Lens == k.Lens })
}

// Thresholds are what a seat has to reach; shares from 0 to 1.
type Thresholds struct {
	Precision, Recall float64
}

// Lacks says why the counts are not enough to gate, "" where they are. What could not be measured is not reached.
func (t Thresholds) Lacks(c Counts) string {
	recall, measured := c.Recall()
	precision, raised := c.Precision()
	switch {
	case c.Failed > 0:
		return fmt.Sprintf("no valid answer to %d of %d cases", c.Failed, c.Cases)
	case !measured:
		return "no case expects anything of its lens"
	case recall < t.Recall:
		return fmt.Sprintf("recall %.2f is below %.2f", recall, t.Recall)
	case raised && precision < t.Precision:
		return fmt.Sprintf("precision %.2f is below %.2f", precision, t.Precision)
	case !raised && t.Precision > 0:
		return "it raised nothing"
	}
	return ""
}
