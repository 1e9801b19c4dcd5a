package review

import "fmt"

// words gives an enum its words; the first is that of the refusing zero value and cannot be read back in an answer.
type words[T ~int] struct {
	what string
	list []string
}

func (w words[T]) of(v T) string {
	if int(v) < 0 || int(v) >= len(w.list) {
		return w.list[0]
	}
	return w.list[v]
}

func (w words[T]) read(v *T, text []byte) error {
	for i, word := range w.list {
		if word == string(text) {
			*v = T(i)
			return nil
		}
	}
	*v = 0
	return fmt.Errorf("%s %q is none of %v", w.what, text, w.list[1:])
}

// find returns the value of a word, the zero value for any other.
func (w words[T]) find(word string) T {
	var v T
	_ = w.read(&v, []byte(word)) // an unknown word leaves the refusing zero value
	return v
}
