package prompt

import (
	"bytes"
	"encoding/json"
	"slices"
)

// entry is what a reviewer may see of a fix report: facts to check, and none of the writer's prose.
type entry struct {
	Finding string          `json:"finding"`
	Status  string          `json:"status"`
	Tests   json.RawMessage `json:"tests,omitempty"`
	Command json.RawMessage `json:"command,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
}

// reportOn keeps the entries of a fix report that are about ids, with the fields of entry only. It reads an object
// with fix_report, one with entries, and a list. What cannot be read is left out; nil says that nothing is left.
func reportOn(ids []string, report []byte) []byte {
	var entries []json.RawMessage
	if json.Unmarshal(report, &entries) != nil {
		var whole struct {
			FixReport []json.RawMessage `json:"fix_report"`
			Entries   []json.RawMessage `json:"entries"`
		}
		if json.Unmarshal(report, &whole) != nil {
			return nil
		}
		entries = slices.Concat(whole.FixReport, whole.Entries)
	}
	kept := []entry{}
	for _, raw := range entries {
		var e entry
		if json.Unmarshal(raw, &e) == nil && slices.Contains(ids, e.Finding) {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	_ = encoder.Encode(kept) // strings and what was JSON already
	return b.Bytes()
}
