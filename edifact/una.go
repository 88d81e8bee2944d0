package edifact

import "github.com/edigw/edigw/edi"

// levelA are the service characters where no UNA says otherwise, ISO 9735-1 §7;
// repetition joins them in syntax version 4.
var levelA = edi.Delimiters{Component: ':', Element: '+', Decimal: '.', Release: '?', Terminator: '\''}

// levelB are those of UNOB in syntax versions 1 to 3: IS1, IS3 and IS4.
// QUIRK: hardly anybody sends them under UNOB, so the byte behind "UNB" decides.
var levelB = edi.Delimiters{Component: 0x1F, Element: 0x1D, Decimal: '.', Terminator: 0x1C}

const unaLength = 9

// readUNA reads the service string advice at the start of b, ISO 9735-1 §8, and
// gives its length. The repetition character stands there as sent: it counts
// only from syntax version 4 on.
func readUNA(b []byte) (d edi.Delimiters, n int, fault string) {
	if len(b) < unaLength {
		return d, 0, "UNA has less than six service characters"
	}
	d = edi.Delimiters{Component: b[3], Element: b[4], Decimal: b[5], Release: b[6], Repetition: b[7], Terminator: b[8], Explicit: true}
	n = unaLength
	// QUIRK: some leave out the reserved blank: UNA:+.?'UNB
	if b[7] == '\'' && (b[8] == 'U' || b[8] == '\r' || b[8] == '\n') {
		d.Repetition, d.Terminator = ' ', b[7]
		n--
	}
	if d.Release == ' ' {
		d.Release = 0
	}
	if d.Repetition == ' ' {
		d.Repetition = 0
	}
	service := []byte{d.Component, d.Element, d.Terminator, d.Release}
	for i, c := range service {
		if c == 0 && i == 3 {
			continue
		}
		if edi.Alphanumeric(c) || c == 0 || c >= 0x80 || c == ' ' {
			return d, n, "UNA names a letter, a digit or a blank as a service character"
		}
		for _, other := range service[:i] {
			if c == other {
				return d, n, "UNA names one character for two uses"
			}
		}
	}
	return d, n, ""
}

// settleRepetition decides, once the syntax version is known, whether the
// interchange has a repetition separator. sound is false where UNA names one that
// cannot be told from another service character, a line end or data.
// QUIRK: versions 1 to 3 send * in the reserved place and * as data.
func settleRepetition(d edi.Delimiters, version string) (settled edi.Delimiters, sound bool) {
	if version < "4" {
		d.Repetition = 0
		return d, true
	}
	if !d.Explicit && d.Element == '+' {
		d.Repetition = '*'
	}
	switch r := d.Repetition; {
	case r == 0:
	case r == d.Component, r == d.Element, r == d.Terminator, r == d.Release, r == d.Decimal, r == '\r', r == '\n', edi.Alphanumeric(r), r >= 0x80:
		d.Repetition = 0
		return d, false
	}
	return d, true
}
