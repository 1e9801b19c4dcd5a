//go:build linux || darwin

package realagents

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/fakemodel"
	"conclave/internal/record"
)

// issuer refreshes logins as codex's own does, and passes everything else on to the scripted model.
type issuer struct {
	mutex     sync.Mutex
	model     http.Handler
	refreshes int
	fresh     string   // the token that it gave last
	shown     []string // the tokens that requests for the model showed
}

// token is a token of the kind that codex takes apart to see how long it is good for. Nobody signed it.
func token(name string, until time.Time) string {
	part := func(v map[string]any) string {
		text, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(map[string]any{"alg": "none", "typ": "JWT"}) + "." + part(map[string]any{
		"sub": name, "exp": until.Unix(), "email": "user@localhost",
		"https://api.openai.com/auth": map[string]any{"chatgpt_plan_type": "plus", "chatgpt_account_id": "account", "chatgpt_user_id": "user"},
	}) + ".none"
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if r.URL.Path != "/oauth/token" {
		if strings.HasSuffix(r.URL.Path, "/responses") {
			i.shown = append(i.shown, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		}
		i.model.ServeHTTP(w, r)
		return
	}
	i.refreshes++
	i.fresh = token("fresh", time.Now().Add(time.Hour))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{
		"id_token": i.fresh, "access_token": i.fresh, "refresh_token": fmt.Sprintf("refresh-%d", i.refreshes),
	})
}

// TestALoginIsReadAndRefreshedInASeat: codex, contained as a reviewer, reads the user's login, finds it run out, has it
// renewed and puts the new one where it was, so that the next turn need not.
func TestALoginIsReadAndRefreshedInASeat(t *testing.T) {
	bins(t)
	t.Parallel()
	l := newLab(t, fakemodel.Script{Turns: []fakemodel.Turn{
		{Role: "implement", Steps: []fakemodel.Step{{Say: "I write Sum.", Write: []fakemodel.File{{Path: "calc.go", Content: mended, Existing: true}}}, {Say: "There it is."}}},
		{Role: "review", Steps: []fakemodel.Step{{Say: fakemodel.Pass()}}},
	}})
	i := &issuer{model: l.server}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	provider := fmt.Sprintf(`model_providers.scripted={name="Scripted",base_url=%q,wire_api="responses",requires_openai_auth=true}`, server.URL+"/v1")
	l.configure(map[string]any{"agents": map[string]any{
		"claude": map[string]any{"env": map[string]string{"ANTHROPIC_API_KEY": dummyKey, "ANTHROPIC_BASE_URL": "http://" + l.address}, "model": "claude-sonnet-4-5"},
		"codex": map[string]any{
			"env": map[string]string{"CODEX_REFRESH_TOKEN_URL_OVERRIDE": server.URL + "/oauth/token"}, "model": "gpt-5.5",
			"args": []string{"-c", `model_provider="scripted"`, "-c", provider, "-c", fmt.Sprintf("chatgpt_base_url=%q", server.URL)},
		},
	}})
	login := filepath.Join(l.home, ".codex", "auth.json")
	past := time.Now().Add(-time.Hour)
	text, err := json.Marshal(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": past.AddDate(0, 0, -30).UTC().Format(time.RFC3339),
		"tokens": map[string]string{"id_token": token("old", past), "access_token": token("old", past), "refresh_token": "refresh-0", "account_id": "account"},
	})
	require.NoError(t, err)
	write(t, login, string(text))

	run := l.run(0, "--implementer", "claude", "--reviewer", "codex", "Add Sum")
	require.Equal(t, record.Converged, run.Stop)
	for _, s := range run.Steps {
		if s.Adapter == "codex" {
			noted(row{"codex", "a login that ran out, refreshed in the sandbox (" + s.Sandbox + ")", string(s.Class), s.Message, float64(s.DurationMS) / 1000})
		}
	}
	kept := read(t, login)
	i.mutex.Lock()
	defer i.mutex.Unlock()
	require.Equal(t, 1, i.refreshes)
	require.Contains(t, kept, i.fresh)
	require.Contains(t, kept, "refresh-1")
	require.NotContains(t, kept, "refresh-0")
	require.NotEmpty(t, i.shown)
	for _, shown := range i.shown {
		require.Equal(t, i.fresh, shown)
	}
}
