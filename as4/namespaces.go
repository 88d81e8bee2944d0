package as4

import "github.com/edigw/edigw/as4/infoset"

// Namespaces of a message.
const (
	nsSOAP   = "http://www.w3.org/2003/05/soap-envelope"                        // SOAP 1.2 part 1 §5
	nsSOAP11 = "http://schemas.xmlsoap.org/soap/envelope/"                      // refused by its own fault
	nsEBMS   = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/" // ebMS 3.0 core §1.3
	nsEBBP   = "http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0"           // AS4 profile §5.1.8
	nsDSIG   = "http://www.w3.org/2000/09/xmldsig#"
	nsWSSE   = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
	nsWSU    = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
)

// Values that the core specification and the profile give.
const (
	DefaultMPC    = nsEBMS + "defaultMPC"                                    // core §3.4.1
	InitiatorRole = nsEBMS + "initiator"                                     // core §5.2.2.5
	ResponderRole = nsEBMS + "responder"                                     //
	TestService   = nsEBMS + "service"                                       // core §5.2.2.8
	TestAction    = nsEBMS + "test"                                          //
	DefaultAction = "http://docs.oasis-open.org/ebxml-msg/as4/200902/action" // AS4 profile §5.2.1
)

func soap(local string) infoset.Name { return infoset.Name{Space: nsSOAP, Local: local} }
func eb(local string) infoset.Name   { return infoset.Name{Space: nsEBMS, Local: local} }
func attribute(local string) infoset.Name {
	return infoset.Name{Local: local}
}
