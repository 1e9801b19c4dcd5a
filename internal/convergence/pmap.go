package convergence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// Map is a persistent map from texts to values: With returns a new map and
// shares all it did not touch, so that folding an event into a State copies a
// path of a few nodes, however long the run has been. It is a treap whose
// priorities come from the keys, so equal contents are equal structures:
// reflect.DeepEqual compares two maps by what they hold. The zero value is the
// empty map. It reads and writes a JSON object, in key order.
type Map[V any] struct{ root *mapNode[V] }

type mapNode[V any] struct {
	key         string
	priority    uint64
	value       *V // a pointer keeps the path that With copies small
	left, right *mapNode[V]
}

// Get returns the value of a key.
func (m Map[V]) Get(key string) (V, bool) {
	for n := m.root; n != nil; {
		switch {
		case key < n.key:
			n = n.left
		case key > n.key:
			n = n.right
		default:
			return *n.value, true
		}
	}
	var none V
	return none, false
}

// With returns the map with the key set to the value.
func (m Map[V]) With(key string, v V) Map[V] {
	return Map[V]{root: m.root.with(key, &v)}
}

func (n *mapNode[V]) with(key string, v *V) *mapNode[V] {
	if n == nil {
		return &mapNode[V]{key: key, priority: priority(key), value: v}
	}
	c := *n
	switch {
	case key < n.key:
		c.left = n.left.with(key, v)
		if c.left.above(&c) {
			top := *c.left
			c.left, top.right = top.right, &c
			return &top
		}
	case key > n.key:
		c.right = n.right.with(key, v)
		if c.right.above(&c) {
			top := *c.right
			c.right, top.left = top.left, &c
			return &top
		}
	default:
		c.value = v
	}
	return &c
}

// above orders nodes in the heap; equal priorities fall back to the key, so the
// shape never depends on the order of insertion.
func (n *mapNode[V]) above(parent *mapNode[V]) bool {
	return n.priority > parent.priority || n.priority == parent.priority && n.key < parent.key
}

// priority is FNV-1a with a final mix, because FNV alone spreads short keys badly.
func priority(key string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(key); i++ {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// All yields keys and values in key order.
func (m Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { m.root.all(yield) }
}

func (n *mapNode[V]) all(yield func(string, V) bool) bool {
	return n == nil || n.left.all(yield) && yield(n.key, *n.value) && n.right.all(yield)
}

// some reports whether any value fits. Unlike All it lets the caller stay off
// the heap.
func (m Map[V]) some(fits func(V) bool) bool { return m.root.some(fits) }

func (n *mapNode[V]) some(fits func(V) bool) bool {
	return n != nil && (fits(*n.value) || n.left.some(fits) || n.right.some(fits))
}

// IsZero reports whether the map is empty; encoding/json's omitzero uses it.
func (m Map[V]) IsZero() bool { return m.root == nil }

// MarshalJSON writes the map as an object.
func (m Map[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for key, v := range m.All() {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("value of %q: %w", key, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object.
func (m *Map[V]) UnmarshalJSON(raw []byte) error {
	var plain map[string]V
	if err := json.Unmarshal(raw, &plain); err != nil {
		return err
	}
	keys := make([]string, 0, len(plain))
	for key := range plain {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	*m = Map[V]{}
	for _, key := range keys {
		*m = m.With(key, plain[key])
	}
	return nil
}

// List is a persistent list that only grows; appending shares everything before.
// It reads and writes a JSON array, oldest item first.
type List[V any] struct{ last *listNode[V] }

type listNode[V any] struct {
	value V
	prev  *listNode[V]
}

// With returns the list with one more item.
func (l List[V]) With(v V) List[V] { return List[V]{last: &listNode[V]{value: v, prev: l.last}} }

// Slice returns the items, oldest first; nil for an empty list.
func (l List[V]) Slice() []V {
	var items []V
	for n := l.last; n != nil; n = n.prev {
		items = append(items, n.value)
	}
	slices.Reverse(items)
	return items
}

// IsZero reports whether the list is empty; encoding/json's omitzero uses it.
func (l List[V]) IsZero() bool { return l.last == nil }

// MarshalJSON writes the list as an array.
func (l List[V]) MarshalJSON() ([]byte, error) {
	if l.last == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(l.Slice())
}

// UnmarshalJSON reads an array.
func (l *List[V]) UnmarshalJSON(raw []byte) error {
	var items []V
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	*l = List[V]{}
	for _, item := range items {
		*l = l.With(item)
	}
	return nil
}
