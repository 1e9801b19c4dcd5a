package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// texts are the built-in templates by name.
var texts = readAll(files, "templates/*.md")

// Digest identifies what agents are told: sha256 over each template's name, length and text, users' overrides in place
// of what they replace, and over the lens texts that are given, all in the order of their names. Any changed word is
// another digest.
func Digest(overrides, lenses map[string]string) string {
	sum := sha256.New()
	all := maps.Clone(texts)
	maps.Copy(all, overrides)
	writeTexts(sum, "templates", all)
	writeTexts(sum, "lenses", lenses)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

func writeTexts(w io.Writer, kind string, texts map[string]string) {
	for _, name := range sortedNames(texts) {
		fmt.Fprintf(w, "%s/%q %d\n%s", kind, name, len(texts[name]), texts[name])
	}
}

func sortedNames(texts map[string]string) []string { return slices.Sorted(maps.Keys(texts)) }
