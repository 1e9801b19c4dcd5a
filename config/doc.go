// Package config turns flags, environment, presets and files into one
// validated, typed Config, and a Config into the definition that the
// convergence machine compiles.
//
// A value's rank, from strong to weak: flag, CONCLAVE_* variable, preset that
// somebody named, configuration files, preset that nobody named, default. Of
// the files, one named by --config or CONCLAVE_CONFIG is the strongest, then
// conclave.yaml of the repository, then the user's own file.
//
// conclave.yaml may set loop policy only: it is part of the change's
// repository and must not choose which programs run, what they see, or where
// results go.
package config
