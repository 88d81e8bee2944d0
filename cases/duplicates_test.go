package cases_test

// dated is what a file of case 38 is told beside its receipt: its invoice is of a year
// after its interchange.
const dated = "warning date-implausible, segment 3 DTM"

// duplicates are the situations of duplicates and drift.
var duplicates = []situation{
	{number: 36, words: "the same control reference from two senders",
		does: "both accepted; the key is of the partner",
		tries: []try{{steps: []step{
			{send: "36-same-ref-other-sender-a.edi", want: accepted("00001", "RG-20"), stored: invoice("RG-20", "")},
			{send: "36-same-ref-other-sender-b.edi", by: "second", want: accepted("00001", "RG-21"), stored: both(invoice("RG-20", ""), invoice("RG-21", ""))},
		}}}},

	{number: 38, words: "a number range that wrapped: the same reference a year later",
		does: "a drift (422 `payload-drift`, an operator can release it), unless the partner's `reuse_after` is set and has passed: then it is new",
		tries: []try{
			{name: "reuse_after: off", steps: []step{
				{send: "38-ref-reuse-after-year-a.edi", want: accepted("04711", "RG-25-900", dated), stored: invoice("RG-25-900", "")},
				{send: "38-ref-reuse-after-year-b.edi", aged: 380 * day, want: []string{"422 drift payload-drift", "04711 quarantined"}},
			}, run: showsDrift("different_document")},
			{name: "reuse_after: 365d", settings: "reuse_after: 365d", steps: []step{
				{send: "38-ref-reuse-after-year-a.edi", want: accepted("04711", "RG-25-900", dated), stored: invoice("RG-25-900", "")},
				{send: "38-ref-reuse-after-year-b.edi", aged: 380 * day,
					want:   append([]string{"201 reuse"}, accepted("04711", "RG-26-900")[1:]...),
					stored: both(invoice("RG-25-900", ""), invoice("RG-26-900", ""))},
			}},
			{name: "reuse_after: 365d, within it", settings: "reuse_after: 365d", steps: []step{
				{send: "38-ref-reuse-after-year-a.edi", want: accepted("04711", "RG-25-900", dated), stored: invoice("RG-25-900", "")},
				{send: "38-ref-reuse-after-year-b.edi", aged: 300 * day, want: []string{"422 drift payload-drift", "04711 quarantined"}},
			}}}},

	{number: 40, words: "a sender's id padded with blanks",
		does: "the blanks are no part of the id: the same key, and a drift of class `formatting`, since the bytes are others. With `absorb: [formatting]` it is acknowledged and not processed, for blanks that fill up are not in the content digest",
		tries: []try{
			{name: "as it is", steps: []step{
				{send: "40-padded-ids-a.edi", want: accepted("REF000405", "RG-24"), stored: invoice("RG-24", "")},
				{send: "40-padded-ids-b.edi", want: []string{"422 drift payload-drift", "REF000405 quarantined"}},
			}, run: showsDrift("formatting")},
			{name: "absorb: [formatting]", settings: "absorb: [formatting]", steps: []step{
				{send: "40-padded-ids-a.edi", want: accepted("REF000405", "RG-24"), stored: invoice("RG-24", "")},
				{send: "40-padded-ids-b.edi", want: []string{"201 drift", "REF000405 accepted", "INVOIC RG-24 absorbed", "note 12 padded-identifier, segment 1 UNB", "UCI 7"}},
			}},
			{name: "blank ISA02 and ISA04", steps: []step{{send: "40-padded-ids-c.edi", want: accepted810("000000432", "INV-33"), stored: invoice810("INV-33", "10.00", "100.00")}}}}},

	{number: 42, words: "a resend with a new time in the envelope alone",
		does: "a drift of class `envelope` that shows S004, or ISA10 and GS05, alone as the difference. No CONTRL or TA1 by default; with `drift_acknowledgement: reject` UCI 4 with 26, TA1 R 025; with `absorb: [envelope]` it is acknowledged and not processed",
		tries: []try{
			{name: "as it is", steps: []step{
				{send: "42-resend-new-time-a.edi", want: accepted("REF000407", "RG-26"), stored: invoice("RG-26", "")},
				{send: "42-resend-new-time-b.edi", want: []string{"422 drift payload-drift", "REF000407 quarantined"}},
			}, run: showsOnlyTheTime},
			{name: "drift_acknowledgement: reject", settings: "drift_acknowledgement: reject", steps: []step{
				{send: "42-resend-new-time-a.edi", want: accepted("REF000407", "RG-26"), stored: invoice("RG-26", "")},
				{send: "42-resend-new-time-b.edi", want: []string{"422 drift payload-drift", "REF000407 quarantined", "UCI 4 26"}},
			}},
			{name: "absorb: [envelope]", settings: "absorb: [envelope]", steps: []step{
				{send: "42-resend-new-time-a.edi", want: accepted("REF000407", "RG-26"), stored: invoice("RG-26", "")},
				{send: "42-resend-new-time-b.edi", want: []string{"201 drift", "REF000407 accepted", "INVOIC RG-26 absorbed", "UCI 7"}},
			}},
			{name: "X12, drift_acknowledgement: reject", settings: "drift_acknowledgement: reject", steps: []step{
				{send: "42-resend-new-time-c.edi", want: accepted810("000000433", "INV-34"), stored: invoice810("INV-34", "10.00", "100.00")},
				{send: "42-resend-new-time-d.edi", want: []string{"422 drift payload-drift", "000000433 quarantined", "TA1*000000433*261129*1345*R*025"}},
			}, run: showsDrift("envelope")},
			{name: "X12, absorb: [envelope]", settings: "absorb: [envelope]", steps: []step{
				{send: "42-resend-new-time-c.edi", want: accepted810("000000433", "INV-34"), stored: invoice810("INV-34", "10.00", "100.00")},
				{send: "42-resend-new-time-d.edi", want: []string{"201 drift", "000000433 accepted", "810 INV-34 absorbed", "AK1*IN*433", "AK2*810*0001", "AK5*A", "AK9*A*1*1*1"}},
			}}}},

	{number: 44, words: "20 copies at once while the first is in work",
		does: "one is processed. Copies without an Idempotency-Key wait for it and get its answer, 200; past the wait, and at once under the same Idempotency-Key, they get 409 with Retry-After; over AS2, where the others get the same MDN, 503. If the first is rolled back it is told 503, and one of those that wait takes over. Copies over two processes are sent by `TestCopies` in crash/",
		tries: []try{
			{name: "all within the wait", run: copiesWait, files: []string{"44-concurrent-duplicate.http"}},
			{name: "past the wait", run: copiesAreBusy},
			{name: "the first is rolled back", run: oneCopyTakesOver},
			{name: "AS2, all within the wait", settings: unsignedAS2, run: copiesWaitOverAS2},
			{name: "AS2, past the wait", settings: unsignedAS2, run: copiesAreBusyOverAS2}}},

	{number: 46, words: "the first try failed, the same id again",
		does: "rolled back: 503, no key stays, the resend is First and accepted. A refusal that was committed: the resend gets the same 422, until settings or rules have changed; then it is judged again",
		tries: []try{
			{name: "rolled back", run: rolledBackGoesThrough},
			{name: "refused", settings: "types: [DESADV]", steps: []step{
				{send: "46-failed-then-resent.edi", want: []string{"422 first unsupported", "REF000412 rejected", "INVOIC refused",
					"error 14 unsupported-message-type, segment 1 UNH", "UCI 4", "UCM 1 INVOIC 4 14 UNH"}, stored: nothing},
				{send: "46-failed-then-resent.edi", settings: "types: [DESADV, INVOIC]",
					want: append([]string{"201 re-evaluation"}, accepted("REF000412", "RG-32")[1:]...), stored: invoice("RG-32", "")},
			}}}},
}
