package page

// Pages is how many pages of size entries hold total entries.
func Pages(total, size int) int {
	if total <= 0 || size <= 0 {
		return 0
	}
	return (total + size - 1) / size
}
