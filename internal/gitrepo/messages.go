package gitrepo

import (
	"context"
	"fmt"
	"strings"
)

// Message is what a commit says about itself. It is somebody else's text.
type Message struct {
	ID   string
	Text string
}

// Subject is the first line.
func (m Message) Subject() string {
	first, _, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
	return strings.TrimSpace(first)
}

// Messages gives the messages of the commits that head has and base has not, oldest first.
func (s *Source) Messages(ctx context.Context, base, head string) ([]Message, error) {
	if err := s.needRepository(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(base, "-") || strings.HasPrefix(head, "-") {
		return nil, fmt.Errorf("%w: %q..%q", ErrUnresolved, base, head)
	}
	out, err := s.git(ctx, "log", "-z", "--reverse", "--topo-order", "--no-color", "--no-decorate", "--no-show-signature", "--format=%H%n%B", base+".."+head, "--")
	if err != nil {
		return nil, fmt.Errorf("read the commit messages of %s..%s: %w", short(base), short(head), err)
	}
	var all []Message
	for _, entry := range splitZ(out) {
		id, text, _ := strings.Cut(entry, "\n")
		all = append(all, Message{ID: id, Text: strings.TrimSpace(text)})
	}
	return all, nil
}
