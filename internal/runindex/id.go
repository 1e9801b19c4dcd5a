package runindex

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"unicode"
)

const (
	slugLength   = 40
	randomLength = 5
)

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID makes a run's id: a slug of the requirement and five random characters.
func NewID(requirement string) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the process instead
	return Slug(requirement) + "-" + letters.EncodeToString(random[:])[:randomLength]
}

// Slug is the readable part of an id: at most 40 lower-case letters, digits
// and single dashes, cut between words where that leaves enough. It is never
// empty and fits a branch name.
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
	if len(slug) > slugLength {
		cut := slugLength
		if i := strings.LastIndexByte(slug[:slugLength+1], '-'); i >= slugLength/2 {
			cut = i
		}
		slug = strings.Trim(slug[:cut], "-")
	}
	if slug == "" {
		return "run"
	}
	return slug
}
