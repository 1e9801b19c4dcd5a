package review

import (
	"bytes"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// blocks parses block structure only: the verdict rule needs no inline nodes, and without them the time stays
// linear in the length of the text.
var blocks = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 100)),
)

// document is a message in the form in which its lines are judged.
type document struct {
	raw   [][]byte // the lines as given
	lines []string // the same lines, normalised
	diff  []bool   // per line: body of a hunk that was pasted without a fence

	root   ast.Node
	source []byte // what the Markdown parser read: lines with blank runs joined and absurd nesting cut
	starts []int  // per source line: its offset
	origin []int  // per source line: its index in lines
	end    int    // offset in source behind the last written character

	searched bool     // the next two are known
	fences   [][]byte // bodies that may hold JSON
	bare     []int    // lines that begin with a brace
}

func newDocument(message []byte) *document {
	d := &document{raw: bytes.Split(message, []byte("\n"))}
	d.lines = strings.Split(normalise(message), "\n")
	d.diff = hunkLines(d.lines)
	d.source, d.starts, d.origin = parseable(d.lines)
	d.end = len(bytes.TrimRight(d.source, " \t\n"))
	d.root = blocks.Parse(text.NewReader(d.source))
	return d
}

// empty reports whether the message says nothing.
func (d *document) empty() bool { return d.end == 0 }

// each calls visit for every block in the order of the text; quoted is set below a block quote. It keeps no stack of
// calls: the nesting is the message's to choose.
func (d *document) each(visit func(n ast.Node, quoted bool)) {
	quotes := 0
	n := d.root.FirstChild()
	for n != nil {
		if n.Kind() == ast.KindBlockquote {
			quotes++
		}
		visit(n, quotes > 0)
		if child := n.FirstChild(); child != nil && child.Type() == ast.TypeBlock {
			n = child
			continue
		}
		for n != nil {
			if n.Kind() == ast.KindBlockquote {
				quotes--
			}
			if next := n.NextSibling(); next != nil {
				n = next
				break
			}
			n = n.Parent() // nil above the root
		}
	}
}

// sightings returns every line that has the form of a verdict, in order, each with the kind of its place.
func (d *document) sightings() []sighting {
	var found []sighting
	d.each(func(n ast.Node, quoted bool) { found = d.inBlock(found, n, quoted) })
	return d.endInFence(found)
}

// inBlock appends the sightings among the lines that one block owns.
func (d *document) inBlock(found []sighting, n ast.Node, quoted bool) []sighting {
	own := kindOf(n)
	if own == unclaimed {
		return found
	}
	lines := n.Lines()
	var hidden []bool
	if own == prose {
		hidden = hiddenLines(lines, d.source)
	}
	for i := range lines.Len() {
		segment := lines.At(i)
		body := strings.TrimRight(string(segment.Value(d.source)), "\n")
		if i+1 < lines.Len() && own == prose {
			body = strings.TrimSuffix(body, `\`) // a hard break
		}
		v, boxed, ok := readVerdict(body)
		if !ok {
			continue
		}
		s := sighting{line: d.lineAt(segment.Start), verdict: v, kind: own, unclosed: d.isUnclosed(n)}
		switch {
		case quoted:
			s.kind = quote
		case hidden != nil && hidden[i]:
			s.kind = markup
		case kinds[own].counts && (d.diff[s.line-1] || changedLine(d.lines[s.line-1])):
			s.kind = diff
		case kinds[own].counts && boxed:
			s.kind = aside
		}
		found = append(found, s)
	}
	return found
}

// kindOf maps a Markdown block to the kind of its lines; containers own none.
func kindOf(n ast.Node) kind {
	switch n.Kind() {
	case ast.KindParagraph, ast.KindTextBlock:
		return prose
	case ast.KindHeading:
		return heading
	case ast.KindFencedCodeBlock:
		return fence
	case ast.KindCodeBlock:
		return indented
	case ast.KindHTMLBlock:
		return markup
	case extast.KindTableCell:
		return table
	}
	return unclaimed
}

// isUnclosed reports whether a fence or a comment runs to the end of the text because nothing closes it.
func (d *document) isUnclosed(n ast.Node) bool {
	switch block := n.(type) {
	case *ast.FencedCodeBlock:
		return block.Lines().Len() > 0 && block.Lines().At(block.Lines().Len()-1).Stop >= d.end
	case *ast.HTMLBlock:
		return !block.HasClosure() && block.HTMLBlockType <= ast.HTMLBlockType5 && block.NextSibling() == nil
	}
	return false
}

// endInFence lets the verdict count that is alone in a fence which ends the message.
func (d *document) endInFence(found []sighting) []sighting {
	block, ok := d.root.LastChild().(*ast.FencedCodeBlock)
	if !ok || len(found) == 0 {
		return found
	}
	written := 0
	for i := range block.Lines().Len() {
		segment := block.Lines().At(i)
		if len(bytes.TrimSpace(segment.Value(d.source))) > 0 {
			written++
		}
	}
	final := &found[len(found)-1]
	if written == 1 && final.kind == fence && final.line > d.lineAt(block.Pos()) {
		final.kind = finalFence
	}
	return found
}

// lineAt returns the 1-based line of the message that an offset of the source belongs to.
func (d *document) lineAt(offset int) int {
	i := sort.SearchInts(d.starts, offset+1) - 1
	return d.origin[i] + 1
}
