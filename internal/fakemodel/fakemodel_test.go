package fakemodel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"conclave/internal/fakemodel"
	"conclave/internal/prompt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object = map[string]any

const workspace = "/work/space"

// request builds a request of each protocol: a prompt, and the results of the calls of so many steps.
func request(api fakemodel.API, text string, steps int, stream bool) (path string, body object) {
	id := func(i int) string { return fmt.Sprintf("call_step%d_0", i) }
	switch api {
	case fakemodel.Anthropic:
		messages := []object{{"role": "user", "content": []object{{"type": "text", "text": "<system-reminder>x"}, {"type": "text", "text": text}}}}
		for i := range steps {
			messages = append(messages, object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id(i), "content": "done"}}})
		}
		return "/v1/messages", object{
			"model": "m", "stream": stream, "messages": messages, "tools": []object{{"name": "Write"}},
			"system": []object{{"type": "text", "text": "Primary working directory: " + workspace + "\n"}},
		}
	case fakemodel.Responses:
		input := []object{
			{"type": "message", "content": []object{{"type": "input_text", "text": "<cwd>" + workspace + "</cwd>"}}},
			{"type": "message", "content": []object{{"type": "input_text", "text": text}}},
		}
		for i := range steps {
			input = append(input, object{"type": "custom_tool_call_output", "call_id": id(i), "output": "done"})
		}
		return "/v1/responses", object{"model": "m", "stream": stream, "input": input, "tools": []object{{"type": "custom", "name": "apply_patch"}}}
	case fakemodel.Chat:
		messages := []object{{"role": "system", "content": "Working directory: " + workspace}, {"role": "user", "content": text}}
		for i := range steps {
			messages = append(messages, object{"role": "tool", "tool_call_id": id(i), "content": "done"})
		}
		return "/v1/chat/completions", object{
			"model": "m", "stream": stream, "messages": messages, "tools": []object{{"type": "function", "function": object{"name": "write"}}},
		}
	}
	contents := []object{{"role": "user", "parts": []object{{"text": "- **Workspace Directories:**\n  - " + workspace + "\n"}}}, {"role": "user", "parts": []object{{"text": text}}}}
	for range steps {
		contents = append(contents, object{"role": "user", "parts": []object{
			{"functionResponse": object{"name": "write_file", "response": object{}}}, {"functionResponse": object{"name": "read_file", "response": object{}}},
		}})
	}
	method := map[bool]string{true: "streamGenerateContent", false: "generateContent"}[stream]
	return "/v1beta/models/m:" + method, object{"contents": contents, "tools": []object{{"functionDeclarations": []object{{"name": "write_file"}}}}}
}

func headed(role string, round int, rest string) string {
	h := prompt.Header{Role: role, Run: "r1", Round: round, Seat: "first", Lens: "tests", Evidence: "beef", Findings: []string{"F1", "F2"}}
	return h.String() + "\n\n" + rest
}

// post sends a request and returns status and body; the body of a cut stream comes with its error.
func post(t *testing.T, address, path string, body object) (int, string, error) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 3 * time.Minute}
	r, err := client.Post("http://"+address+path, "application/json", bytes.NewReader(raw))
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

func serve(t *testing.T, s *fakemodel.Server) string {
	t.Helper()
	address, end, err := s.Listen()
	require.NoError(t, err)
	t.Cleanup(end)
	return address
}

var apis = []fakemodel.API{fakemodel.Anthropic, fakemodel.Responses, fakemodel.Chat, fakemodel.Gemini}

// TestStepsFollowWhatComesBack: the same script drives each protocol, streaming or not, from the request alone.
func TestStepsFollowWhatComesBack(t *testing.T) {
	server := fakemodel.New(fakemodel.Script{Turns: []fakemodel.Turn{
		{Role: "repair", Steps: []fakemodel.Step{{Say: "wrong turn"}}},
		{Role: "implement", Round: "1", Steps: []fakemodel.Step{{Say: "wrong round"}}},
		{Role: "implement", Contains: "grapes", Steps: []fakemodel.Step{{Say: "wrong words"}}},
		{Role: "implement", Seat: "first", Lens: "tests", Steps: []fakemodel.Step{
			{Say: "one", Write: []fakemodel.File{{Path: "a/b.txt", Content: "seat {{seat}}\n"}}},
			{Say: "two", Shell: "ls {{workspace}}"},
			{Say: "token {{evidence}} of {{run}}, {{findings}}, round {{round}}, {{lens}}"},
		}},
	}})
	address := serve(t, server)
	for _, api := range apis {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s stream=%v", api, stream), func(t *testing.T) {
				for step, want := range [][]string{{"a/b.txt", workspace, "seat first"}, {"ls " + workspace}, {"beef", "r1, F1,F2, round 0, tests"}, {"beef"}} {
					path, body := request(api, headed("implement", 0, "Grow apples."), step, stream)
					status, answer, err := post(t, address, path, body)
					require.NoError(t, err)
					require.Equal(t, http.StatusOK, status, answer)
					for _, text := range want {
						require.Contains(t, joined(answer), text)
					}
				}
			})
		}
	}
	for _, r := range server.Requests() {
		require.True(t, r.Main)
		require.Equal(t, 3, r.Turn)
		require.Equal(t, "first", r.Header.Seat)
	}
}

// joined takes apart what streams split in two halves.
func joined(answer string) string {
	var b strings.Builder
	for line := range strings.Lines(answer) {
		var e any
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &e) == nil {
			collect(&b, e)
		}
	}
	return b.String()
}

func collect(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil {
			collect(b, inner)
		}
		b.WriteString(v)
	case []any:
		for _, e := range v {
			collect(b, e)
		}
	case map[string]any:
		for _, key := range []string{"text", "delta", "partial_json", "content", "content_block", "item", "output", "input", "arguments", "choices", "message", "tool_calls",
			"function", "candidates", "parts", "functionCall", "args", "file_path", "filePath", "command", "cmd"} {
			collect(b, v[key])
		}
	}
}

func TestSideRequestsAndTurnsThatNobodyWrote(t *testing.T) {
	server := fakemodel.New(fakemodel.Script{Side: "A title", Turns: []fakemodel.Turn{{Role: "review", Times: 1, Steps: []fakemodel.Step{{Say: "only once"}}}}})
	address := serve(t, server)
	for _, api := range apis {
		server.Play(fakemodel.Script{Side: "A title", Turns: []fakemodel.Turn{{Role: "review", Times: 1, Steps: []fakemodel.Step{{Say: "once"}}}}})
		path, body := request(api, headed("review", 0, ""), 0, false)
		_, answer, _ := post(t, address, path, body)
		require.Contains(t, answer, "once")
		status, answer, _ := post(t, address, path, body)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, answer, "no turn of the script fits")
		path, body = request(api, headed("review", 0, ""), 0, false)
		delete(body, "tools")
		_, answer, _ = post(t, address, path, body)
		require.Contains(t, answer, "A title")
		path, body = request(api, "what conclave role=review run=r says", 0, false)
		_, answer, _ = post(t, address, path, body)
		require.Contains(t, answer, "A title", "a header in the middle of a text is a quotation")
	}
}

func TestFailures(t *testing.T) {
	server := fakemodel.New(fakemodel.Script{})
	address := serve(t, server)
	for _, api := range apis {
		for _, c := range []struct {
			kind   fakemodel.Kind
			status int
			text   string
		}{
			{fakemodel.Unauthorized, 401, ""}, {fakemodel.Forbidden, 403, ""}, {fakemodel.NoModel, 404, "no-such-model"},
			{fakemodel.RateLimited, 429, ""}, {fakemodel.QuotaReset, 429, ""}, {fakemodel.ServerError, 500, ""},
			{fakemodel.Overloaded, map[bool]int{true: 529, false: 503}[api == fakemodel.Anthropic], "verloaded"},
			{fakemodel.TooLong, 400, ""}, {fakemodel.Malformed, 200, "bad gateway"}, {fakemodel.StreamFailure, 200, "verloaded"},
		} {
			server.Play(fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Say: "at last", Fail: &fakemodel.Failure{Kind: c.kind, Times: 2, Reset: time.Hour}}}}}})
			for range 2 {
				path, body := request(api, headed("review", 0, ""), 0, true)
				status, answer, err := post(t, address, path, body)
				require.NoError(t, err)
				require.Equal(t, c.status, status, "%s %s", api, c.kind)
				require.Contains(t, answer, c.text, "%s %s", api, c.kind)
				require.NotContains(t, joined(answer), "at last")
			}
			path, body := request(api, headed("review", 0, ""), 0, false)
			_, answer, _ := post(t, address, path, body)
			require.Contains(t, answer, "at last", "%s %s: two failures were asked for", api, c.kind)
		}
	}
}

func TestCutAndSilence(t *testing.T) {
	server := fakemodel.New(fakemodel.Script{})
	address := serve(t, server)
	for _, api := range apis {
		server.Play(fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Say: "half of this", Fail: &fakemodel.Failure{Kind: fakemodel.Cut}}}}}})
		path, body := request(api, headed("review", 0, ""), 0, true)
		_, answer, err := post(t, address, path, body)
		require.Error(t, err, "%s: the connection is cut", api)
		require.Contains(t, answer, "half o")
		require.NotContains(t, answer, "f this")
	}
	server.Play(fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Fail: &fakemodel.Failure{Kind: fakemodel.Silent}}}}}})
	path, body := request(fakemodel.Chat, headed("review", 0, ""), 0, true)
	raw, _ := json.Marshal(body)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+path, bytes.NewReader(raw))
	require.NoError(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Do(asked)
	require.NoError(t, err, "the head of the answer comes at once")
	time.AfterFunc(200*time.Millisecond, cancel)
	said, err := io.ReadAll(r.Body)
	require.ErrorIs(t, err, context.Canceled, "and then nothing")
	require.Empty(t, said)
	_ = r.Body.Close()
}

func TestScriptsAreRead(t *testing.T) {
	s, err := fakemodel.ParseScript([]byte(`{"turns":[{"role":"review","steps":[{"say":"x","fail":{"kind":"cut"}}]}]}`))
	require.NoError(t, err)
	require.Equal(t, fakemodel.Cut, s.Turns[0].Steps[0].Fail.Kind)
	_, err = fakemodel.ParseScript([]byte(`{"turns":[{"roll":"review","steps":[]}]}`))
	require.ErrorContains(t, err, "roll")
}

// TestReviewsKeepTheContract: the token and the paths of the prompt stand in the answer.
func TestReviewsKeepTheContract(t *testing.T) {
	server := fakemodel.New(fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Say: fakemodel.Block(fakemodel.Finding{Title: "wrong", Path: "a.go", Line: 2})}}}}})
	address := serve(t, server)
	text := headed("review", 0, "[begin untrusted changed files k1]\n\"a.go\"\n\"with space\"\n[end untrusted changed files k1]\n")
	path, body := request(fakemodel.Chat, text, 0, false)
	_, raw, _ := post(t, address, path, body)
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	require.NoError(t, json.Unmarshal([]byte(raw), &answer))
	said := answer.Choices[0].Message.Content
	_, block, _ := strings.Cut(said, "```json\n")
	block, rest, _ := strings.Cut(block, "\n```")
	require.Contains(t, rest, "VERDICT: BLOCK")
	var review struct {
		Verdict, Evidence string
		Reviewed          []string
		Findings          []object
	}
	require.NoError(t, json.Unmarshal([]byte(block), &review))
	require.Equal(t, "beef", review.Evidence)
	require.Equal(t, []string{"a.go", "with space"}, review.Reviewed)
	require.Equal(t, "high", review.Findings[0]["severity"])
}
