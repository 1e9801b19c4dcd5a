package prompt

import (
	"fmt"
	"slices"
	"strings"
)

// Roles are the words that may stand behind role= in a header.
var Roles = []string{"design", "implement", "repair", "review", "recheck", "confirm", "arbitrate"}

// Header is the first line of every prompt. Whatever an answer must echo stands in it.
type Header struct {
	Role     string   // one of Roles; the Render functions fill it in
	Run      string   // run id
	Round    int      // 0 is the first iteration
	Seat     string   // "" for a turn that is no seat's
	Lens     string   // "" for none
	Evidence string   // evidence token, "" where nothing is to be echoed
	Findings []string // ids of the findings that the turn is about
}

// String returns the line without a line feed.
func (h Header) String() string {
	return fmt.Sprintf("conclave role=%s run=%s round=%d seat=%s lens=%s evidence=%s findings=%s", h.Role, h.Run, h.Round,
		orDash(h.Seat), orDash(h.Lens), orDash(h.Evidence), orDash(strings.Join(h.Findings, ",")))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ParseHeader reads the header from the first line of a prompt.
func ParseHeader(prompt []byte) (Header, error) {
	line, _, _ := strings.Cut(string(prompt), "\n")
	words := strings.Split(line, " ")
	if len(words) != 8 || words[0] != "conclave" {
		return Header{}, fmt.Errorf("the prompt's first line is no conclave header: %.80q", line)
	}
	var h Header
	var round, findings string
	for i, field := range []struct {
		key  string
		into *string
	}{
		{"role", &h.Role}, {"run", &h.Run}, {"round", &round}, {"seat", &h.Seat}, {"lens", &h.Lens},
		{"evidence", &h.Evidence}, {"findings", &findings},
	} {
		value, ok := strings.CutPrefix(words[i+1], field.key+"=")
		if !ok {
			return Header{}, fmt.Errorf("header: %q stands where %s= belongs", words[i+1], field.key)
		}
		if value != "-" {
			*field.into = value
		}
	}
	if _, err := fmt.Sscanf(round, "%d", &h.Round); err != nil {
		return Header{}, fmt.Errorf("header: round %q is no number", round)
	}
	if findings != "" {
		h.Findings = strings.Split(findings, ",")
	}
	return h, h.check()
}

// check refuses values that would break the line or be read back as something else.
func (h Header) check() error {
	if !slices.Contains(Roles, h.Role) {
		return fmt.Errorf("header: role %q is none of %s", h.Role, strings.Join(Roles, ", "))
	}
	if h.Run == "" {
		return fmt.Errorf("header: the run id is empty")
	}
	if h.Round < 0 {
		return fmt.Errorf("header: round %d is negative", h.Round)
	}
	for _, v := range append([]string{h.Run, h.Seat, h.Lens, h.Evidence}, h.Findings...) {
		if v == "-" || strings.ContainsFunc(v, breaksHeader) {
			return fmt.Errorf("header: %q cannot stand in it: use letters, digits and .-_@:/ only", v)
		}
	}
	if slices.ContainsFunc(h.Findings, func(id string) bool { return id == "" || strings.Contains(id, ",") }) {
		return fmt.Errorf("header: findings %q hold an empty id or a comma", h.Findings)
	}
	return nil
}

func breaksHeader(r rune) bool { return r <= ' ' || r == 0x7f || r == '=' || r > 0x7f }
