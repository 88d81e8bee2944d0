package ubl

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/documents"
)

// payment writes BG-16, how to pay: one cac:PaymentMeans for each account, all with the
// same code and reference (UBL-SR-44, UBL-SR-47), and the terms (BT-20).
func (o *out) payment() {
	code, reference := o.paymentCode(), o.reference("BT-83", "payment")
	accounts, debited := o.accounts()
	mandate := referenceOf(o.buyer(), "mandate")
	due, dueHere := o.dueDate(), ""
	if o.credit {
		dueHere = due
	}
	if code == "" && (reference != "" || len(accounts) > 0 || debited != nil || mandate != "" || dueHere != "") {
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
			o.x.leaf("PaymentDueDate", dueHere)
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
	terms := o.terms(due)
	if terms == "" && due == "" && !o.credit && o.sums.payable.Sign() > 0 { // BR-CO-25
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

// accounts gives those to pay to (BG-17), each once, and the buyer's to debit (BT-91).
// Where the payee (BG-10) is another than the seller and names an account, that one is
// to be paid to: who pays to the seller then has not paid, as where claims are assigned
// to a factor. Where it names none, the seller's is no account of it either, and who is
// told to pay the one to the account of the other may have paid neither. QUIRK: the
// binding of EN 16931 has the account (BG-17) beneath the seller, whoever is to be paid.
// In examples of CEN/TS 16931-3-4 it is said twice, once with its bank.
func (o *out) accounts() (paid []documents.Account, debited *documents.Account) {
	payee, seller, buyer := o.party("payee"), o.party(sellerRoles...), o.buyer()
	sellers := o.paidTo(seller)
	if payee != seller {
		paid = o.paidTo(payee)
	}
	switch {
	case o.payee() == nil:
		paid = merged(paid, sellers)
	case len(paid) == 0 && len(sellers) == 0:
	case len(paid) == 0 && o.guide == guideEN16931:
		paid = sellers
		o.tell(Derived, "BT-84", "the account of the payee, from beneath the seller: EN 16931 has it there in INVOIC")
	case len(paid) == 0:
		o.tell(LeftOut, "BG-17", "an account of the seller: another is to be paid, who names none")
		o.tell(Missing, "BT-84", "the account of the payee: the only one is the seller's")
	case len(merged(paid, sellers)) > len(paid):
		paid = merged(paid, sellers)[:len(paid)]
		o.tell(LeftOut, "BG-17", "an account of the seller: it is the payee's that is to be paid to")
	default:
		paid = merged(paid, sellers)
	}
	for i := range o.d.Detail.Parties {
		p := &o.d.Detail.Parties[i]
		if p != payee && p != seller && p != buyer && len(p.Accounts) > 0 && o.hasPlace(p) {
			o.tell(LeftOut, "", "an account of the party %s", named(p))
		}
	}
	if buyer == nil {
		return paid, nil
	}
	for i := range buyer.Accounts {
		switch a := &buyer.Accounts[i]; {
		case strings.TrimSpace(a.Account) == "":
			o.tell(LeftOut, "BT-91", "a bank of the buyer without an account")
		case debited == nil:
			debited = a
		case a.Account != debited.Account:
			o.tell(LeftOut, "BT-91", "a further account of the buyer: EN 16931 has one")
		}
	}
	return paid, debited
}

// paidTo gives the accounts of a party that it can be paid to.
func (o *out) paidTo(p *documents.Party) (list []documents.Account) {
	if p == nil {
		return nil
	}
	for _, a := range p.Accounts {
		switch {
		case slices.Contains(othersBanks, a.Qualifier):
			o.tell(LeftOut, "BG-17", "a bank between the two or of the buyer (FII %s)", a.Qualifier)
		case strings.TrimSpace(a.Account) == "":
			o.tell(LeftOut, "BG-17", "a bank without an account")
		default:
			list = merged(list, []documents.Account{a})
		}
	}
	return list
}

// othersBanks are those of UNTDID 3035, beneath a seller or payee, that are not its own:
// buyer's, intermediary, ordered and paying bank.
var othersBanks = []string{"BB", "I1", "OR", "PB"}

// merged adds accounts that are not in the list, and to those that are what it lacks.
func merged(list, more []documents.Account) []documents.Account {
next:
	for _, a := range more {
		for i := range list {
			if had := &list[i]; had.Account == a.Account {
				if had.Institution.Value == "" {
					had.Institution = a.Institution
				}
				if had.Holder == "" {
					had.Holder = a.Holder
				}
				continue next
			}
		}
		list = append(list, a)
	}
	return list
}

func (o *out) account(name string, a documents.Account) {
	o.x.group(name, func() {
		o.x.leaf("ID", a.Account)
		o.x.leaf("Name", a.Holder)
		o.x.group("FinancialInstitutionBranch", func() { o.x.leaf("ID", a.Institution.Value) })
	})
}
