package members

import (
	"errors"
	"testing"
)

func TestNames(t *testing.T) {
	var c Club
	for _, bad := range []string{"", "  ", "a\tb", "a\nb"} {
		if err := c.Register(bad); err == nil {
			t.Errorf("registered %q", bad)
		}
	}
	if err := c.Register(" Ada "); err != nil {
		t.Fatal(err)
	}
	if err := c.Register("Ada"); !errors.Is(err, ErrTaken) {
		t.Errorf("registered Ada twice: %v", err)
	}
	if err := c.Register("Grace"); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "a\tb", "Grace"} {
		if err := c.Rename("Ada", bad); err == nil {
			t.Errorf("renamed Ada to %q", bad)
		}
	}
	if err := c.Rename("Nobody", "Alan"); err == nil {
		t.Error("renamed nobody")
	}
	if err := c.Rename("Ada", " Countess "); err != nil {
		t.Fatal(err)
	}
	if err := c.Register("Ada"); err != nil {
		t.Errorf("the old name is not free: %v", err)
	}
}
