package secret

// automaton finds many words in one pass over a text: each byte is one step of a table. Letters are folded, so a hit
// is a candidate only.
type automaton struct {
	class  [256]uint8
	width  int
	next   []uint32 // state + class; a state is the place of its row
	finds  [][]int  // words that end in a state, by the number of its row less that of first
	first  uint32   // states from here on end a word
	length []int    // of each word
}

// trieNode is a state while the automaton is made.
type trieNode struct {
	next map[byte]int
	fail int
	ends []int
}

// newAutomaton makes one for words; empty ones are never found.
func newAutomaton(words []string) *automaton {
	a := &automaton{}
	nodes := a.trie(words)
	order := link(nodes)
	a.number(nodes, order)
	return a
}

// trie enters the words and gives each byte that occurs a class of its own.
func (a *automaton) trie(words []string) []trieNode {
	nodes := []trieNode{{next: map[byte]int{}}}
	a.width = 1
	for i, word := range words {
		a.length = append(a.length, len(word))
		at := 0
		for _, b := range []byte(word) {
			b = fold(b)
			if a.class[b] == 0 {
				a.class[b] = uint8(a.width)
				a.width++
			}
			to, ok := nodes[at].next[b]
			if !ok {
				to = len(nodes)
				nodes = append(nodes, trieNode{next: map[byte]int{}})
				nodes[at].next[b] = to
			}
			at = to
		}
		if at != 0 {
			nodes[at].ends = append(nodes[at].ends, i)
		}
	}
	for b := byte('A'); b <= 'Z'; b++ {
		a.class[b] = a.class[fold(b)]
	}
	return nodes
}

// link finds for each state the longest other one that is its end, and returns the states from the root outwards.
func link(nodes []trieNode) []int {
	order := []int{0}
	for i := 0; i < len(order); i++ {
		at := order[i]
		for b, to := range nodes[at].next {
			if at != 0 {
				fail := nodes[at].fail
				for fail != 0 && !has(nodes[fail].next, b) {
					fail = nodes[fail].fail
				}
				nodes[to].fail = nodes[fail].next[b] // the root where there is none
			}
			nodes[to].ends = append(nodes[to].ends, nodes[nodes[to].fail].ends...)
			order = append(order, to)
		}
	}
	return order
}

func has(next map[byte]int, b byte) bool {
	_, ok := next[b]
	return ok
}

// number fills the table; states that end a word come last, so that one comparison tells them.
func (a *automaton) number(nodes []trieNode, order []int) {
	numbers := make([]uint32, len(nodes))
	var count, width uint32 = 0, uint32(a.width)
	for _, ending := range []bool{false, true} {
		if ending {
			a.first = count
		}
		for _, at := range order {
			if (len(nodes[at].ends) > 0) == ending {
				numbers[at] = count
				count += width
			}
		}
	}
	a.next = make([]uint32, count)
	a.finds = make([][]int, (count-a.first)/width)
	for _, at := range order {
		row := numbers[at]
		if at != 0 {
			copy(a.next[row:row+width], a.next[numbers[nodes[at].fail]:])
		}
		for b, to := range nodes[at].next {
			a.next[row+uint32(a.class[b])] = numbers[to]
		}
		if n := numbers[at]; n >= a.first {
			a.finds[(n-a.first)/width] = nodes[at].ends
		}
	}
}

func fold(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// scan calls found for each word in the text with its number and where it begins, in the order of their ends.
func (a *automaton) scan(text []byte, found func(word, start int)) {
	var state uint32
	next, first := a.next, a.first
	for i, b := range text {
		state = next[state+uint32(a.class[b])]
		if state >= first {
			for _, word := range a.finds[(state-first)/uint32(a.width)] {
				found(word, i+1-a.length[word])
			}
		}
	}
}

// any reports whether a text holds one of the words; alone asks for one that stands by itself: a number may follow it.
func (a *automaton) any(text []byte, alone bool) bool {
	found := false
	a.scan(text, func(word, start int) {
		end := start + a.length[word]
		found = found || written(text[start:end]) && (!alone || standsAlone(text, start, end))
	})
	return found
}

// written tells a word as people write it, in small letters, in capitals or with one, from letters that meet by chance.
func written(word []byte) bool {
	small, capitals := 0, 0
	for _, b := range word {
		switch kindOf(b) {
		case lower:
			small++
		case upper:
			capitals++
		}
	}
	return small == 0 || capitals == 0 || capitals == 1 && kindOf(word[0]) == upper
}

// standsAlone reports whether a part of a text is a word of it. Short ones occur by chance before a digit.
func standsAlone(text []byte, start, end int) bool {
	if start > 0 && alnum(text[start-1]) {
		return false
	}
	if end == len(text) {
		return true
	}
	kind := kindOf(text[end])
	return kind == other || kind == digit && end-start > 3
}
