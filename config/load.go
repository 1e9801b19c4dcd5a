package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// Sources is where settings come from besides the environment.
type Sources struct {
	// Flags is the parsed command line; nil for none.
	Flags *pflag.FlagSet
	// User is the user's own file, Repository conclave.yaml of the base commit, Named the file of --config; each may be empty.
	User, Repository, Named File
	// HostOnly leaves out everything about a run: lanes and what is not supported yet.
	HostOnly bool
	// Definition is the file of --definition, which then decides who works and under which limits.
	Definition File
	// Unrun says that no engine will be called: what is not supported yet is a warning then.
	Unrun bool
}

// separator keeps viper from taking the dots of our keys for a tree.
const separator = "\x1f"

// loading is the state of one Load.
type loading struct {
	sources Sources
	vip     *viper.Viper
	// layers are the files from weak to strong.
	layers []layer
	preset Preset
	named  bool
	// where remembers each key's origin.
	where    map[string]string
	problems []error
	warnings []string
}

// Load merges every source by rank and checks the result. The error holds one
// Problem per fault.
func Load(sources Sources) (Config, error) {
	l := loading{sources: sources, where: map[string]string{}}
	l.vip = viper.NewWithOptions(viper.KeyDelimiter(separator))
	l.readFiles()
	if len(l.problems) > 0 {
		return Config{}, errors.Join(l.problems...)
	}
	l.defaults()
	l.choosePreset()
	l.mergeFiles()
	l.strongSources()
	l.checkStrong()
	l.besideDefinition()
	if len(l.problems) > 0 {
		return Config{}, errors.Join(l.problems...)
	}
	c := l.config()
	return c, errors.Join(distinct(l.problems)...)
}

func (l *loading) readFiles() {
	repository := l.sources.Repository
	repository.Repository = true
	for _, file := range []File{l.sources.User, repository, l.sources.Named} {
		if file.Name == "" {
			continue
		}
		parsed, err := parse(file)
		if err != nil {
			l.problems = append(l.problems, err)
			continue
		}
		l.layers = append(l.layers, parsed)
	}
}

func (l *loading) defaults() {
	for _, k := range keys {
		if k.def != "" {
			l.vip.SetDefault(k.name, k.def)
			l.where[k.name] = "default"
		}
	}
}

// choosePreset finds the preset by the ranks of the setting "preset". One that nobody named goes below the files.
func (l *loading) choosePreset() {
	name, origin := DefaultPreset, "default preset "+DefaultPreset
	for _, file := range l.layers {
		if v, ok := file.values["preset"]; ok {
			name, origin, l.named = v.text, v.where, true
		}
	}
	k, _ := keyNamed("preset")
	if v, where, ok := l.strong(k); ok {
		if err := check(k, where, v); err != nil {
			l.problems = append(l.problems, err)
			return
		}
		name, origin, l.named = v, where, true
	}
	if l.sources.Definition.Name != "" {
		l.named = false
		return // the definition is instead of a preset
	}
	l.preset, _ = presetNamed(name)
	l.where["preset"] = origin
	if !l.named {
		l.merge("default preset "+name, texts(l.preset.values(), origin))
	}
}

func texts(values map[string]string, where string) map[string]value {
	all := make(map[string]value, len(values))
	for k, v := range values {
		all[k] = value{text: v, where: where}
	}
	return all
}

// mergeFiles puts the files over the defaults, and a named preset over the files.
func (l *loading) mergeFiles() {
	for _, file := range l.layers {
		l.merge(file.name, file.values)
	}
	if l.named {
		origin := "preset " + l.preset.Name
		values := l.preset.values()
		for _, name := range []string{"implementer", "reviewers"} {
			if where, ok := l.fromFile(name); ok && l.vip.GetString(name) != values[name] {
				l.warnings = append(l.warnings, fmt.Sprintf("%s of %s does not count: %s is named and ranks above files", name, where, origin))
			}
		}
		l.merge(origin, texts(values, origin))
	}
}

func (l *loading) fromFile(name string) (string, bool) {
	for _, file := range slices.Backward(l.layers) {
		if v, ok := file.values[name]; ok {
			return v.where, true
		}
	}
	return "", false
}

func (l *loading) merge(name string, values map[string]value) {
	flat := make(map[string]any, len(values))
	for k, v := range values {
		flat[k] = v.text
		l.where[k] = v.where
	}
	if err := l.vip.MergeConfigMap(flat); err != nil {
		l.problems = append(l.problems, fmt.Errorf("%s: %w", name, err))
	}
}

// strong is a key's value from flag or environment.
func (l *loading) strong(k key) (text, where string, ok bool) {
	if k.flag != "" && l.sources.Flags != nil {
		if f := l.sources.Flags.Lookup(k.flag); f != nil && f.Changed {
			return f.Value.String(), "--" + k.flag, true
		}
	}
	if v, ok := os.LookupEnv(k.variable()); ok && v != "" {
		return v, k.variable(), true
	}
	return "", "", false
}

// strongSources binds flags and variables, which outrank everything merged.
func (l *loading) strongSources() {
	for _, k := range keys {
		if k.flag != "" && l.sources.Flags != nil {
			if f := l.sources.Flags.Lookup(k.flag); f != nil {
				_ = l.vip.BindPFlag(k.name, f)
			}
		}
		_ = l.vip.BindEnv(k.name, k.variable())
	}
	if seats := l.seatFlags(); len(seats) > 0 {
		l.vip.Set("reviewers", strings.Join(seats, ","))
	}
	l.vip.Set("preset", l.preset.Name)
}

// seatFlags are the seats of --reviewer, --reviewers and --seat, in this order.
func (l *loading) seatFlags() []string {
	if l.sources.Flags == nil {
		return nil
	}
	var seats, flags []string
	for _, name := range []string{"reviewer", "reviewers", "seat"} {
		f := l.sources.Flags.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		flags = append(flags, "--"+name)
		if several, ok := f.Value.(pflag.SliceValue); ok {
			seats = append(seats, several.GetSlice()...)
		} else {
			seats = append(seats, splitList(f.Value.String())...)
		}
	}
	if len(flags) > 0 {
		l.where["reviewers"] = strings.Join(flags, ", ")
	}
	return seats
}

func (l *loading) checkStrong() {
	for _, k := range keys {
		v, where, ok := l.strong(k)
		if !ok {
			continue
		}
		if err := check(k, where, v); err != nil && k.name != "preset" {
			l.problems = append(l.problems, err)
		}
		if k.name != "reviewers" || !strings.HasPrefix(l.where[k.name], "--") {
			l.where[k.name] = where
		}
	}
}
