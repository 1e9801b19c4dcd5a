package runindex

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"unicode"
)

const (
	slugLength = 40
	// wordsLength is how long a slug of whole words gets: a run's id fits the outcome's box with it.
	wordsLength  = 30
	randomLength = 5
)

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID makes a run's id: a slug of the requirement and five random characters.
func NewID(requirement string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the process instead
	return Slug(requirement) + "-" + letters.EncodeToString(random[:])[:randomLength]
}

// Slug is the readable part of an id: lower-case letters, digits and single
// dashes, at most 30 of whole words, or 40 where the first words are longer
// than that. It is never empty and fits a branch name.
func Slug(text string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(text) {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		} else {
			dash = true
		}
		if b.Len() > slugLength+slugLength {
			break
		}
	}
	slug := b.String()
	if len(slug) > wordsLength {
		cut := min(len(slug), slugLength)
		if i := strings.LastIndexByte(slug[:wordsLength+1], '-'); i >= wordsLength/2 {
			cut = i
		}
		slug = strings.Trim(slug[:cut], "-")
	}
	if slug == "" {
		return "run"
	}
	return slug
}
