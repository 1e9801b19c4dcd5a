package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// Digest identifies the templates: sha256 over each one's name, length and text, in the order of their names. Any
// changed word is another digest.
func Digest() string {
	sum := sha256.New()
	names, err := fs.Glob(files, "templates/*.md") // sorted
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // an embedded file
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Lens is what a prompt says about a lens; "" for one that adds nothing.
func Lens(name string) string { return lenses[name] }
