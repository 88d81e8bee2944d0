package documents

// Reasons that several differences have.
const (
	anyUnit    = "the units were written anew in one of the files: each, and a piece or a unit"
	processes  = "the INVOIC names a process by its code, the UBL in other words or not at all"
	country    = "the country before the identifier is in the UBL alone"
	secondLine = "the UBL has a second line, taxed at 10 %"
)

const note = "BT-22 note = Alle leveringen zijn franco. Alle prijzen zijn incl. BTW. Betalingstermijn: 14 dagen netto. Prijswijzigingen voorbehouden. " +
	"Op al onze aanbiedingen, leveringen en overeenkomsten zijn van toepassing in de algemene verkoop en leveringsvoorwaarden. Gedeponeerd bij de K.v.K. te Amsterdam 25-04-'85"

// differences are all that the two files of an example do not both say.
var differences = []difference{
	{1, "line * BT-130 unit = EA", "line * BT-130 unit = H87", anyUnit},
	{1, "", "BT-23 process = P1", processes},
	{1, "BG-17 account = NL03 INGB 0004489902; ", "", "the INVOIC says the first account twice, and not the second"},
	{1, note + "##Delivery terms", note + ".", "the UBL says behind the note what its subject is"},
	{1, "line 2 BT-153 name = PKAAS 50PL. JONG BEL. 1KG", "line 2 BT-153 name = KAAS 50PL. JONG BEL. 1KG", "one of them is a slip"},
	{1, "line 13 BT-153 name = PK CHOCOLADEMEL", "line 13 BT-153 name = PK CHOCOLADEMELK", "one of them is a slip"},
	{2, "line * BT-130 unit = EA", "line * BT-130 unit = NAR", anyUnit},
	{2, "BT-23 process = Invoicing on purchase order", "BT-23 process = P3", processes},
	{2, "", "BT-7 tax point = 2013-06-30", "the UBL has a code for it (BT-8), which excludes a date (BR-CO-03)"},
	{2, "BG-4 seller VAT id = NO123456789MVA", "BG-4 seller VAT id = 123456789MVA", country},
	{2, "BG-7 buyer VAT id = NO987654321MVA", "BG-7 buyer VAT id = 987654321MVA", country},
	{2, "BG-11 tax representative VAT id = NO967611265MVA", "BG-11 tax representative VAT id = 967611265MVA", country},
	{2, "BG-20 allowance = 100; ; ; Promotion discount; 88; S; 25", "BG-20 allowance = 100; ; ; Promotion discount; 95; S; 25", "another code for one reason"},
	{2, "BG-24 supporting document = Doc2; EHF specification; ", "", "the UBL has a second document"},
	{2, "line 1 BT-129 quantity = 2", "line 1 BT-129 quantity = 1", "the amount fits 1"},
	{2, "line 3 BT-147 discount of the price = 0.27", "line 3 BT-147 discount of the price = 0.275", "the UBL rounds"},
	{2, "line 3 BT-148 gross price = 2.7", "line 3 BT-148 gross price = 2.75", "the UBL rounds"},
	{2, "line 3 BT-157 standard item = 1234567890135", "line 3 BT-157 standard item = 1234567890142", "the UBL repeats the number of line 2"},
	{2, "line 3 BT-158 class = STI; 65434567", "line 3 BT-158 class = STI; 65434566", "the UBL repeats the class of line 2"},
	{2, "line 5 BT-158 class = ZZZ; 12344325", "line 5 BT-158 class = ZZZ; 65434564", "the lists of the two classes are exchanged"},
	{2, "line 5 BT-158 class = STI; 65434564", "line 5 BT-158 class = STI; 12344325", "the lists of the two classes are exchanged"},
	{2, "", "line 5 BT-132 order line = 4", "the UBL has an empty element"},
	{2, "line * BT-150 unit of the basis = EA", "", "the INVOIC says the basis without a unit"},
	{2, "line 5 BT-150 unit of the basis = MTR", "", "the INVOIC says the basis without a unit"},
	{3, "line * BT-130 unit = EA", "line * BT-130 unit = C62", anyUnit},
	{3, "", "BT-23 process = P1", processes},
	{3, "BG-4 seller id = 1238764941386", "", "the INVOIC has no identifier of the seller"},
	{3, "BG-4 seller id scheme = 0088", "", "the INVOIC has no identifier of the seller"},
	{3, "BG-7 buyer VAT id = NO987654321MVA", "", "the INVOIC has no tax identifier of the buyer"},
	{3, "BG-7 buyer legal id = 987654321", "", "the INVOIC has no registration of the buyer"},
	{3, "BG-21 charge = 100; ; ; Freight charge; ; S; 25", "BG-21 charge = 100; ; ; Freight charge; FC; S; 25", "the UBL has no code for the charge"},
	{3, "line 1 BT-129 quantity = 2", "line 1 BT-129 quantity = 1", "the amount fits 1"},
	{3, "line 2 BT-126 number = 2", "", secondLine},
	{3, "line 2 BT-129 quantity = 2", "", secondLine},
	{3, "line 2 BT-131 amount = 800", "", secondLine},
	{3, "line 2 BT-146 price = 800", "", secondLine},
	{3, "line 2 BT-151 tax category = S", "", secondLine},
	{3, "line 2 BT-152 tax rate = 10", "", secondLine},
	{3, "line 2 BT-153 name = Paper subscription", "", secondLine},
	{3, "line 2 BT-154 description = Subscription fee 1st quarter", "", secondLine},
	{3, "BG-23 tax = S; 10; 800; 80; ", "", secondLine},
	{3, "BT-106 lines = 1600", "BT-106 lines = 800", secondLine},
	{3, "BT-109 without tax = 1700", "BT-109 without tax = 900", secondLine},
	{3, "BT-110 tax = 305", "BT-110 tax = 225", secondLine},
	{3, "BT-112 with tax = 2005", "BT-112 with tax = 1125", secondLine},
	{3, "BT-115 payable = 2005", "BT-115 payable = 1125", secondLine},
	{4, "line * BT-130 unit = EA", "line * BT-130 unit = C62", anyUnit},
	{4, "", "BT-23 process = P1", processes},
	{4, "BG-4 seller mail = antonio@SubscriptionsSeller.dk", "BG-4 seller mail = Anthon@SellerCompany.dk", "the UBL has the address of example 3's seller"},
	{5, "line * BT-130 unit = EA", "line * BT-130 unit = C62", anyUnit},
	{5, "BT-23 process = 1", "BT-23 process = P1", processes},
	{5, "", "BT-7 tax point = 2013-04-10", "the UBL has no tax point"},
	{5, "BT-22 note = Ordered through our website#Ordering information", "BT-22 note = Ordered through our website", "the UBL says behind the note what its subject is"},
	{5, "", "BT-22 note = Half prepaid", "the UBL has no text of the payment means"},
	{5, "", "BG-13 delivery id scheme = 0088", "the UBL has no scheme for the place of delivery"},
	{5, "BT-81 means = 49", "BT-81 means = 58", "direct debit, and SEPA credit transfer: the mandate that both have fits the first"},
	{5, "BG-20 allowance = 150; 1500; 10; Loyal customer; 100; S; 25", "BG-20 allowance = 150; 1500; 10; Loyal customer; 95; S; 25", "another code for one reason"},
	{5, "line 1 BG-27 allowance = 100; 1000; 10; Loyal customer; 100; ; ", "line 1 BG-27 allowance = 100; 1000; 10; Loyal customer; 95; ; ", "another code for one reason"},
	{5, "line 1 BT-147 discount of the price = 0.1", "line 1 BT-147 discount of the price = 10", "the INVOIC has the percentage in the place of the amount"},
	{5, "line 1 BT-150 unit of the basis = EA", "line 1 BT-150 unit of the basis = C62", anyUnit},
	{5, "line 2 BT-127 note = second line", "line 2 BT-127 note = Second line", "one of them is a slip"},
	{6, "line * BT-130 unit = EA", "line * BT-130 unit = C62", anyUnit},
	{6, "", "BT-23 process = P1", processes},
	{6, "BG-4 seller VAT id = DK123456789MVA", "BG-4 seller VAT id = 123456789MVA", country},
}
