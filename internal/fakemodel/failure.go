package fakemodel

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Kind is a way in which a model server fails.
type Kind string

// The kinds. A refused connection is no kind: let the program talk to a port that nobody listens on.
const (
	Unauthorized  Kind = "unauthorized"    // 401
	Forbidden     Kind = "forbidden"       // 403
	NoModel       Kind = "no-model"        // 404
	RateLimited   Kind = "rate-limited"    // 429, without a word on when
	QuotaReset    Kind = "quota-reset"     // 429, with the time of the reset (Failure.Reset)
	ServerError   Kind = "server-error"    // 500
	Overloaded    Kind = "overloaded"      // 529 (Anthropic), 503 (the others)
	TooLong       Kind = "too-long"        // the context window is exceeded
	Cut           Kind = "cut"             // the connection ends in the middle of the stream
	Malformed     Kind = "malformed"       // HTTP 200 and a stream that is no JSON
	Silent        Kind = "silent"          // HTTP 200 and then nothing, until the program or the server ends
	StreamFailure Kind = "stream-failure"  // HTTP 200 and an error event in the stream
	Unscripted    Kind = "unscripted-turn" // no turn of the script fits
)

// Failure is what a step does in place of an answer.
type Failure struct {
	Kind Kind `json:"kind"`
	// Times is how many requests fail before the step answers; 0 is all.
	Times int `json:"times,omitempty"`
	// Reset is how far away the reset of a quota is.
	Reset time.Duration `json:"reset,omitempty"`
	// Message takes the place of the server's text.
	Message string `json:"message,omitempty"`
}

// status is the HTTP status of a kind; 200 where the stream is what fails.
func (k Kind) status(api API) int {
	switch k {
	case Unauthorized:
		return http.StatusUnauthorized
	case Forbidden:
		return http.StatusForbidden
	case NoModel:
		return http.StatusNotFound
	case RateLimited, QuotaReset:
		return http.StatusTooManyRequests
	case ServerError:
		return http.StatusInternalServerError
	case Overloaded:
		if api == Anthropic {
			return 529
		}
		return http.StatusServiceUnavailable
	case TooLong, Unscripted:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// words are the type, the code and the text of an error, by protocol.
type words struct{ kind, code, text string }

var anthropicWords = map[Kind]words{
	Unauthorized: {"authentication_error", "", "invalid x-api-key"},
	Forbidden:    {"permission_error", "", "Your API key does not have permission to use the specified resource."},
	NoModel:      {"not_found_error", "", "model: no-such-model"},
	RateLimited:  {"rate_limit_error", "", "This request would exceed the rate limit of your organization."},
	QuotaReset:   {"rate_limit_error", "", "This request would exceed the rate limit of your organization."},
	ServerError:  {"api_error", "", "Internal server error"},
	Overloaded:   {"overloaded_error", "", "Overloaded"},
	TooLong:      {"invalid_request_error", "", "prompt is too long: 250000 tokens > 200000 maximum"},
	Unscripted:   {"invalid_request_error", "", "no turn of the script fits"},
}

var openAIWords = map[Kind]words{
	Unauthorized: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided."},
	Forbidden:    {"permission_error", "permission_denied", "The project does not have access to this resource."},
	NoModel:      {"invalid_request_error", "model_not_found", "The model `no-such-model` does not exist or you do not have access to it."},
	RateLimited:  {"requests", "rate_limit_exceeded", "Rate limit reached for requests."},
	QuotaReset:   {"usage_limit_reached", "usage_limit_reached", "The usage limit has been reached"},
	ServerError:  {"server_error", "server_error", "The server had an error while processing your request."},
	Overloaded:   {"server_error", "server_is_overloaded", "The server is overloaded."},
	TooLong:      {"invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."},
	Unscripted:   {"invalid_request_error", "unscripted", "no turn of the script fits"},
}

var geminiWords = map[Kind]words{
	Unauthorized: {"", "UNAUTHENTICATED", "Request had invalid authentication credentials."},
	Forbidden:    {"", "PERMISSION_DENIED", "The caller does not have permission"},
	NoModel:      {"", "NOT_FOUND", "models/no-such-model is not found for API version v1beta, or is not supported for generateContent."},
	RateLimited:  {"", "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."},
	QuotaReset:   {"", "RESOURCE_EXHAUSTED", "You exceeded your current quota."},
	ServerError:  {"", "INTERNAL", "An internal error has occurred."},
	Overloaded:   {"", "UNAVAILABLE", "The model is overloaded. Please try again later."},
	TooLong:      {"", "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
	Unscripted:   {"", "INVALID_ARGUMENT", "no turn of the script fits"},
}

func (f Failure) text(w words) string {
	if f.Message != "" {
		return f.Message
	}
	return w.text
}

// body is the error in the protocol's own form.
func (f Failure) body(api API, now time.Time) object {
	switch api {
	case Anthropic:
		w := anthropicWords[f.Kind]
		return object{"type": "error", "error": object{"type": w.kind, "message": f.text(w)}, "request_id": "req_scripted"}
	case Gemini:
		w := geminiWords[f.Kind]
		body := object{"code": f.Kind.status(api), "message": f.text(w), "status": w.code}
		if f.Kind == QuotaReset {
			body["details"] = []object{
				{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []object{{
					"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
					"quotaId":     "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
				}}},
				{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%ds", int(f.Reset.Seconds()))},
			}
		}
		return object{"error": body}
	}
	w := openAIWords[f.Kind]
	body := object{"message": f.text(w), "type": w.kind, "code": w.code, "param": nil}
	if f.Kind == QuotaReset {
		body["plan_type"], body["resets_at"] = "plus", now.Add(f.Reset).Unix()
	}
	return object{"error": body}
}

// head sets the headers that go with a failure.
func (f Failure) head(h http.Header, api API, now time.Time) {
	if f.Kind != QuotaReset {
		return
	}
	h.Set("Retry-After", strconv.Itoa(int(f.Reset.Seconds())))
	if api == Anthropic {
		h.Set("Anthropic-Ratelimit-Unified-Status", "rejected")
		h.Set("Anthropic-Ratelimit-Unified-Reset", strconv.FormatInt(now.Add(f.Reset).Unix(), 10))
	}
}
