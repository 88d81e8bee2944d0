package wssec

import "github.com/edigw/edigw/as4/infoset"

// Namespaces that are read and written here.
const (
	SOAP11 = "http://schemas.xmlsoap.org/soap/envelope/"
	SOAP12 = "http://www.w3.org/2003/05/soap-envelope"
	EBMS3  = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"

	WSSE   = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
	WSSE11 = "http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd"
	WSU    = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"

	DSIG     = "http://www.w3.org/2000/09/xmldsig#"
	DSIG11   = "http://www.w3.org/2009/xmldsig11#"
	DSIGMore = "http://www.w3.org/2021/04/xmldsig-more#"
	XENC     = "http://www.w3.org/2001/04/xmlenc#"
	XENC11   = "http://www.w3.org/2009/xmlenc11#"
	EXCC14N  = "http://www.w3.org/2001/10/xml-exc-c14n#"
)

func wsse(local string) infoset.Name   { return infoset.Name{Space: WSSE, Local: local} }
func ds(local string) infoset.Name     { return infoset.Name{Space: DSIG, Local: local} }
func xenc(local string) infoset.Name   { return infoset.Name{Space: XENC, Local: local} }
func xenc11(local string) infoset.Name { return infoset.Name{Space: XENC11, Local: local} }

// plain is an attribute without a namespace.
func plain(local string) infoset.Name { return infoset.Name{Local: local} }

var messaging = infoset.Name{Space: EBMS3, Local: "Messaging"}
