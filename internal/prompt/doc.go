// Package prompt writes what agents are told. Each role has one embedded template; material that others wrote stands
// between marks that it cannot close. The package is pure: equal inputs give equal bytes.
package prompt
