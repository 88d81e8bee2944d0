package main

import "strings"

// A judgement says who is right where peers and we differ on a sample.
type judgement struct {
	sample, peers string // those that differ, blank between them
	who           right
	why           string // with the clause
}

type right string

const (
	ours   right = "we are right"
	theirs right = "they are right, and we forgive" // with a note or a warning in the receipt
	free   right = "the standard leaves it open"
)

var judgements = []judgement{
	{"01_invoic_d93a_una.edi", "staedi edireader pydifact bots", ours,
		"UNOA is a repertoire of ISO 646, and a byte above 0x7F is none of it (ISO 9735:1988 §5, 0001); they read any byte"},
	{"04_invoic_d97b.edi", "staedi edireader pydifact bots", ours,
		"UNOA is a repertoire of ISO 646, and a byte above 0x7F is none of it (ISO 9735:1988 §5, 0001); they read any byte"},
	{"05_wrapped_invoic_d97b_una.edi", "node-edifact bots", free,
		"lines cut at a width inside UNB are no interchange of ISO 9735-1 §7; they drop every line break, and so do we where reading.wrapped says so"},
	{"07_orders-with-group.edi", "pydifact node-edifact", ours, "UNT 0074 is not the number of segments (ISO 9735-1 §7); they count none"},
	{"08_other_dialect_term_segments.edi", "staedi", free,
		"a message type that no directory has is a matter of agreement (0065 with 0051); it keeps a list, we the partner's setting types"},
	{"08_other_dialect_term_segments.edi", "bots", free, "it has no grammar of this message and then reads nothing; the syntax needs none (ISO 9735-1 §7)"},
	{"10_pnrgov.edi", "staedi bots", free, "IATA is not in the code list of 0001, but airlines agreed on it; they refuse, we warn and read ASCII"},
	{"11_null-pointer-example.edi", "staedi bots", free, "IATA is not in the code list of 0001, but airlines agreed on it; they refuse, we warn and read ASCII"},
	{"11_null-pointer-example.edi", "node-edifact", ours,
		"the fifth character of UNA is reserved before syntax version 4 and has no meaning (ISO 9735:1988 §4); it finds UNA by the blank there alone"},
	{"13_invoice810_po850_dual.edi", "bots", free, "it has no grammar of 850 in 003010 and then reads nothing; the envelope needs none (X12.5)"},
	{"16_sample275_with_HL7_invalid_BIN01.edi", "staedi edireader pyx12 node-x12", ours,
		"BIN01 (784) is the length of BIN02, and no terminator stands behind so many bytes (X12.6); they look for the next one"},
	{"17_simple_with_binary_segment.edi", "bots", free, "it has no grammar of the set 000 and then reads nothing; the envelope needs none (X12.5)"},
	{"20_ts210_80char.edi", "bots", free,
		"lines cut at a width inside ISA are no interchange header of X12.5; it drops every line break, and so do we where reading.wrapped says so"},
	{"23_simple999.edi", "bots", ours, "CTX01 (C998) may be repeated up to ten times (999 in 005010); its grammar has it once"},
	{"25_optionalInterchangeServices.edi", "edireader bots node-x12", ours, "ISB and ISE may stand between ISA and GS (X12.5, X12.56); they know neither"},
	{"26_x12_interchange_ack.txt", "staedi edireader pyx12 bots", theirs,
		"IEA01 is the number of groups, here none (X12.5), and says 1; a TA1 is never answered, so refusing it would tell nobody"},
	{"26_x12_interchange_ack.txt", "node-x12", theirs,
		"IEA01 is the number of groups, here none (X12.5), and says 1; but it refuses TA1 outside of a group, where alone X12.5 has it"},
	{"32_x12.810c.edi", "staedi edireader pyx12 bots node-x12", theirs,
		"no byte order mark stands before ISA, and ISA02 is ten characters (X12.5); all is told by the separators all the same, and noted"},
	{"38_edifact.Paiement.Issue139.EDI", "pydifact", ours, "UNT 0074 is not the number of segments (ISO 9735-1 §7); it counts none"},
	{"41_Apperak_edi_out_issue235.edi", "node-edifact", ours, "the sender (S002, 0004) is mandatory in UNB (ISO 9735-1 Annex C); it reads UNB as any segment"},
	{"42_edifact.Issue196.edi", "pydifact", ours, "UNT 0074 is not the number of segments (ISO 9735-1 §7); it counts none"},
	{"47_patient2.edi", "pydifact", ours, "UNZ 0020 is not that of UNB (ISO 9735-1 §7); it compares none"},
	{"50_order.edi", "pydifact node-edifact", ours, "UNZ is mandatory (ISO 9735-1 §7); they ask for none"},
	{"73_MultipleInterchangesAndGroups.edi", "edireader", theirs,
		"IEA02 is nine digits and the same as ISA13 (X12.5), and lacks leading zeros; the number is the same, and we warn"},
	{"73_MultipleInterchangesAndGroups.edi", "staedi bots", theirs,
		"every segment ends with the terminator (X12.6), and the last IEA does not; it is complete by its elements, and we warn"},
	{"73_MultipleInterchangesAndGroups.edi", "pyx12", ours, "00400 is a version of the interchange control structure (I11); it knows 00401 and 00501"},
	{"73_MultipleInterchangesAndGroups.edi", "node-x12", ours, "the text holds two interchanges; it drops the second, whose last segment has no terminator, and says nothing"},
	{"75_850.Composite.SLN.OK.edi", "pyx12", ours, "00400 is a version of the interchange control structure (I11); it knows 00401 and 00501"},
	{"86_d96a_invoic_malformed.edi", "pydifact node-edifact", ours, "UNB is mandatory (ISO 9735-1 §7); they read any segments"},
	{"EDIFACT_EXAMPLE1.TXT", "pydifact", ours, "UNZ 0020 is not that of UNB (ISO 9735-1 §7); it compares none"},
	{"EDIFACT_EXAMPLE3.TXT", "pydifact", ours, "UNZ 0020 is not that of UNB (ISO 9735-1 §7); it compares none"},
	{"EDIFACT_EXAMPLE4.TXT", "pydifact", ours, "UNZ 0020 is not that of UNB (ISO 9735-1 §7); it compares none"},
	{"EDIFACT_EXAMPLE6.TXT", "pydifact", ours, "UNZ 0020 is not that of UNB (ISO 9735-1 §7); it compares none"},
}

// judged finds the judgement on what peer says of sample, nil if there is none.
func judged(sample, peer string) *judgement {
	for i := range judgements {
		j := &judgements[i]
		if j.sample != sample {
			continue
		}
		for p := range strings.FieldsSeq(j.peers) {
			if p == peer {
				return j
			}
		}
	}
	return nil
}
