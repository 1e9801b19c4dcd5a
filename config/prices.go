package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"conclave/internal/price"
)

// ModelPrice is one entry of `prices`: what models of a name cost here.
type ModelPrice struct {
	price.Entry
	// Where names the place that sets it.
	Where string
}

// priceFields are the keys of a price; output must be there, cached is input where it is not.
var priceFields = []string{"input", "cached", "output"}

const priceRemedy = "write `NAME: {input: A, cached: B, output: C}` in US dollars per million tokens, or `NAME: unknown`; * in a name stands for any characters"

// price reads one entry of `prices`.
func (r *reader) price(pattern string, k, n *yaml.Node) {
	prefix := "prices." + pattern
	entry := ModelPrice{Entry: price.Entry{Pattern: pattern}, Where: r.at(k)}
	if strings.ContainsAny(pattern, " \t\n") || pattern == "" {
		r.fault(k, priceRemedy, "%q is no name of a model", pattern)
		return
	}
	if n.Kind == yaml.ScalarNode {
		if entry.Unknown = n.Value == "unknown"; !entry.Unknown {
			r.fault(n, priceRemedy, "%s: %q is no price", prefix, n.Value)
			return
		}
		r.layer.prices = append(r.layer.prices, entry)
		return
	}
	if !r.fields(prefix, n, priceFields) {
		return
	}
	set := map[string]bool{}
	before := len(r.problems)
	r.each(n, prefix, func(field string, _, v *yaml.Node) {
		set[field] = true
		amount, err := price.Amount(v.Value)
		if v.Kind != yaml.ScalarNode || err != nil {
			r.fault(v, priceRemedy, "%s.%s: %q is no price", prefix, field, v.Value)
			return
		}
		switch field {
		case "input":
			entry.Input = amount
		case "cached":
			entry.Cached = amount
		case "output":
			entry.Output = amount
		}
	})
	if !set["input"] || !set["output"] {
		r.fault(k, priceRemedy, "%s needs both input and output", prefix)
	}
	if !set["cached"] {
		entry.Cached = entry.Input
	}
	if len(r.problems) == before {
		r.layer.prices = append(r.layer.prices, entry)
	}
}

// prices are those of all files by rank: an entry of a stronger file over the same name in a weaker one.
func (l *loading) prices() []ModelPrice {
	var all []ModelPrice
	for _, file := range slices.Backward(l.layers) {
		for _, entry := range file.prices {
			if !slices.ContainsFunc(all, func(known ModelPrice) bool { return known.Pattern == entry.Pattern }) {
				all = append(all, entry)
			}
		}
	}
	return all
}

// PriceList is what models cost on this host: the user's prices over those that are built in.
func (h Host) PriceList() price.List {
	var own price.Table
	for _, entry := range h.Prices {
		own = append(own, entry.Entry)
	}
	return price.List{own, price.Builtin()}
}

// shown is a price for people.
func (p ModelPrice) shown() string {
	if p.Unknown {
		return "unknown"
	}
	return fmt.Sprintf("input %g, cached %g, output %g", p.Input, p.Cached, p.Output)
}
