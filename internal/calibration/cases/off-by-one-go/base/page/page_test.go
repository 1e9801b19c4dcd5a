package page

import "testing"

func TestPages(t *testing.T) {
	for _, c := range []struct{ total, size, want int }{
		{0, 10, 0}, {1, 10, 1}, {10, 10, 1}, {11, 10, 2}, {5, 0, 0},
	} {
		if got := Pages(c.total, c.size); got != c.want {
			t.Errorf("Pages(%d, %d) = %d, want %d", c.total, c.size, got, c.want)
		}
	}
}
