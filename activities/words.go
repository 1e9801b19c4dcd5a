package activities

import (
	"encoding/json"
	"strings"

	"conclave/internal/loop"
)

// Bounds of what the history holds of one finding: in characters, then in bytes of JSON.
const (
	claimLimit   = 600
	titleLimit   = 120
	anchorLimit  = 200
	findingBytes = 1200
	// wordBytes is what the reasons of one answer may take together.
	wordBytes = 12 << 10
)

// share is how many bytes of JSON each of n texts may take.
func share(n int) int { return min(2*claimLimit, wordBytes/max(n, 1)) }

// fit clips a text to what takes so many bytes of JSON.
func fit(text string, bytes int) string {
	text = clip(text, bytes)
	for n := len(text) / 2; n > 0 && jsonBytes(text) > bytes+2; n /= 2 {
		text = clip(text, n)
	}
	return text
}

// small leaves out of a finding what would not fit: further places and words first, then what tells it from others.
// All of it stands in its text, which the store holds whole.
func small(f loop.Finding) loop.Finding {
	over := func() bool { return jsonBytes(f) > findingBytes }
	for over() && len(f.Evidence) > 1 {
		f.Evidence = f.Evidence[:len(f.Evidence)-1]
	}
	for limit := claimLimit / 2; over() && limit > 10; limit /= 2 {
		f.Claim = clip(f.Claim, limit)
	}
	for limit := titleLimit / 2; over() && limit > 10; limit /= 2 {
		f.Title, f.Anchor = clip(f.Title, limit), clip(f.Anchor, limit)
	}
	if over() {
		f.Evidence = nil
	}
	return f
}

func jsonBytes(value any) int {
	raw, err := json.Marshal(value)
	if err != nil {
		return 0 // texts and numbers only
	}
	return len(raw)
}

func clip(text string, most int) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
