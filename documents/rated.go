package documents

import (
	"cmp"
	"slices"
)

// rated are the taxes of a document that say their rate, ordered by it and by category.
// One is looked for by each line, and of both there may be as many as the message has
// room for.
type rated []ratedTax

type ratedTax struct {
	rate     Number // per cent
	category string // UNTDID 5305, "" where it is not said
	at       int    // in Invoice.Taxes, from 0
}

func ratedOf(taxes []Tax) rated {
	r := make(rated, 0, len(taxes))
	for i := range taxes {
		if x := &taxes[i]; x.Rate.Valid() {
			r = append(r, ratedTax{x.Rate, x.Category, i})
		}
	}
	slices.SortFunc(r, compareRated)
	return r
}

// compareRated orders by value: 19 and 19.00 are one rate.
func compareRated(a, b ratedTax) int {
	return cmp.Or(a.rate.minus(b.rate).Sign(), cmp.Compare(a.category, b.category))
}

// find gives the tax of a rate and category, by its index in Invoice.Taxes. Where one
// of the two says no category it may be any. false where no tax is meant, or where it
// may be more than one.
func (r rated) find(category string, rate Number) (at int, ok bool) {
	fitting := 0
	count := func(from rated, fits func(ratedTax) bool) {
		for _, x := range from[:min(len(from), 2)] { // a second is one too many
			if x.rate.minus(rate).Sign() == 0 && fits(x) {
				at = x.at
				fitting++
			}
		}
	}
	of := r.from(ratedTax{rate: rate}) // those without a category come first
	count(of, func(x ratedTax) bool { return category == "" || x.category == "" })
	if category != "" {
		count(of.from(ratedTax{rate: rate, category: category}), func(x ratedTax) bool { return x.category == category })
	}
	return at, fitting == 1
}

// from gives the taxes from the first on that is not before x.
func (r rated) from(x ratedTax) rated {
	i, _ := slices.BinarySearchFunc(r, x, compareRated)
	return r[i:]
}
