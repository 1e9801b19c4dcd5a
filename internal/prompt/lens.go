package prompt

import "strings"

// lenses are the built-in directions to look in; an unknown lens adds nothing here.
var lenses = map[string]string{
	"correctness": "Your lens is correctness: wrong results, missed cases, broken error handling, races, leaks, and " +
		"callers that the change breaks.",
	"security": "Your lens is security: untrusted input that reaches a file, a query, a command or a page; missing " +
		"checks of identity and permission; secrets; unsafe defaults.",
	"tests": "Your lens is tests: behaviour of the change that no test covers, tests that cannot fail, tests that were " +
		"weakened, skipped or deleted.",
	"conventions": "Your lens is conventions: written rules of this repository that the change breaks, duplicates of " +
		"what exists already, needless complexity. Quote the rule or name the duplicate.",
	"contract": "Your lens is the contract: go through the acceptance criteria one by one, and find the code and the " +
		"test that meet each.",
}

// lensText is what a reviewer is told to look for: a user's own text, else the built-in one of that name.
func lensText(name, own string) string {
	if strings.TrimSpace(own) != "" {
		return own
	}
	return lenses[name]
}
