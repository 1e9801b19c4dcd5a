package agent

import (
	"fmt"
	"regexp"

	"conclave/internal/record"
)

// The failures that a person can cure, told by the words that programs and providers use for them. They are looked for
// in messages of failures alone, never in what an agent says.
var (
	aboutModel = regexp.MustCompile(`(?i)model[^.;]{0,80}(does not exist|not found|not supported|may not exist)|ModelNotFound|issue with the selected model|does it know the model|not_found_error|unexpected status 404|"code":404\b|no such model`)
	aboutLogin = regexp.MustCompile(`(?i)\b40[13]\b|unauthori[sz]ed|unauthenticated|authenticat|log(ged)? ?in|api[ _]key|oauth token|refresh token|permission_(denied|error)|set an auth method`)
	aboutFlag  = regexp.MustCompile(`(?i)unknown (option|argument|command)|unexpected argument|unrecognized subcommand`)
)

// Remedy says what a person can do about a failure that no repetition cures; "" where nothing is known. A program of the
// user's own is not ours to explain.
func Remedy(a Adapter, t Target, o Outcome) string {
	facts := a.Facts()
	if o.Class != record.ClassPermanent || facts.LogIn == "" {
		return ""
	}
	switch {
	case aboutModel.MatchString(o.Message):
		model := "the model " + t.Model
		if t.Model == DefaultModel {
			model = "the model that it chooses itself"
		}
		return fmt.Sprintf("does its login know %s? name another one as %s:MODEL, or under `models` in the configuration", model, a.Name())
	case aboutFlag.MatchString(o.Message):
		return fmt.Sprintf("is %s the version that is needed? `starter doctor` compares; if it is old: %s", a.Name(), facts.Install)
	case aboutLogin.MatchString(o.Message):
		return "check the login: " + facts.LogIn
	}
	return ""
}
