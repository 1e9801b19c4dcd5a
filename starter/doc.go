// Command starter carries a requirement through coding agents and their
// reviewers until it converges. See docs/cli.md.
package main
