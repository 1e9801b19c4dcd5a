package loop

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
)

// Bounds of what a request says about findings: hundreds of them must fit into
// a payload of 64 KiB. The whole texts are in the store.
const (
	mostTexts  = 8
	noteBytes  = 300
	notesBytes = 6 << 10
	logBytes   = 24 << 10
)

// MarshalJSON writes a finding as a list of texts, because a request may name
// hundreds: its id and digests in base64, and where it stands only if that is said.
func (k Known) MarshalJSON() ([]byte, error) {
	words := []string{k.ID}
	for _, ref := range k.Texts {
		short, err := shortRef(ref)
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", k.ID, err)
		}
		words = append(words, short)
	}
	if k.Disposition == "" && k.Note == "" {
		return json.Marshal(strings.Join(words, " "))
	}
	return json.Marshal([]string{strings.Join(words, " "), k.Disposition, k.Note})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (k *Known) UnmarshalJSON(raw []byte) error {
	all := []string{"", "", ""}
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &all[0]); err != nil {
			return err
		}
	} else if err := json.Unmarshal(raw, &all); err != nil || len(all) != 3 {
		return fmt.Errorf("a finding of a request is a text or three of them: %s", raw)
	}
	words := strings.Split(all[0], " ")
	*k = Known{ID: words[0], Disposition: all[1], Note: all[2]}
	for _, word := range words[1:] {
		ref, err := longRef(word)
		if err != nil {
			return fmt.Errorf("finding %s: %w", k.ID, err)
		}
		k.Texts = append(k.Texts, ref)
	}
	return nil
}

func shortRef(ref artifact.Ref) (string, error) {
	digits, err := ref.Hex()
	if err != nil {
		return "", err
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "." + strconv.FormatInt(ref.Size, 36), nil
}

func longRef(short string) (artifact.Ref, error) {
	digest, size, _ := strings.Cut(short, ".")
	raw, err := base64.RawURLEncoding.DecodeString(digest)
	if err != nil {
		return artifact.Ref{}, fmt.Errorf("malformed artifact %q: %w", short, err)
	}
	n, err := strconv.ParseInt(size, 36, 64)
	if err != nil || n < 0 {
		return artifact.Ref{}, fmt.Errorf("malformed artifact size %q", short)
	}
	ref := artifact.Ref{Digest: "sha256:" + hex.EncodeToString(raw), Size: n}
	_, err = ref.Hex()
	return ref, err
}

// known is a finding for a prompt that is about it.
func (p *Progress) known(id string) Known {
	k := Known{ID: id}
	if entry, ok := p.Ledger.Entry(id); ok {
		k.Texts = recent(entry.Texts)
	}
	return k
}

func (p *Progress) knownAll(ids []string) []Known {
	out := make([]Known, 0, len(ids))
	for _, id := range ids {
		out = append(out, p.known(id))
	}
	return out
}

// recent leaves the first text and the latest others, each once.
func recent(texts []artifact.Ref) []artifact.Ref {
	var out []artifact.Ref
	for _, ref := range texts {
		if _, err := ref.Hex(); err == nil && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	if len(out) > mostTexts {
		out = append(out[:1:1], out[len(out)-mostTexts+1:]...)
	}
	return out
}

// repairable is what a repair must answer, with what was ruled about it.
func (p *Progress) repairable(findings []convergence.Blocking) []Known {
	out := make([]Known, 0, len(findings))
	room := notesBytes
	for _, finding := range findings {
		k := p.known(finding.ID)
		if note := p.fixRuling(finding.ID); note != "" && len(note) <= room {
			k.Note = note
			room -= len(note)
		}
		out = append(out, k)
	}
	return out
}

// fixRuling is the last ruling on a finding if it was to fix it: it says how.
func (p *Progress) fixRuling(id string) string {
	for _, ruling := range slices.Backward(p.Run.Rulings) {
		if ruling.Finding == id {
			if ruling.Decision != convergence.DecisionFix {
				return ""
			}
			return clip(fmt.Sprintf("ruled by %s: fix it. %s", ruling.By, ruling.Reason), noteBytes)
		}
	}
	return ""
}

// logged are all findings with where they stand, for the final review: the
// weightiest first, as many as fit. It returns how many did not.
func (p *Progress) logged() (log []Known, left int) {
	var rest []Known
	for _, f := range p.dispositions() {
		k := p.known(f.ID)
		k.Texts = k.Texts[:min(len(k.Texts), 1)]
		k.Disposition = f.Disposition
		if n := len(f.History); n > 0 {
			k.Note = clip(f.History[n-1], noteBytes/2)
		}
		if f.Severity == convergence.SeverityHigh {
			log = append(log, k)
		} else {
			rest = append(rest, k)
		}
	}
	log = append(log, rest...)
	room := logBytes
	for i, k := range log {
		raw, err := json.Marshal(k)
		if room -= len(raw) + 1; err != nil || room < 0 {
			return log[:i], len(log) - i
		}
	}
	return log, 0
}

// clip bounds a text to a number of bytes, on one line.
func clip(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not within a letter
		cut--
	}
	return text[:cut] + "…"
}
