package ubl

import (
	"strings"

	"github.com/edigw/edigw/documents"
)

// payment writes BG-16, how to pay: one cac:PaymentMeans for each account, all with the
// same code and reference (UBL-SR-44, UBL-SR-47), and the terms (BT-20).
func (o *out) payment() {
	code, reference := o.paymentCode(), o.reference("BT-83", "payment")
	accounts, debited := o.accounts()
	mandate := referenceOf(o.buyer(), "mandate")
	due := ""
	if o.credit {
		due = o.d.DueDate
	}
	if code == "" && (reference != "" || len(accounts) > 0 || mandate != "" || due != "") {
		code = "1" // UNTDID 4461: not defined
		o.tell(Derived, "BT-81", "the payment means 1, not defined: the schema asks for one")
	}
	if (code == "30" || code == "58") && len(accounts) == 0 { // BR-61
		o.tell(Missing, "BT-84", "the account to pay to, by credit transfer (%s)", code)
	}
	for i := range max(len(accounts), 1) {
		if code == "" {
			break
		}
		o.x.group("PaymentMeans", func() {
			o.x.leaf("PaymentMeansCode", code)
			o.x.leaf("PaymentDueDate", due)
			o.x.leaf("PaymentID", reference)
			if i < len(accounts) {
				o.account("PayeeFinancialAccount", accounts[i])
			}
			if i == 0 {
				o.x.group("PaymentMandate", func() {
					o.x.leaf("ID", mandate)
					if debited != nil {
						o.x.group("PayerFinancialAccount", func() { o.x.leaf("ID", debited.Account) })
					}
				})
			}
		})
	}
	terms := o.terms()
	if terms == "" && o.d.DueDate == "" && !o.credit && o.sums.payable.Sign() > 0 { // BR-CO-25
		o.tell(Missing, "BT-9", "when to pay: neither a date nor terms")
	}
	o.x.group("PaymentTerms", func() { o.x.leaf("Note", terms) })
}

// paymentCode gives BT-81.
func (o *out) paymentCode() string {
	code := ""
	for _, means := range o.invoice.PaymentMeans {
		switch {
		case code == "":
			code = means
		case means != code:
			o.tell(LeftOut, "BT-81", "further payment means: EN 16931 has one")
		}
	}
	return code
}

// accounts gives those to pay to (BG-17), the payee's before the seller's, each once,
// and the buyer's to debit (BT-91). QUIRK: in examples of CEN/TS 16931-3-4 an account
// is said twice, once with its bank.
func (o *out) accounts() (paid []documents.Account, debited *documents.Account) {
	for _, p := range []*documents.Party{o.party("payee"), o.party(sellerRoles...)} {
		if p == nil {
			continue
		}
	next:
		for _, a := range p.Accounts {
			if strings.TrimSpace(a.Account) == "" {
				continue
			}
			for i := range paid {
				if had := &paid[i]; had.Account == a.Account {
					if had.Institution.Value == "" {
						had.Institution = a.Institution
					}
					if had.Holder == "" {
						had.Holder = a.Holder
					}
					continue next
				}
			}
			paid = append(paid, a)
		}
	}
	if buyer := o.buyer(); buyer != nil {
		for i := range buyer.Accounts {
			if strings.TrimSpace(buyer.Accounts[i].Account) != "" {
				debited = &buyer.Accounts[i]
				break
			}
		}
	}
	return paid, debited
}

func (o *out) account(name string, a documents.Account) {
	o.x.group(name, func() {
		o.x.leaf("ID", a.Account)
		o.x.leaf("Name", a.Holder)
		o.x.group("FinancialInstitutionBranch", func() { o.x.leaf("ID", a.Institution.Value) })
	})
}

// terms gives BT-20, a text: what the sender says in words, and in words what it says
// in figures.
func (o *out) terms() string {
	var lines []string
	for _, t := range o.texts(termsOfPayment) {
		if t.Text != "" {
			lines = append(lines, t.Text)
		}
	}
	for i := range o.invoice.Terms {
		t := &o.invoice.Terms[i]
		if t.Text != "" {
			lines = append(lines, t.Text)
			continue
		}
		if said := inWords(t); said != "" {
			lines = append(lines, said)
			o.tell(Derived, "BT-20", "the terms of payment in words, from what is said in figures")
		}
	}
	return strings.Join(lines, "\n")
}

// inWords says a term that has no text, "" where a date says it all, or what it says is
// not sure.
func inWords(t *documents.PaymentTerm) string {
	deadline := ""
	switch {
	case t.Type == "22" && firstDay(t.Dates) != "":
		deadline = " until " + firstDay(t.Dates)
	case t.Count == "":
	case t.Period == "D":
		deadline = " within " + t.Count + " days"
	case t.Period == "W":
		deadline = " within " + t.Count + " weeks"
	case t.Period == "M":
		deadline = " within " + t.Count + " months"
	}
	switch {
	case t.Type == "22" && t.Percent.Valid() && (t.Of == "" || t.Of == "12"): // 5245: a discount
		return t.Percent.String() + " % discount if paid" + deadline
	case t.Type == "1" && deadline != "" && firstDay(t.Dates) == "":
		return "payable" + deadline
	}
	return ""
}
