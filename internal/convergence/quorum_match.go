package convergence

// identityPair is the provider and family an eligible seat was reported with.
type identityPair struct{ provider, family string }

// maxMatching is the size of the largest set of pairs that differ pairwise in
// provider and in family: a maximum matching of the bipartite graph whose edges
// are the pairs. Counting providers and families apart would be wrong.
func maxMatching(pairs []identityPair) int {
	edges := map[string][]string{}
	var providers []string
	for _, p := range pairs {
		if _, known := edges[p.provider]; !known {
			providers = append(providers, p.provider)
		}
		edges[p.provider] = append(edges[p.provider], p.family)
	}
	owner := map[string]string{}
	size := 0
	for _, provider := range providers {
		if augment(provider, edges, owner, map[string]bool{}) {
			size++
		}
	}
	return size
}

// augment looks for an alternating path from a free provider (Kuhn's algorithm).
func augment(provider string, edges map[string][]string, owner map[string]string, visited map[string]bool) bool {
	for _, family := range edges[provider] {
		if visited[family] {
			continue
		}
		visited[family] = true
		if holder, taken := owner[family]; !taken || augment(holder, edges, owner, visited) {
			owner[family] = provider
			return true
		}
	}
	return false
}
