package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// object is a JSON object with its keys as written. The standard decoder would match keys in any case and let the
// last of two equal keys win; an answer must not be readable in two ways.
type object map[string]json.RawMessage

// decodeObject reads exactly one JSON object and refuses repeated keys and trailing text.
func decodeObject(raw []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	opening, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	if opening != json.Delim('{') {
		return nil, fmt.Errorf("it is no object")
	}
	found := object{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string) // a key of an object is always a string token
		if _, twice := found[name]; twice {
			return nil, fmt.Errorf("key %q stands twice", name)
		}
		found[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	if rest := bytes.TrimSpace(raw[decoder.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("text follows the object")
	}
	return found, nil
}

// foundObject is where an answer's JSON was found.
type foundObject struct {
	object     object
	structured bool   // it came alone, as structured output
	problem    string // there was an attempt at an answer that cannot be read
}

// findObject looks for the answer's object: the structured output, else the last fenced json block with a verdict,
// else a message that is one object. A broken block that speaks of a verdict is a broken answer and not a text.
func findObject(message, structured []byte) foundObject {
	if len(bytes.TrimSpace(structured)) > 0 {
		if found, used := asAnswer(structured); used {
			found.structured = true
			return found
		}
	}
	candidates := jsonFences(message)
	for i := len(candidates) - 1; i >= 0; i-- {
		if found, used := asAnswer(candidates[i]); used {
			return found
		}
	}
	if whole := bytes.TrimSpace([]byte(normalise(message))); bytes.HasPrefix(whole, []byte("{")) {
		if found, used := asAnswer(whole); used {
			found.structured = true
			return found
		}
	}
	return foundObject{}
}

// asAnswer reads raw as an answer's object; used is false where it makes no claim to be one.
func asAnswer(raw []byte) (found foundObject, used bool) {
	decoded, err := decodeObject(raw)
	if err != nil {
		if !bytes.Contains(raw, []byte(`"verdict"`)) {
			return foundObject{}, false
		}
		return foundObject{problem: fmt.Sprintf("the JSON answer cannot be read: %v", err)}, true
	}
	if _, ok := decoded["verdict"]; !ok {
		return foundObject{}, false
	}
	return foundObject{object: decoded}, true
}

// jsonFences returns the bodies of the message's own fences that are json by their info word.
func jsonFences(message []byte) [][]byte {
	source := []byte(strings.ReplaceAll(string(message), "\r", ""))
	root := blocks.Parse(text.NewReader(source))
	var bodies [][]byte
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		block, ok := n.(*ast.FencedCodeBlock)
		if !ok || !strings.EqualFold(string(block.Language(source)), "json") {
			continue
		}
		var body []byte
		for i := range block.Lines().Len() {
			segment := block.Lines().At(i)
			body = append(body, segment.Value(source)...)
		}
		bodies = append(bodies, body)
	}
	return bodies
}
