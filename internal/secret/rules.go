package secret

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

//go:embed rules.json
var kept []byte

// longest is the widest window of a rule, in bytes: a match never needs more of the text to be told.
const longest = 16 << 10

// The kinds of rules that code reads.
const (
	kindPEM      = "pem"
	kindAssigned = "assigned"
	kindJWT      = "jwt"
)

// usual is the window of a rule that names none.
const usual = 320

// rulesFile is the content of rules.json.
type rulesFile struct {
	Schema int `json:"schema"`
	// Separator stands for %SEP% in patterns: what lies between a name and its value, in code, settings and JSON.
	Separator string     `json:"separator"`
	Rules     []ruleFile `json:"rules"`
	Allow     struct {
		// Known are texts that no secret holds. Where a rule guesses, neither does one hold one of Words, with other
		// letters on neither side, nor match one of Guess; and what has one of the Names is none.
		Known, Words, Guess, Names []string
	} `json:"allow"`
}

// ruleFile is one rule as it is kept.
type ruleFile struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Keywords are what is looked for first, in small letters; Pattern must match from the beginning of one. Its
	// first group, or all of it, is the secret.
	Keywords []string `json:"keywords"`
	Pattern  string   `json:"pattern"`
	// Encoded are beginnings of the secret by which it is found in base64.
	Encoded []string `json:"encoded"`
	// Kind is "" for a pattern, "pem", "jwt" or "assigned" for what is read by code: a private key's block, a JSON web
	// token, and the value that is given to a name of which a keyword is part. Such a value consists of letters, digits and Characters, and
	// is at least Least long.
	Kind       string `json:"kind"`
	Characters string `json:"characters"`
	Least      int    `json:"least"`
	// Entropy is the least number of bits per character of the secret.
	Entropy float64 `json:"entropy"`
	// Window is how much of the text the pattern may see, in bytes.
	Window int `json:"window"`
	// Ends: no letter or digit may follow. Inside: one may stand before. After: the class of the byte that must stand
	// before.
	Ends   bool   `json:"ends"`
	Inside bool   `json:"inside"`
	After  string `json:"after"`
	// Guess: the rule judges by a name, not by a shape. Shaped: it does not, but what it finds is often none. Random: the secret must look like nothing a person would
	// write, as assigned ones always must. Needs must match in the text before, on the same line.
	Guess  bool   `json:"guess"`
	Shaped bool   `json:"shaped"`
	Random bool   `json:"random"`
	Needs  string `json:"needs"`
}

// rule is one compiled rule.
type rule struct {
	ruleFile
	pattern, after, needs *regexp.Regexp
	value                 [256]bool // the characters of an assigned value
}

// ruleSet is rules.json, compiled.
type ruleSet struct {
	rules        []rule
	known, words *automaton
	guess, names *regexp.Regexp
}

// defaults compiles the kept rules once.
var defaults = sync.OnceValue(func() *ruleSet {
	set, err := parseRules(kept)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return set
})

func parseRules(raw []byte) (*ruleSet, error) {
	var file rulesFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("rules.json: %w", err)
	}
	set := &ruleSet{known: newAutomaton(file.Allow.Known), words: newAutomaton(file.Allow.Words)}
	var err error
	for _, f := range file.Rules {
		r := rule{ruleFile: f}
		if r.Window == 0 {
			r.Window = usual
		}
		if len(r.Keywords) == 0 || r.ID == "" || r.Window > longest {
			return nil, fmt.Errorf("rules.json: rule %q: it needs an id, keywords and a window of at most %d", f.ID, longest)
		}
		if r.pattern, err = compile("^(?:" + r.expand(file.Separator) + ")"); err != nil {
			return nil, fmt.Errorf("rules.json: rule %s: %w", f.ID, err)
		}
		for b := range 256 {
			r.value[b] = alnum(byte(b)) || strings.IndexByte(f.Characters, byte(b)) >= 0
		}
		if r.after, err = class(f.After); err != nil {
			return nil, fmt.Errorf("rules.json: rule %s: %w", f.ID, err)
		}
		if f.Needs != "" {
			if r.needs, err = compile(f.Needs); err != nil {
				return nil, fmt.Errorf("rules.json: rule %s: %w", f.ID, err)
			}
		}
		set.rules = append(set.rules, r)
	}
	for _, list := range []struct {
		into  **regexp.Regexp
		words []string
	}{{&set.guess, file.Allow.Guess}, {&set.names, file.Allow.Names}} {
		if *list.into, err = compile("(?:" + strings.Join(list.words, ")|(?:") + ")"); err != nil {
			return nil, fmt.Errorf("rules.json: allow: %w", err)
		}
	}
	return set, nil
}

func compile(pattern string) (*regexp.Regexp, error) { return regexp.Compile(pattern) }

func class(set string) (*regexp.Regexp, error) {
	if set == "" {
		return nil, nil
	}
	return compile("^[" + set + "]$")
}

func (f ruleFile) expand(separator string) string {
	return strings.ReplaceAll(f.Pattern, "%SEP%", "(?:"+separator+")")
}
