package documents

import (
	"context"
	"strconv"
)

// numbered adds that the number begins so: a range is served by the index whatever the
// plan was made for.
func (c *conditions) numbered(prefix string) {
	c.add("d.number >= ? and d.number < ?", prefix, prefix+"\U0010ffff")
}

// ordered adds that an order is named of which the index has the documents: those whose
// reference has at most maxIndexed bytes.
func (c *conditions) ordered(reference string) {
	c.add("d.order_reference = ? and octet_length(d.order_reference) <= 140", reference)
}

// few reports whether an index finds at most look documents by a condition of f. Any
// number of them may have a number that begins so, as most of a partner's do, name an
// order, as all those of a frame contract do, or name an SSCC, as those do whose sender
// has none and writes zeros. A number, and an interchange, are of few.
func (s Store) few(ctx context.Context, f *Filter, look int) (bool, error) {
	if f.Number != "" || f.MessageID != "" {
		return true, nil
	}
	for _, by := range []struct {
		asked bool
		table string
		add   func(c *conditions)
	}{
		{f.SSCC != "", "document_package", func(c *conditions) { c.add("d.sscc = ?", trimSSCC(f.SSCC)) }},
		{f.ofAnOrder(), "document", func(c *conditions) { c.ordered(f.OrderReference) }},
		{f.NumberPrefix != "", "document", func(c *conditions) { c.numbered(f.NumberPrefix) }},
	} {
		if !by.asked {
			continue
		}
		c := &conditions{}
		c.add("d.partner_id = ?", f.Partner)
		by.add(c)
		var found int
		// The index alone is read, and not past look.
		if err := s.Pool.QueryRow(ctx, `select count(*) from (
  select from `+by.table+` d
  where `+c.String()+`
  limit $`+strconv.Itoa(len(c.args)+1)+`) found`, append(c.args, look+1)...).Scan(&found); err != nil {
			return false, err
		}
		if found <= look {
			return true, nil
		}
	}
	return false, nil
}
