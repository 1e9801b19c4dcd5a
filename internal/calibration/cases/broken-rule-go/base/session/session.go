// Package session keeps who is logged in.
package session

import "time"

// Clock tells the time.
type Clock interface {
	Now() time.Time
}

// Session is one login.
type Session struct {
	User    string
	Started time.Time

	clock Clock
}

// Start begins a session.
func Start(user string, clock Clock) *Session {
	return &Session{User: user, Started: clock.Now(), clock: clock}
}
