package agent

// captureTables are all captures.
var captureTables = map[string][]expectation{
	"claude": claudeCaptures, "codex": codexCaptures, "opencode": opencodeCaptures, "gemini": geminiCaptures, "qwen": qwenCaptures,
}

const pro = "gemini-2.5-pro/served"

// No model is told in opencode's streams: what was asked for is pinned by -m. There is no event for the end either; exit
// code 0 after a step that did not stop means that it gave up.
var opencodeCaptures = []expectation{
	{"impl-ok", 0, ok, done, "", pinned, [2]int64{2000, 100}, 0, ""},
	{"impl-outside-auto", 0, ok, done, "", pinned, [2]int64{3000, 150}, 0, ""},
	{"impl-outside-deny", 0, ok, done, "", pinned, [2]int64{3000, 150}, 0, "2 tool calls failed or were refused"},
	{"hookrepo-noproject", 0, ok, review, "", pinned, [2]int64{4000, 200}, 0, "2 tool calls failed or were refused"},
	{"hookrepo-pure", 0, ok, review, "", pinned, [2]int64{4000, 200}, 0, "3 tool calls failed or were refused"},
	{"ro-deny", 0, ok, review, "", pinned, [2]int64{4000, 200}, 0, "1 tool call failed or was refused"},
	{"ro-plan-bash", 0, ok, review, "", pinned, [2]int64{4000, 200}, 0, ""}, // it wrote: why the agent "plan" is not used
	{"othermodel", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},      // the served model is nowhere in the stream
	{"resume", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},          // of this turn only
	{"stdin-big", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},

	// a question about permissions, which ends a run with exit code 0
	{"impl-outside", 0, malformed, "", "a question about permissions was refused", pinned, [2]int64{1000, 50}, 0, ""},
	{"ro-plan", 0, malformed, "", "a question about permissions was refused", pinned, [2]int64{3000, 150}, 0, ""},
	{"finish-length", 0, malformed, "", "cut off at the model's output limit", pinned, [2]int64{1000, 50}, 0, ""},

	{"err-400", 1, permanent, "", "fake invalid_request_error (status 400)", pinned, [2]int64{}, 0, ""},
	{"err-401", 1, permanent, "", "fake authentication_error (status 401)", pinned, [2]int64{}, 0, ""},
	{"err-403", 1, permanent, "", "fake permission_error (status 403)", pinned, [2]int64{}, 0, ""},
	{"err-404", 1, permanent, "", "fake not_found_error (status 404)", pinned, [2]int64{}, 0, ""},
	{"err-badmodel", 1, permanent, "", "does it know the model asked-model?", pinned, [2]int64{}, 0, ""},
	{"err-500", 1, transient, "", "fake api_error (status 500)", pinned, [2]int64{}, 0, ""},

	// silence until our limit: it tries again without a word
	{"err-429-quota", 124, timeout, "", "timed out", "", [2]int64{}, 0, ""},
	{"err-refused", 124, timeout, "", "timed out", "", [2]int64{}, 0, ""},
	{"err-streamerr", 124, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},
	{"hookrepo", 124, timeout, "", "timed out", "", [2]int64{}, 0, ""}, // it installs the repository's plugins

	{"sig-INT-pid", -2, transient, "", "was killed by signal 2", pinned, [2]int64{}, 0, ""},
	{"sig-KILL-pgrp", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-KILL-pid", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-TERM-pid", -15, transient, "", "was killed by signal 15", pinned, [2]int64{}, 0, ""},
}

// gemini's exit codes are a status's low byte: 144 is 400, 173 is 429.
var geminiCaptures = []expectation{
	{"impl-ok", 0, ok, done, "", pro, [2]int64{2000, 100}, 0, ""},
	{"impl-autoedit-outside", 0, ok, done, "", pro, [2]int64{3000, 150}, 0, "2 tool calls failed or were refused"},
	{"impl-yolo-outside", 0, ok, done, "", pro, [2]int64{3000, 150}, 0, "1 tool call failed or was refused"},
	{"hookrepo", 0, ok, review, "", pro, [2]int64{5000, 250}, 0, "4 tool calls failed or were refused"},
	{"hookrepo-yolo", 0, ok, review, "", pro, [2]int64{5000, 250}, 0, "1 tool call failed or was refused"},
	{"ro-default", 0, ok, review, "", pro, [2]int64{5000, 250}, 0, "3 tool calls failed or were refused"},
	{"ro-plan", 0, ok, review, "", pro, [2]int64{5000, 250}, 0, "3 tool calls failed or were refused"},
	{"maxtok", 0, ok, "Cut sho", "", pro, [2]int64{1000, 50}, 0, ""}, // it says success of a text that was cut off: the answer's parser decides
	{"othermodel", 0, ok, done, "", "other-model-20990101/served", [2]int64{1000, 50}, 0, ""},
	{"session", 0, ok, done, "", pro, [2]int64{1000, 50}, 0, ""},
	{"resume", 0, ok, done, "", pro, [2]int64{1000, 50}, 0, ""}, // of this turn only
	{"stdin-big", 0, ok, done, "", pro, [2]int64{1000, 50}, 0, ""},

	{"err-400", 144, permanent, "", `fake invalid_request_error`, pinned, [2]int64{}, 0, ""},
	{"err-401", 145, permanent, "", `fake authentication_error`, pinned, [2]int64{}, 0, ""},
	{"err-403", 147, permanent, "", `fake permission_error`, pinned, [2]int64{}, 0, ""},
	{"err-404", 1, permanent, "", `fake not_found_error`, pinned, [2]int64{}, 0, ""},
	{"err-badkey", 144, permanent, "", `API key not valid`, pinned, [2]int64{}, 0, ""},
	{"no-key", 41, permanent, "", "must specify the GEMINI_API_KEY", "", [2]int64{}, 0, ""},
	{"notrust", 55, permanent, "", "not running in a trusted directory", "", [2]int64{}, 0, ""},
	{"err-429-quota", 173, quota, "", "exhausted your daily quota", pinned, [2]int64{}, 0, ""},

	// it tries again for minutes; only standard error tells of it
	{"err-500", 137, timeout, "", "Attempt 6 failed with status 500", pinned, [2]int64{}, 0, ""},
	{"err-refused", 137, timeout, "", "fetch failed sending request", pinned, [2]int64{}, 0, ""},
	{"hang", 137, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},

	// TERM and INT: ignored by the wrapper until the measurement's limit (137), else exit code 0 without a result
	{"sig-INT-pid", 137, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},
	{"sig-TERM-pid", 137, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},
	{"sig-TERM-pgrp", 0, malformed, "", "exit code 0 without a final event", pinned, [2]int64{}, 0, ""},
	{"sig-norelaunch-INT-pid", 0, malformed, "", "exit code 0 without a final event", pinned, [2]int64{}, 0, ""},
	{"sig-norelaunch-TERM-pid", 0, malformed, "", "exit code 0 without a final event", pinned, [2]int64{}, 0, ""},
	{"reap-subreaper", 0, malformed, "", "exit code 0 without a final event", pinned, [2]int64{}, 0, ""},
	{"sig-KILL-pgrp", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-KILL-pid", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},

	{"json-format", 0, malformed, "", "exit code 0 without a final event", "", [2]int64{}, 0, ""}, // not the JSON stream
}

// qwenCaptures have no adapter: `explain qwen` refuses them as one that is not known.
var qwenCaptures = []expectation{
	{name: "err-401"}, {name: "err-429", exit: 124}, {name: "impl-ok"}, {name: "othermodel"}, {name: "ro-schema"},
}
