package record

// Class says what became of one engine call (design section 7). The zero value
// is no class, and nothing but ClassOK is a success.
type Class string

// The outcome classes of a turn.
const (
	ClassOK        Class = "ok"
	ClassMalformed Class = "malformed"
	ClassTransient Class = "transient"
	ClassQuota     Class = "quota"
	ClassPermanent Class = "permanent"
	ClassTimeout   Class = "timeout"
	ClassViolation Class = "violation"
	ClassAborted   Class = "aborted"
)
