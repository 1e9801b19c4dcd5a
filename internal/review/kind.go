package review

// kind is the one class that a line of a message belongs to.
type kind uint8

const (
	unclaimed  kind = iota // marks and structure: no block owns the line's text
	prose                  // a paragraph, also inside a list item
	heading                // ATX or setext
	fence                  // inside a fenced code block
	finalFence             // the only line of a fence that ends the message
	indented               // indented code
	quote                  // anywhere under a block quote
	diff                   // the body of a hunk pasted without a fence
	table                  // a table's row
	markup                 // HTML, above all comments
	aside                  // a list's unticked box: an offer, not a statement
)

// kinds is the table of the verdict rule: what a kind is called, whether a verdict in it counts, and why.
var kinds = [...]struct {
	name   string
	counts bool
	why    string
}{
	unclaimed:  {"mark", false, "is no text of its own"},
	prose:      {"paragraph", true, "verdict line"},
	heading:    {"heading", true, "verdict line in a heading"},
	fence:      {"fence", false, "stands in a fence"},
	finalFence: {"fence", true, "the last block is a fence that holds only the verdict"},
	indented:   {"code block", false, "stands in indented code"},
	quote:      {"quote", false, "stands in a block quote"},
	diff:       {"diff", false, "belongs to a diff"},
	table:      {"table", false, "stands in a table"},
	markup:     {"comment", false, "stands in a comment or HTML"},
	aside:      {"box", false, "stands beside an unticked box"},
}

func (k kind) String() string { return kinds[k].name }
func (k kind) why() string    { return kinds[k].why }

// sighting is one line that has the form of a verdict, wherever it stands.
type sighting struct {
	line     int // 1-based, in the text as given
	verdict  Verdict
	kind     kind
	unclosed bool // the block around it never ends
}

func (s sighting) counts() bool { return kinds[s.kind].counts }
