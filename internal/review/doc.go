// Package review reads what reviewers say: the verdict line that ends a message and the JSON answer before it.
//
// Everything here is pure and fails closed: the zero value of every enum is the refusing one, and text that
// cannot be read as an answer is never read as a pass.
package review
