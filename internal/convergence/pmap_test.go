package convergence

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPropertyMapIsAValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringMatching(`[a-f]{0,3}`), 0, 30).Draw(t, "keys")
		var m Map[int]
		plain := map[string]int{}
		var versions []Map[int]
		var sizes []int
		for i, key := range keys {
			versions, sizes = append(versions, m), append(sizes, len(plain))
			m = m.With(key, i)
			plain[key] = i
		}
		var order []string
		for key, v := range m.All() {
			require.Equal(t, plain[key], v)
			order = append(order, key)
		}
		require.Len(t, order, len(plain))
		require.True(t, slices.IsSorted(order))
		for i, old := range versions {
			n := 0
			for range old.All() {
				n++
			}
			require.Equal(t, sizes[i], n, "an older version changed")
		}
		var other Map[int]
		for _, key := range rapid.Permutation(order).Draw(t, "order") {
			other = other.With(key, plain[key])
		}
		require.Equal(t, m, other, "equal contents are equal structures")
		raw, err := json.Marshal(m)
		require.NoError(t, err)
		var back Map[int]
		require.NoError(t, json.Unmarshal(raw, &back))
		require.Equal(t, m, back)
	})
}

func TestListIsAValue(t *testing.T) {
	var none List[int]
	require.True(t, none.IsZero())
	raw, err := json.Marshal(none)
	require.NoError(t, err)
	require.Equal(t, "[]", string(raw))
	one := none.With(1)
	left, right := one.With(2), one.With(3)
	require.Equal(t, []int{1}, one.Slice())
	require.Equal(t, []int{1, 2}, left.Slice())
	require.Equal(t, []int{1, 3}, right.Slice())
	raw, err = json.Marshal(left)
	require.NoError(t, err)
	var back List[int]
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, left, back)
}
