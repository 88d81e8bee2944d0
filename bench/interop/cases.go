package main

import "strings"

// situation is a text, and what the standard makes of it.
type situation struct {
	name, syntax, text string
	sound              bool
	clause             string // that says so
}

// inside are situations whose envelope is sound, and what stands in the message is
// not: only readers with tables have a say.
var inside = []situation{
	{"a segment that no INVOIC has", "edifact", with(unb+invoic+unz, "UNS+S'", "CPS+1'UNS+S'", "UNT+6", "UNT+7"), false, "INVOIC D.96A, 0085 15"},
	{"a document number of 36 characters", "edifact", with(unb+invoic+unz, "R1+9", strings.Repeat("1", 36)+"+9"), false, "C002 and 1004 an..35, 0085 39"},
	{"no BGM", "edifact", with(unb+invoic+unz, "BGM+380+R1+9'", "", "UNT+6", "UNT+5"), false, "BGM is mandatory, 0085 13"},
	{"no BIG", "x12", with(isa+gs+set+iea, "BIG*20261128*R1~", "", "SE*4", "SE*3"), false, "BIG is mandatory, 720 3"},
	{"letters in TDS01", "x12", with(isa+gs+set+iea, "TDS*100", "TDS*1OO"), false, "610 is N2, 723 6"},
	{"a segment that no 810 has", "x12", with(isa+gs+set+iea, "TDS*100~", "TDS*100~HL*1**S~", "SE*4", "SE*5"), false, "810 of 004010, 720 6"},
	{"no BGN in an 834 of a guide", "x12", guides[1].with("a mandatory segment is missing"), false, "BGN is mandatory, 720 3"},
	{"a code that there is not in an 834 of a guide", "x12", guides[1].with("a code that there is not"), false, "1068, 723 7"},
}

const (
	unb    = "UNB+UNOC:3+9520001000010:14+9520002000019:14+261128:0914+I1'"
	invoic = "UNH+1+INVOIC:D:96A:UN'BGM+380+R1+9'DTM+137:20261128:102'UNS+S'MOA+77:1'UNT+6+1'"
	unz    = "UNZ+1+I1'"
	isa    = "ISA*00*          *00*          *ZZ*NORTHWIND      *ZZ*HARBOUR        *261128*0914*U*00401*000000071*0*P*>~"
	gs     = "GS*IN*NORTHWIND*HARBOUR*20261128*0914*71*X*004010~"
	set    = "ST*810*0001~BIG*20261128*R1~TDS*100~SE*4*0001~"
	iea    = "GE*1*71~IEA*1*000000071~"
)

func with(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

var situations = []situation{
	{"a sound invoice", "edifact", unb + invoic + unz, true, "ISO 9735-1 §7"},
	{"default service characters in UNA", "edifact", "UNA:+.? '" + unb + invoic + unz, true, "ISO 9735-1 §8.1"},
	{"service characters of its own", "edifact", "UNA|^,! ~" + with(unb+invoic+unz, ":", "|", "+", "^", "'", "~"), true, "ISO 9735-1 §8.1"},
	{"line feeds behind segments", "edifact", with(unb+invoic+unz, "'", "'\n"), true, "in use everywhere"},
	{"a released terminator", "edifact", with(unb+invoic+unz, "R1+9", "R?'1+9"), true, "ISO 9735-1 §9"},
	{"a release character released before a terminator", "edifact", with(unb+invoic+unz, "380+R1+9'", "380+R1??'"), true, "ISO 9735-1 §9"},
	{"functional groups", "edifact", unb + "UNG+INVOIC+A+B+261128:0914+G1+UN+D:96A'" + invoic + "UNE+1+G1'" + unz, true, "ISO 9735-1 §7"},
	{"two interchanges", "edifact", unb + invoic + unz + with(unb+invoic+unz, "I1", "I2"), true, "ISO 9735-1 §7"},
	{"syntax version 4, its repetition separator released", "edifact", "UNA:+.?*'" + with(unb+invoic+unz, "UNOC:3", "UNOC:4", "261128", "20261128", "R1+9'", "R?*1+9'"), true, "ISO 9735-1 §8"},
	{"a decimal comma by UNA", "edifact", "UNA:+,? '" + with(unb+invoic+unz, "77:1'", "77:1,5'"), true, "ISO 9735-1 §8.1"},
	{"released separators inside a component", "edifact", with(unb+invoic+unz, "R1+9", "R?+?:1??+9"), true, "ISO 9735-1 §9"},
	{"elements left out at the end", "edifact", with(unb+invoic+unz, "R1+9'", "R1'"), true, "ISO 9735-1 §8.7"},
	{"a letter of Latin-1 in UNOC", "edifact", with(unb+invoic+unz, "R1+9", "R\xfc+9"), true, "0001 UNOC, ISO 8859-1"},
	{"two messages", "edifact", unb + invoic + with(invoic, "UNH+1", "UNH+2", "R1", "R2", "UNT+6+1", "UNT+6+2") + "UNZ+2+I1'", true, "ISO 9735-1 §7"},
	{"UNZ tells a wrong count", "edifact", unb + invoic + "UNZ+2+I1'", false, "0036, 0085 29"},
	{"UNE tells a wrong count", "edifact", unb + "UNG+INVOIC+A+B+261128:0914+G1+UN+D:96A'" + invoic + "UNE+2+G1'" + unz, false, "0060, 0085 29"},
	{"UNE names another group", "edifact", unb + "UNG+INVOIC+A+B+261128:0914+G1+UN+D:96A'" + invoic + "UNE+1+G2'" + unz, false, "0048, 0085 28"},
	{"two messages of one reference", "edifact", unb + invoic + with(invoic, "R1", "R2") + "UNZ+2+I1'", false, "0062, 0085 26"},
	{"no UNT", "edifact", with(unb+invoic+unz, "UNT+6+1'", ""), false, "UNT is mandatory, 0085 13"},
	{"no UNH", "edifact", with(unb+invoic+unz, "UNH+1+INVOIC:D:96A:UN'", ""), false, "UNH is mandatory, 0085 13"},
	{"UNT tells a wrong count", "edifact", with(unb+invoic+unz, "UNT+6", "UNT+7"), false, "0074, 0085 29"},
	{"UNT names another message", "edifact", with(unb+invoic+unz, "UNT+6+1", "UNT+6+2"), false, "0062, 0085 28"},
	{"UNZ names another interchange", "edifact", unb + invoic + "UNZ+1+I2'", false, "0020, 0085 28"},
	{"no UNZ", "edifact", unb + invoic, false, "UNZ is mandatory, 0085 13"},
	{"a sound invoice", "x12", isa + gs + set + iea, true, "X12.5"},
	{"line feeds behind segments", "x12", with(isa+gs+set+iea, "~", "~\n"), true, "in use everywhere"},
	{"a line feed as terminator", "x12", with(isa+gs+set+iea, "~", "\n"), true, "X12.5: any byte that no data holds"},
	{"two groups", "x12", isa + gs + set + "GE*1*71~" + with(gs, "*71*", "*72*") + set + "GE*1*72~IEA*2*000000071~", true, "X12.5"},
	{"a file separator, 0x1C, as terminator", "x12", with(isa+gs+set+iea, "~", "\x1c"), true, "X12.5: any byte that no data holds"},
	{"U stands in ISA11 and in the text", "x12", with(isa+gs+set+iea, "R1~", "RU1U~"), true, "ISA11 is a separator from 00402 on"},
	{"two sets", "x12", isa + gs + set + with(set, "0001", "0002", "R1", "R2") + "GE*2*71~IEA*1*000000071~", true, "X12.5"},
	{"a set with BIN that holds terminators", "x12", isa + with(gs, "*IN*", "*PI*") + "ST*275*0001~BGN*11*1*20261128~BIN*5*a~b~c~SE*4*0001~" + iea, true, "X12.6, BIN01"},
	{"a TA1 before the group", "x12", isa + "TA1*000000005*261127*0914*A*000~" + gs + set + iea, true, "X12.5"},
	{"two sets of one number", "x12", isa + gs + set + with(set, "R1", "R2") + "GE*2*71~IEA*1*000000071~", false, "ST02, 718 23"},
	{"two groups of one number", "x12", isa + gs + set + "GE*1*71~" + gs + set + "GE*1*71~IEA*2*000000071~", false, "GS06, 716 19"},
	{"GE names another group", "x12", with(isa+gs+set+iea, "GE*1*71", "GE*1*72"), false, "GE02, 716 4"},
	{"IEA tells a wrong count", "x12", with(isa+gs+set+iea, "IEA*1", "IEA*2"), false, "IEA01, I18 021"},
	{"no SE", "x12", with(isa+gs+set+iea, "SE*4*0001~", ""), false, "SE is mandatory, 718 2"},
	{"no GE", "x12", with(isa+gs+set+iea, "GE*1*71~", ""), false, "GE is mandatory, 716 3"},
	{"no GS", "x12", isa + set + "IEA*0*000000071~", false, "GS is mandatory, I18 022"},
	{"SE tells a wrong count", "x12", with(isa+gs+set+iea, "SE*4", "SE*5"), false, "SE01, 718 4"},
	{"SE names another set", "x12", with(isa+gs+set+iea, "SE*4*0001", "SE*4*0002"), false, "SE02, 718 3"},
	{"GE tells a wrong count", "x12", with(isa+gs+set+iea, "GE*1", "GE*2"), false, "GE01, 716 5"},
	{"IEA names another interchange", "x12", isa + gs + set + "GE*1*71~IEA*1*000000072~", false, "IEA02, I18 001"},
	{"a TA1 is asked for", "x12", with(isa+gs+set+iea, "*0*P*", "*1*P*"), true, "X12.5, ISA14"},
	{"a TA1 is asked for, and SE tells a wrong count", "x12", with(isa+gs+set+iea, "*0*P*", "*1*P*", "SE*4", "SE*5"), false, "SE01, 718 4"},
	{"three 834 of a guide in 005010", "x12", guides[1].with("nothing wrong"), true, "X12.5"},
	{"one of three 834 has another number in SE", "x12", guides[1].with("SE02 names another set"), false, "SE02, 718 3"},
	{"no IEA", "x12", isa + gs + set + "GE*1*71~", false, "IEA is mandatory, I18 023"},
}
