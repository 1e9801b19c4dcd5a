package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// object is a JSON object with its keys as written. The standard decoder would match keys in any case and let the
// last of two equal keys win; an answer must not be readable in two ways.
type object map[string]json.RawMessage

// sameJSON reports whether two objects say the same, however they are laid out.
func sameJSON(a, b object) bool {
	var left, right any
	return decodeInto(a, &left) && decodeInto(b, &right) && reflect.DeepEqual(left, right)
}

func decodeInto(o object, value *any) bool {
	text, err := json.Marshal(o)
	return err == nil && json.Unmarshal(text, value) == nil
}

// decodeObject reads exactly one JSON object and refuses repeated keys and trailing text.
func decodeObject(raw []byte) (object, error) {
	found, rest, err := cutObject(raw)
	if err == nil && len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("text follows the object")
	}
	return found, err
}

// cutObject reads the JSON object at the front and returns what follows it.
func cutObject(raw []byte) (found object, rest []byte, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	opening, err := decoder.Token()
	if err != nil {
		return nil, nil, err
	}
	if opening != json.Delim('{') {
		return nil, nil, fmt.Errorf("it is no object")
	}
	found = object{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, nil, err
		}
		name, _ := key.(string) // a key of an object is always a string token
		if _, twice := found[name]; twice {
			return nil, nil, fmt.Errorf("key %q stands twice", name)
		}
		found[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, nil, err
	}
	return found, raw[decoder.InputOffset():], nil
}
