package agent

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/process"
	"conclave/internal/record"
)

// TestNobodyLiftsOpencodesPermissions: what the user configures stays, except what a reader may do.
func TestNobodyLiftsOpencodesPermissions(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "opencode", "")
	given := `{"provider":{"p":{"name":"P"}},"permission":{"bash":"allow","edit":"allow"},"share":"auto"}`
	invoke := func(s Settings, spec TurnSpec) (Invocation, error) {
		s.Environ = append(s.Environ, "PATH="+dir)
		spec.Target = Target{Adapter: "opencode", Provider: "p", ModelFamily: "f", Model: "p/m"}
		return opencode{}.Invocation(spec, s)
	}
	for name, s := range map[string]Settings{
		"environment":   {Environ: []string{opencodeConfig + "=" + given, opencodePermission + `={"*":"allow"}`, "OPENCODE_DISABLE_PROJECT_CONFIG=0"}},
		"configuration": {ExtraEnv: map[string]map[string]string{"opencode": {opencodeConfig: given, opencodePermission: `{"*":"allow"}`, "OPENCODE_DISABLE_PROJECT_CONFIG": "0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			inv, err := invoke(s, TurnSpec{Role: "review", Env: map[string]string{"MORE": "1"}})
			require.NoError(t, err)
			var config struct {
				Provider   map[string]any `json:"provider"`
				Permission map[string]any `json:"permission"`
				Share      string         `json:"share"`
			}
			require.NoError(t, json.Unmarshal([]byte(lookupEnv(inv.Env, opencodeConfig)), &config))
			require.Contains(t, config.Provider, "p")
			require.Equal(t, "disabled", config.Share)
			var rules map[string]any
			require.NoError(t, json.Unmarshal([]byte(lookupEnv(inv.Env, opencodePermission)), &rules))
			require.Equal(t, rules, config.Permission)
			for tool, want := range map[string]string{"*": "deny", "bash": "deny", "edit": "deny", "external_directory": "deny", "question": "deny", "read": "allow"} {
				require.Equal(t, want, rules[tool], tool)
			}
			require.Equal(t, "1", lookupEnv(inv.Env, "OPENCODE_DISABLE_PROJECT_CONFIG"))
			require.Equal(t, "1", lookupEnv(inv.Env, "MORE"))
		})
	}
	for sandbox, want := range map[CLISandbox]string{CLISandboxAuto: "deny", CLISandboxOff: "allow"} {
		inv, err := invoke(Settings{CLISandbox: sandbox}, TurnSpec{Writing: true})
		require.NoError(t, err)
		var rules map[string]any
		require.NoError(t, json.Unmarshal([]byte(lookupEnv(inv.Env, opencodePermission)), &rules))
		require.Equal(t, want, rules["external_directory"])
		require.NotContains(t, rules, "ask", "a question ends a run")
		for tool, rule := range rules {
			require.NotEqual(t, "ask", rule, tool)
		}
	}
	require.Equal(t, "deny", opencodeWriter["external_directory"], "the table is not written to")
	for _, bad := range []string{"no JSON", "[]", "null", `"x"`} {
		_, err := invoke(Settings{Environ: []string{opencodeConfig + "=" + bad}}, TurnSpec{})
		require.ErrorContains(t, err, opencodeConfig)
		require.True(t, IsUnavailable(err))
	}
}

// TestAnErrorThatOpencodeGotOverIsNoWait: its log goes back to the beginning of the turn. A limit of ours that ends a run
// which works is a time-out, whatever went wrong before (measured with 1.18.33: one refused request, then a long command).
func TestAnErrorThatOpencodeGotOverIsNoWait(t *testing.T) {
	const logged = `timestamp=2026-12-01T01:15:23.391Z level=ERROR run=d371a3a8 message="stream error" providerID=fake small=false error.error="AI_APICallError: Rate limit reached for requests."` + "\n"
	const at = 1796087723391 // of the error, in milliseconds
	event := func(kind string, after int, part string) string {
		return fmt.Sprintf(`{"type":%q,"timestamp":%d,"sessionID":"s","part":{%s}}`, kind, at+after, part)
	}
	for name, c := range map[string]struct {
		lines []string
		want  record.Class
	}{
		"nothing came":          {nil, record.ClassQuota},
		"all came before":       {[]string{event("step_start", -20, ""), event("text", -10, `"text":"x"`)}, record.ClassQuota},
		"a step began, no more": {[]string{event("step_start", 10, "")}, record.ClassQuota},
		"words came":            {[]string{event("step_start", 10, ""), event("text", 20, `"text":"x"`)}, record.ClassTimeout},
		"a tool was called":     {[]string{event("step_start", 10, ""), event("tool_use", 20, `"tool":"bash"`)}, record.ClassTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cause := range []process.Cause{process.CauseIdle, process.CauseTimeout} {
				p := opencode{}.Parser(TurnSpec{Writing: true})
				for _, line := range c.lines {
					p.Line([]byte(line))
				}
				o := p.Outcome(ProcessEnd{Code: -1, Cause: string(cause), Stderr: logged})
				require.Equal(t, c.want, o.Class, o.Message)
			}
		})
	}
}
