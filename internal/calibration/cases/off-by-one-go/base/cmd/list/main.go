// Command list prints the names of a stock file, one a line.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	var names []string
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		names = append(names, lines.Text())
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "list:", err)
		os.Exit(1)
	}
	for _, name := range names {
		fmt.Println(name)
	}
}
