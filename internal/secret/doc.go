// Package secret finds secrets in text by what they look like and by what they are: the shapes of well-known keys and
// tokens, kept as data in rules.json, and the exact values of the environment's key variables. It takes them out of
// streams, whatever the borders of their parts, and never breaks a line of JSON by it.
package secret
