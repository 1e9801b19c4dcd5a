package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"conclave/internal/convergence"
	"conclave/internal/localserver"
	"conclave/internal/record"
)

// version is set by the linker in a release.
var version = "dev"

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			v := versionOf()
			if asJSON {
				return a.printJSON(v)
			}
			a.print("%s", v.line())
			a.print("rules %s, record schema %d, local Temporal server %s", v.Rules, v.Schema, v.Server)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// line says which build this is.
func (v versionInfo) line() string {
	of := v.Go
	if v.Commit != "" {
		of = "commit " + v.Commit[:min(len(v.Commit), 12)] + ", " + of
	}
	return "conclave " + v.Version + " (" + of + ")"
}

type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	Rules   string `json:"rules"`
	Schema  int    `json:"record_schema"`
	Server  string `json:"local_server"`
}

func versionOf() versionInfo {
	v := versionInfo{Version: version, Go: runtime.Version(), Rules: convergence.V1.Name, Schema: record.Schema, Server: localserver.ServerVersion}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	return v
}
