package edi

// knownTags interns the tags that occur, so that Tag allocates for others only.
var knownTags = func() map[string]string {
	m := make(map[string]string)
	for _, t := range [...]string{
		// EDIFACT service segments, ISO 9735 and CONTRL
		"UNA", "UNB", "UNZ", "UNG", "UNE", "UNH", "UNT", "UNS", "UNO", "UNP", "UGH", "UGT",
		"USA", "USC", "USH", "USR", "UST", "USX", "USY", "UIB", "UIH", "UIT", "UIZ",
		"UCI", "UCF", "UCM", "UCS", "UCD", "UCO",
		// EDIFACT user segments
		"AGR", "AJT", "ALC", "ALI", "APR", "ASI", "BGM", "CAV", "CCI", "CDI", "CED", "CNI", "CNT",
		"COM", "CPS", "CTA", "CUX", "DGS", "DLM", "DMS", "DOC", "DTM", "EQA", "EQD", "EQN", "ERC",
		"ERP", "FII", "FTX", "GDS", "GEI", "GID", "GIN", "GIR", "GIS", "HAN", "HYN", "IDE", "IMD",
		"INP", "LIN", "LOC", "MEA", "MOA", "MTD", "NAD", "PAC", "PAI", "PAT", "PCD", "PCI", "PGI",
		"PIA", "PIT", "PNA", "PRI", "PYT", "QTY", "QVR", "RCS", "RFF", "RNG", "RTE", "SCC", "SEL",
		"SEQ", "SGP", "SPS", "STG", "STS", "TAX", "TDT", "TEM", "TMD", "TMP", "TOD", "TSR", "UNS",
		// X12 control and acknowledgement segments
		"ISA", "IEA", "GS", "GE", "ST", "SE", "TA1", "ISB", "ISE", "AK1", "AK2", "AK3", "AK4",
		"AK5", "AK9", "IK3", "IK4", "IK5", "CTX",
		// X12 user segments
		"AMT", "ASN", "BAK", "BEG", "BIG", "BIN", "BSN", "CLD", "CN1", "CTB", "CTP", "CTT", "CUR",
		"DTP", "FOB", "G62", "HL", "INC", "IT1", "IT3", "IT8", "ITA", "ITD", "LQ", "LX", "MAN",
		"MSG", "N1", "N2", "N3", "N4", "N9", "NM1", "NTE", "PAL", "PAM", "PER", "PID", "PKG",
		"PO1", "PO3", "PO4", "PRF", "REF", "SAC", "SDQ", "SLN", "SN1", "TD1", "TD3", "TD4", "TD5",
		"TDS", "TXI", "V1",
	} {
		m[t] = t
	}
	return m
}()
