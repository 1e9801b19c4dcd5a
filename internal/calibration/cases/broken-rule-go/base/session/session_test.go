package session

import (
	"testing"
	"time"
)

type fixed struct{ now time.Time }

func (f *fixed) Now() time.Time { return f.now }

func TestStart(t *testing.T) {
	clock := &fixed{now: time.Unix(1000, 0)}
	if s := Start("ada", clock); !s.Started.Equal(clock.now) {
		t.Errorf("started at %v", s.Started)
	}
}
