package agent

import "conclave/internal/record"

// expectation is what we make of one captured stream. The table is reviewed case by case.
type expectation struct {
	name     string // file in testdata/captures/<adapter>
	exit     int    // 124: the capture's own time limit; negative: a signal
	class    Class
	final    string // beginning of the final message
	message  string // part of the message
	reported string // model/source; "" is unknown
	tokens   [2]int64
	fatal    int // line after which we would have stopped; 0 is none
	note     string
}

const (
	ok        = record.ClassOK
	malformed = record.ClassMalformed
	transient = record.ClassTransient
	quota     = record.ClassQuota
	permanent = record.ClassPermanent
	timeout   = record.ClassTimeout
	aborted   = record.ClassAborted
)

const (
	done   = "Done.\nVERDICT: PASS"
	review = "Review done.\nVERDICT: FAIL"
	block  = `{"verdict":"fail","findings":[`
	sonnet = "claude-sonnet-4-5/served"
	pinned = "asked-model/pinned"
)

var claudeCaptures = []expectation{
	// a terminal event without an error
	{"impl-ok", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"impl-ok-bare", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"impl-bash-acceptedits", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, "1 tool calls were refused"},
	{"impl-bash-allowed", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"impl-bypass-root-issandbox", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"rec-implementer", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"rec-implementer-scrub", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"rec-reviewer", 0, ok, block, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"review-schema", 0, ok, block, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"review-schema-nobare", 0, ok, block, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"review-schema-bad", 0, ok, "I refuse to call the tool.", "", sonnet, [2]int64{3000, 150}, 0, ""}, // the answer's parser decides
	{"ro-default", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"ro-dontask", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"ro-plan", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"hookrepo-bare", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"hookrepo-default", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"hookrepo-nosources", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"hookrepo-safemode", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"edit-outside", 0, ok, done, "", sonnet, [2]int64{3000, 150}, 0, "1 tool calls were refused"},
	{"edit-outside-allowed", 0, ok, done, "", sonnet, [2]int64{3000, 150}, 0, ""},
	{"edit-outside-scoped", 0, ok, done, "", sonnet, [2]int64{3000, 150}, 0, "1 tool calls were refused"},
	{"env-scrub", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"sandbox", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, ""},
	{"sandbox-nobare", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, ""},
	{"sandbox-nosafe", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, ""},
	{"sandbox-missing-bwrap", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, "its commands ran without one"},
	{"session-id", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"resume", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"stdin-big", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"stdin-streamjson", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"partial", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"reap-subreaper", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"err-drop-retries2", 0, ok, "This answer is going to be cut", "", sonnet, [2]int64{1000, 50}, 0, ""}, // it asked again without streaming
	{"othermodel", 0, ok, done, "", "other-model-20990101/served", [2]int64{1000, 50}, 0, ""},
	{"json-format", 0, ok, done, "", "", [2]int64{1000, 50}, 0, ""},          // no session-start event in this format
	{"sig-TERM-pid-5s", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""}, // somebody else's TERM came too late to matter

	// refused: login, money, model, size, flags
	{"err-401-retries0", 1, permanent, "", "Failed to authenticate. API Error: 401", pinned, [2]int64{}, 0, ""},
	{"err-401", 124, permanent, "", "authentication_failed (status 401): log in again", pinned, [2]int64{}, 2, ""},
	{"err-403", 1, permanent, "", "API Error: 403", pinned, [2]int64{}, 0, ""},
	{"no-key", 1, permanent, "", "Not logged in", pinned, [2]int64{}, 0, ""},
	{"err-404", 1, permanent, "", "issue with the selected model", pinned, [2]int64{}, 0, ""},
	{"err-400", 1, permanent, "", "API Error: 400", pinned, [2]int64{}, 0, ""},
	{"err-400-toolong", 1, permanent, "", "Prompt is too long", pinned, [2]int64{}, 0, ""},
	{"err-413", 1, permanent, "", "Request too large", pinned, [2]int64{}, 0, ""},
	{"max-tokens", 1, permanent, "", "exceeded the 32000 output token", sonnet, [2]int64{4000, 200}, 0, ""},
	{"max-turns", 1, permanent, "", "Reached maximum number of turns", sonnet, [2]int64{2000, 100}, 0, ""},
	{"max-budget", 1, permanent, "", "Reached maximum budget", sonnet, [2]int64{1000, 50}, 0, ""},
	{"refusal", 1, permanent, "", "unable to respond to this request", pinned, [2]int64{1000, 50}, 0, ""},
	{"bad-model-flag", 1, permanent, "", "unknown option '--nosuchflag'", "", [2]int64{}, 0, ""},
	{"session-id-again", 1, permanent, "", "already in use", "", [2]int64{}, 0, ""},
	{"resume-unknown", 1, permanent, "", "No conversation found", "", [2]int64{}, 0, ""},
	{"impl-bypass-root", 1, permanent, "", "cannot be used with root", "", [2]int64{}, 0, ""},
	{"sandbox-missing-bwrap-fail", 1, permanent, "", "bubblewrap", "", [2]int64{}, 0, ""},

	// passing trouble
	{"err-500-retries2", 1, transient, "", "API Error: 500", pinned, [2]int64{}, 0, ""},
	{"err-529-default", 1, transient, "", "API Error: 529", pinned, [2]int64{}, 0, ""},
	{"err-529-retries2", 1, transient, "", "API Error: 529", pinned, [2]int64{}, 0, ""},
	{"err-refused-retries2", 1, transient, "", "Unable to connect", pinned, [2]int64{}, 0, ""},
	{"err-streamerr-retries2", 1, transient, "", "empty or malformed response", pinned, [2]int64{3000, 3}, 0, ""},

	// killed
	{"hang-apitimeout5s", 124, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},
	{"hang-idle5s", 124, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},
	{"sig-INT-pid", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-INT-pid-5s", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-INT-pid-settle0.7", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-INT-pid-settle2.5", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-KILL-pgrp", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-KILL-pid", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-pidns-KILL", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-sandbox-KILL-pid", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pgrp", 143, transient, "", "exit code 143 without a final event", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pgrp-settle2.5", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid-5s-slowmodel", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid-settle0.7", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid-settle2.5", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-sandbox-TERM-pid", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},

	// no stream at all: exit 0 means nothing
	{"text-format", 0, malformed, "", "exit code 0 without a final event", "", [2]int64{}, 0, ""},
}

var codexCaptures = []expectation{
	{"impl-ok", 0, ok, done, "", pinned, [2]int64{2000, 100}, 0, "Model metadata for"},
	{"impl-patch", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"implfull", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"ro-schema", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"schema-bad", 0, ok, "This is not JSON at all.", "", pinned, [2]int64{1000, 50}, 0, ""}, // codex does not check schemas
	{"ro-failing-commands", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"ww-failing-commands", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"ephemeral", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},
	{"session", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},
	{"resume", 0, ok, done, "", pinned, [2]int64{2000, 100}, 0, ""},
	{"othermodel", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""}, // the served model is nowhere in the stream
	{"stdin-1048000", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},
	{"review", 0, ok, "because\n\nReview comment:", "", pinned, [2]int64{}, 0, ""}, // usage reported as zero is unknown
	{"hookrepo", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"hookrepo-again1", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"hookrepo-again2", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"hookrepo-nodoc", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},

	{"err-401", 1, permanent, "", "unexpected status 401", pinned, [2]int64{}, 3, ""},
	{"err-403", 1, permanent, "", "unexpected status 403", pinned, [2]int64{}, 3, ""},
	{"err-404", 1, permanent, "", "unexpected status 404", pinned, [2]int64{}, 3, ""},
	{"err-400", 1, permanent, "", "invalid_request_error", pinned, [2]int64{}, 0, ""},
	{"fail-lastmsg", 1, permanent, "", "invalid_request_error", pinned, [2]int64{}, 0, ""},
	{"err-429-quota", 1, permanent, "", "Quota exceeded", pinned, [2]int64{}, 0, ""},
	{"err-stream-quota", 1, permanent, "", "Quota exceeded", pinned, [2]int64{}, 0, ""},
	{"err-stream-toolong", 1, permanent, "", "ran out of room", pinned, [2]int64{}, 0, ""},
	{"stdin-big", 1, permanent, "", "maximum length of 1048576 characters", pinned, [2]int64{}, 0, ""},
	{"err-429-usagelimit", 1, quota, "", "hit your usage limit", pinned, [2]int64{}, 0, ""},

	{"err-500", 1, transient, "", "high demand", pinned, [2]int64{}, 0, ""},
	{"err-503", 1, transient, "", "unexpected status 503", pinned, [2]int64{}, 0, ""},
	{"err-529", 1, transient, "", "unexpected status 529", pinned, [2]int64{}, 0, ""},
	{"err-drop", 1, transient, "", "stream disconnected", pinned, [2]int64{}, 0, ""},
	{"err-refused-noretry", 1, transient, "", "Connection failed", pinned, [2]int64{}, 0, ""},
	{"err-stream-overloaded", 1, transient, "", "at capacity", pinned, [2]int64{}, 0, ""},
	{"hang-idle3s", 1, transient, "", "idle timeout", pinned, [2]int64{}, 0, ""},

	{"sig-KILL-pgrp", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-KILL-pid", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-nosandbox-KILL-pgrp", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-TERM-pid", -15, transient, "", "was killed by signal 15", pinned, [2]int64{}, 0, ""},
	{"sig-nosandbox-TERM-pid", -15, transient, "", "was killed by signal 15", pinned, [2]int64{}, 0, ""},
	{"sig-INT-pid", 1, malformed, "", "exit code 1 without a final event", pinned, [2]int64{}, 0, ""},
	{"header", 0, malformed, "", "exit code 0 without a final event", "", [2]int64{}, 0, ""}, // not the JSON stream
}
