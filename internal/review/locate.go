package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// The keys that make a JSON object the answer of a role.
const (
	verdictKey   = "verdict"    // review and recheck
	confirmedKey = "confirmed"  // confirm
	rulingsKey   = "rulings"    // arbitrate
	fixReportKey = "fix_report" // repair
)

// located is where an answer's JSON was found.
type located struct {
	object  object
	alone   bool   // it came without text around it: as structured output
	problem string // there was an attempt at an answer that cannot be read
}

// locate looks for the object that holds key: the structured output, else the last fenced json block with it, else an
// object that stands unfenced in the text. A broken block that speaks of the key is a broken answer, not a text.
func (d *document) locate(structured []byte, key string) located {
	for found := range d.answers(structured, key) {
		return found
	}
	return located{}
}

// answers yields everything that claims to be an answer with key, the one that counts first.
func (d *document) answers(structured []byte, key string) iter.Seq[located] {
	return func(yield func(located) bool) {
		if found, ok := asAnswer(structured, key); ok {
			found.alone = true
			if !yield(found) {
				return
			}
		}
		fences, bare := d.candidates()
		for _, fence := range slices.Backward(fences) {
			if found, ok := asAnswer(fence, key); ok && !yield(found) {
				return
			}
		}
		for _, line := range slices.Backward(bare[max(0, len(bare)-maxBare):]) {
			if found, ok := d.asBare(line, key); ok && !yield(found) {
				return
			}
		}
	}
}

// reviewKeys are those of a review's answer beside its verdict.
var reviewKeys = []string{"confidence", "evidence", "reviewed", "findings", "rechecked"}

// forgotVerdict reports whether there is an answer of a reviewer without its verdict: the line under such an answer
// must not count for it. One key alone is no sign, since code under review may have it.
func (d *document) forgotVerdict(structured []byte) bool {
	for _, key := range reviewKeys {
		for found := range d.answers(structured, key) {
			has := func(key string) bool { _, ok := found.object[key]; return ok }
			if len(slices.DeleteFunc(slices.Clone(reviewKeys), func(key string) bool { return !has(key) })) > 1 {
				return true
			}
		}
	}
	return false
}

// answerKey is a key of a reviewer's answer as JSON writes it, in any case.
var answerKey = regexp.MustCompile(`(?i)"(verdict|confidence|evidence|reviewed|findings|rechecked)"\s*:`)

// remains reports whether the author's own text holds what is left of an answer in JSON: cut off, broken, in the midst
// of a sentence, in a fence of another name. A line under it must not pass for it. Code of other languages, quotes and
// diffs are somebody else's, and one key alone is no sign.
func (d *document) remains() bool {
	seen := map[string]bool{}
	d.each(func(n ast.Node, quoted bool) {
		if quoted || !mayAnswer(n, d.source) {
			return
		}
		for i := range n.Lines().Len() {
			segment := n.Lines().At(i)
			if d.diff[d.lineAt(segment.Start)-1] {
				continue
			}
			for _, key := range answerKey.FindAllSubmatch(segment.Value(d.source), -1) {
				seen[strings.ToLower(string(key[1]))] = true
			}
		}
	})
	return len(seen) > 1
}

// mayAnswer reports whether a block's own lines may be an author's JSON.
func mayAnswer(n ast.Node, source []byte) bool {
	switch kindOf(n) {
	case prose, heading, indented, markup:
		return true
	case fence:
		language := string(n.(*ast.FencedCodeBlock).Language(source))
		return language == "" || strings.HasPrefix(strings.ToLower(language), "json")
	}
	return false
}

// contradicts reports whether the message holds an answer of its own that blocks.
func (d *document) contradicts() bool {
	var word string
	own := d.locate(nil, verdictKey)
	return own.object != nil && json.Unmarshal(own.object[verdictKey], &word) == nil && word == Block.String()
}

// rivals reports whether the message holds another answer with key that says something else than the one that counts.
func (d *document) rivals(structured []byte, key string) bool {
	var first located
	n := 0
	for found := range d.answers(structured, key) {
		if n++; n == 1 {
			first = found
		} else if !sameJSON(first.object, found.object) {
			return true
		}
	}
	return false
}

// maxBare is how many lines that begin with a brace are tried, from the last one up.
const maxBare = 8

// asAnswer reads raw as an answer's object; ok is false where it makes no claim to be one.
func asAnswer(raw []byte, key string) (found located, ok bool) {
	decoded, err := decodeObject(raw)
	if err != nil {
		if !mentions(raw, key) {
			return located{}, false
		}
		return located{problem: fmt.Sprintf("the JSON answer cannot be read: %v", err)}, true
	}
	if _, ok := decoded[key]; !ok {
		return located{}, false
	}
	return located{object: decoded}, true
}

// asBare reads an object that begins with a line of the message.
func (d *document) asBare(line int, key string) (found located, ok bool) {
	raw := bytes.Join(d.raw[line-1:], []byte("\n"))
	raw = raw[max(0, bytes.IndexByte(raw, '{')):] // behind marks that no reader sees
	decoded, rest, err := cutObject(raw)
	if err != nil {
		if line == d.firstLine() && mentions(raw, key) {
			return located{problem: fmt.Sprintf("the JSON answer cannot be read: %v", err)}, true
		}
		return located{}, false
	}
	if _, ok := decoded[key]; !ok {
		return located{}, false
	}
	alone := line == d.firstLine() && len(bytes.TrimSpace(rest)) == 0
	return located{object: decoded, alone: alone}, true
}

func mentions(raw []byte, key string) bool { return bytes.Contains(raw, []byte(`"`+key+`"`)) }

// firstLine returns the 1-based number of the first line with text, 0 for none.
func (d *document) firstLine() int {
	for i, line := range d.lines {
		if strings.TrimSpace(line) != "" {
			return i + 1
		}
	}
	return 0
}

// candidates returns the bodies of the fences that may hold JSON, and the lines of prose that begin with a brace.
// What stands in a quote is somebody else's. The bodies are made of the lines as given: what a reader cannot see may
// still be part of a path.
func (d *document) candidates() (fences [][]byte, bare []int) {
	if d.searched {
		return d.fences, d.bare
	}
	defer func() { d.searched, d.fences, d.bare = true, fences, bare }()
	d.each(func(n ast.Node, quoted bool) {
		if quoted {
			return
		}
		switch block := n.(type) {
		case *ast.FencedCodeBlock:
			if info := string(block.Language(d.source)); info == "" || strings.EqualFold(info, "json") {
				fences = append(fences, d.rawBody(block))
			}
		case *ast.Paragraph, *ast.TextBlock:
			for i := range block.Lines().Len() {
				segment := block.Lines().At(i)
				if segment.Start < len(d.source) && d.source[segment.Start] == '{' {
					bare = append(bare, d.lineAt(segment.Start))
				}
			}
		}
	})
	return fences, bare
}

func (d *document) rawBody(block ast.Node) []byte {
	var body []byte
	for i := range block.Lines().Len() {
		body = append(body, d.raw[d.lineAt(block.Lines().At(i).Start)-1]...)
		body = append(body, '\n')
	}
	return body
}
