// Package price knows what models cost per token, for engines that report
// tokens and no cost. It is pure: a table goes in, a cost comes out. A model
// without a price has none: unknown is never zero.
package price

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"conclave/internal/record"
)

// Price is in US dollars per million tokens. The zero value costs nothing,
// which only a table can say.
type Price struct {
	Input  float64
	Cached float64 // input that was read from a cache
	Output float64
	// Unknown says that the price is not known, whatever a weaker table says.
	Unknown bool
}

// Entry is one line of a table: a model's name, in which "*" stands for any characters, and its price.
type Entry struct {
	Pattern string
	Price
}

// Table prices models. Of the entries that match a name, the one with the most
// literal characters counts; of two equal ones the first.
type Table []Entry

// List is tables by rank, the strongest first.
type List []Table

//go:embed prices.txt
var builtin string

// Builtin is the table that comes with this program.
func Builtin() Table {
	table, err := Parse(builtin)
	if err != nil {
		panic(fmt.Sprintf("prices.txt: %v", err)) // a test reads it
	}
	return table
}

// Parse reads lines of "name input cached output"; "#" begins a comment.
func Parse(text string) (Table, error) {
	var table Table
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 4 {
			return nil, fmt.Errorf("line %d: want a name and three prices (input, cached input, output), got %d words", i+1, len(fields))
		}
		entry := Entry{Pattern: fields[0]}
		for n, amount := range []*float64{&entry.Input, &entry.Cached, &entry.Output} {
			var err error
			if *amount, err = Amount(fields[n+1]); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		table = append(table, entry)
	}
	return table, nil
}

// Amount reads dollars per million tokens: 0 or more, finite.
func Amount(text string) (float64, error) {
	amount, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(amount) || math.IsInf(amount, 0) || amount < 0 {
		return 0, fmt.Errorf("%q is no price: write US dollars per million tokens, 0 or more", text)
	}
	return amount, nil
}

// Of is the price of a model, by the strongest table that has one.
func (l List) Of(model string) (Price, bool) {
	for _, table := range l {
		if price, ok := table.Of(model); ok {
			return price, !price.Unknown
		}
	}
	return Price{}, false
}

// Of is the price of a model by this table alone; it may be an unknown one.
func (t Table) Of(model string) (Price, bool) {
	best, found := -1, Price{}
	for _, name := range names(model) {
		for _, entry := range t {
			if literal := len(strings.ReplaceAll(entry.Pattern, "*", "")); literal > best && matches(entry.Pattern, name) {
				best, found = literal, entry.Price
			}
		}
	}
	return found, best >= 0
}

// dated is what makers hang on the name of a model: a date, or a variant of its context.
var dated = regexp.MustCompile(`([@-](20\d{6}|20\d\d-\d\d-\d\d))?(\[[^\]]*\])?$`)

// names are what a model may be listed under: as reported, without its date, and both without the provider in front.
func names(model string) []string {
	model = strings.ToLower(strings.TrimSpace(model))
	if model == "" {
		return nil
	}
	out := []string{model, dated.ReplaceAllString(model, "")}
	if i := strings.LastIndexByte(model, '/'); i >= 0 && i < len(model)-1 {
		out = append(out, model[i+1:], dated.ReplaceAllString(model[i+1:], ""))
	}
	return out
}

// matches reports whether a whole name matches a pattern, in any case of letters.
func matches(pattern, name string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	if len(parts) == 1 {
		return parts[0] == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

const perMillion = 1e6

// Cost is what a turn cost at this price, in US dollars.
func (p Price) Cost(u record.Usage) float64 {
	cached := min(u.CachedTokens, u.InputTokens)
	return (float64(u.InputTokens-cached)*p.Input + float64(cached)*p.Cached + float64(u.OutputTokens)*p.Output) / perMillion
}

// Priced is the usage of one turn with its cost: the one that its engine
// reported, else one by the table, marked as such, else none. A reported cost
// of nothing for tokens is what programs print that do not know a price.
func (l List) Priced(u *record.Usage, model string) *record.Usage {
	if u == nil {
		return nil
	}
	out := *u
	if out.CostUSD != nil && (*out.CostUSD > 0 || out.InputTokens+out.OutputTokens == 0) {
		return &out
	}
	out.CostUSD, out.Priced = nil, false
	if price, ok := l.Of(model); ok {
		cost := price.Cost(out)
		out.CostUSD, out.Priced = &cost, true
	}
	return &out
}
