// Package members keeps the members of a club by their names.
package members

import (
	"errors"
	"fmt"
	"strings"
)

// ErrTaken says that another member has the name.
var ErrTaken = errors.New("the name is taken")

// Club is a set of members. The zero value is an empty club.
type Club struct {
	names map[string]bool
}

// Register adds a member.
func (c *Club) Register(name string) error {
	name = strings.TrimSpace(name)
	if name == "" {
		return errors.New("register: the name is empty")
	}
	if strings.ContainsAny(name, "\r\n\t") {
		return fmt.Errorf("register: the name %q has control characters", name)
	}
	if c.names[name] {
		return fmt.Errorf("register %q: %w", name, ErrTaken)
	}
	if c.names == nil {
		c.names = map[string]bool{}
	}
	c.names[name] = true
	return nil
}

// Rename gives a member another name.
func (c *Club) Rename(from, to string) error {
	to = strings.TrimSpace(to)
	if to == "" {
		return errors.New("rename: the name is empty")
	}
	if strings.ContainsAny(to, "\r\n\t") {
		return fmt.Errorf("rename: the name %q has control characters", to)
	}
	if !c.names[from] {
		return fmt.Errorf("rename: nobody is called %q", from)
	}
	if c.names[to] {
		return fmt.Errorf("rename %q: %w", from, ErrTaken)
	}
	delete(c.names, from)
	c.names[to] = true
	return nil
}
