package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/edigw/edigw/bench/peers"
)

// openAS2 is the whole server of that name, which sends what is put into a folder and
// judges the MDNs itself, and receives into another one.
type openAS2 struct {
	process *peers.Process
	dir     string
	openAS2Ports
}

// openAS2Ports are where it listens.
type openAS2Ports struct {
	mdns     int // for asynchronous MDNs
	messages int
}

func freeOpenAS2Ports() (p openAS2Ports, err error) {
	if p.mdns, err = freePort(); err == nil {
		p.messages, err = freePort()
	}
	return p, err
}

// openAS2Received is where it receives to, and server what we then know of it.
func (r *run) openAS2Receives(p openAS2Ports) *server {
	return &server{address: fmt.Sprintf("http://127.0.0.1:%d/", p.messages), folder: filepath.Join(r.work, "openas2", "in"), bare: true}
}

// variant is a partnership of OpenAS2's, in its words. The AS2 name of its sender is
// OA with its place in the list.
type variant struct {
	name             string
	sign, encrypt    string // "" not
	compressed, last bool
	async            bool
	transfer         string // Content-Transfer-Encoding
	nameless         bool   // the name of the file goes with it nowhere
	ownMIC           bool   // its MIC is over other bytes than the specifications say, so that it takes no MDN
	url              string // "" is the receiver's
}

// variants are what OpenAS2 sends.
func variants() []variant {
	return []variant{
		// It puts no Content-Disposition into the HTTP header.
		{name: "plain", nameless: true},
		{name: "signed SHA256", sign: "SHA256"},
		{name: "signed SHA1, encrypted 3DES", sign: "SHA1", encrypt: "3DES"},
		{name: "signed SHA256, encrypted AES128", sign: "SHA256", encrypt: "AES128"},
		{name: "signed SHA384, encrypted AES192", sign: "SHA384", encrypt: "AES192"},
		{name: "signed SHA512, encrypted AES256", sign: "SHA512", encrypt: "AES256"},
		{name: "compressed, signed SHA256, encrypted AES128", compressed: true, sign: "SHA256", encrypt: "AES128"},
		{name: "signed SHA256, compressed last, encrypted AES128", compressed: true, last: true, sign: "SHA256", encrypt: "AES128"},
		{name: "encrypted AES128", encrypt: "AES128"},
		{name: "compressed, encrypted AES256", compressed: true, encrypt: "AES256"},
		{name: "signed SHA256, encrypted AES128, in base64", sign: "SHA256", encrypt: "AES128", transfer: "base64"},
		{name: "signed SHA256, async MDN", sign: "SHA256", async: true},
		{name: "compressed, signed SHA256, encrypted AES256, async MDN", compressed: true, sign: "SHA256", encrypt: "AES256", async: true},
		// It leaves the header fields out, which RFC 5402 §4.2 has in.
		{name: "compressed, whose MDN it does not take", compressed: true, ownMIC: true},
	}
}

// alias is the AS2 name of a variant's sender.
func alias(i int) string { return fmt.Sprint("OA", i) }

// startOpenAS2 starts it with partnerships that send to url, or to the variant's own, and
// that receive under the names of received.
func (r *run) startOpenAS2(ctx context.Context, url string, list []variant, received []string, ports openAS2Ports) (*openAS2, error) {
	o := &openAS2{dir: filepath.Join(r.work, "openas2"), openAS2Ports: ports}
	for _, folder := range []string{o.dir, filepath.Join(o.dir, "out")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
	}
	store := filepath.Join(o.dir, "keys.p12")
	own, other := filepath.Join(r.keys, sender), filepath.Join(r.keys, receiver)
	_, err := openssl(ctx, "pkcs12", "-export", "-inkey", own+".key.pem", "-in", own+".cert.pem", "-name", sender, "-passout", "pass:peer12", "-out", store,
		"-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1") // its Bouncy Castle reads no newer ones
	if err != nil {
		return nil, err
	}
	keytool := exec.CommandContext(ctx, "keytool", "-J-Dkeystore.pkcs12.legacy", "-importcert", "-noprompt", "-alias", receiver, "-file", other+".cert.pem", "-keystore", store, "-storepass", "peer12")
	if out, err := keytool.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("keytool: %w: %s", err, out)
	}
	config := strings.NewReplacer("DIR", o.dir, "PORT_OF_MDNS", fmt.Sprint(o.mdns), "PORT_OF_MESSAGES", fmt.Sprint(o.messages)).Replace(openAS2Config)
	if err := os.WriteFile(filepath.Join(o.dir, "config.xml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(o.dir, "partnerships.xml"), []byte(o.partnerships(url, list, received)), 0o600); err != nil {
		return nil, err
	}
	if o.process, err = peers.Start(ctx, "OpenAS2", java(r.dir, "openas2", "Run", filepath.Join(o.dir, "config.xml"))...); err != nil {
		return nil, err
	}
	_, err = o.process.Line()
	return o, err
}

// openAS2Config has the defaults of OpenAS2's own, but for shorter waits: a resend
// has a new Message-ID.
const openAS2Config = `<?xml version="1.0" encoding="UTF-8"?>
<openas2>
  <properties storageBaseDir="DIR" log_date_format="yyyy-MM-dd HH:mm:ss.SSS"
    as2_message_id_format="OPENAS2-$date.ddMMyyyyHHmmssZ$-$rand.UUID$@$msg.sender.as2_id$_$msg.receiver.as2_id$"/>
  <certificates classname="org.openas2.cert.PKCS12CertificateFactory" filename="DIR/keys.p12" password="peer12" interval="300"/>
  <partnerships classname="org.openas2.partner.XMLPartnershipFactory" filename="DIR/partnerships.xml" interval="120"/>
  <loggers><logger classname="org.openas2.logging.ConsoleLogger"/></loggers>
  <processor classname="org.openas2.processor.DefaultProcessor" pendingMDN="DIR/pending" pendingMDNinfo="DIR/pendinginfo">
    <module classname="org.openas2.processor.sender.AS2SenderModule" retries="5"/>
    <module classname="org.openas2.processor.receiver.AS2DirectoryPollingModule" outboxdir="DIR/out" errordir="DIR/error" sentdir="DIR/sent"
      stored_sent_filename="$msg.attributes.filename$" interval="1" delimiters="-" mergeextratokens="true" sendfilename="true"
      format="sender.as2_id, receiver.as2_id, attributes.filename" mimetype="application/EDIFACT"/>
    <module classname="org.openas2.processor.storage.MDNFileModule" filename="DIR/mdn/$mdn.msg.headers.message-id$" protocol="as2" tempdir="DIR/temp"/>
    <module classname="org.openas2.processor.receiver.AS2MDNReceiverModule" address="127.0.0.1" port="PORT_OF_MDNS"/>
    <module classname="org.openas2.processor.receiver.AS2ReceiverModule" address="127.0.0.1" port="PORT_OF_MESSAGES" errordir="DIR/unread"/>
    <module classname="org.openas2.processor.storage.MessageFileModule" filename="DIR/in/$msg.content-disposition.filename$" protocol="as2" tempdir="DIR/temp"/>
    <module classname="org.openas2.processor.sender.MDNSenderModule" retries="5"/>
    <module classname="org.openas2.processor.resender.DirectoryResenderModule" resenddir="DIR/resend" errordir="DIR/resend/error" resenddelay="2"/>
  </processor>
</openas2>
`

func (o *openAS2) partnerships(url string, list []variant, received []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<partnerships>\n<partner name=%q as2_id=%q x509_alias=%q email=\"edi@nordhafen.example\"/>\n", receiver, plainName, receiver)
	for i, v := range list {
		fmt.Fprintf(&b, "<partner name=%[1]q as2_id=%[1]q x509_alias=%[2]q email=\"edi@brennholm.example\"/>\n", alias(i), sender)
		fmt.Fprintf(&b, "<partnership name=\"%[1]s-%[2]s\"><sender name=%[1]q/><receiver name=%[2]q/>\n", alias(i), receiver)
		set := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, "<attribute name=%q value=%q/>\n", name, value)
			}
		}
		to, micalg, transfer := v.url, "SHA256", v.transfer
		if to == "" {
			to = url
		}
		if v.sign != "" {
			micalg = v.sign
		}
		if transfer == "" {
			transfer = "binary"
		}
		set("protocol", "as2")
		set("content_transfer_encoding", transfer)
		set("subject", v.name)
		set("as2_url", to)
		set("as2_mdn_to", "edi@brennholm.example")
		set("as2_mdn_options", "signed-receipt-protocol=optional, pkcs7-signature; signed-receipt-micalg=optional, "+micalg)
		set("sign", v.sign)
		set("encrypt", v.encrypt)
		if v.compressed {
			set("compression_type", "ZLIB")
		}
		if v.last {
			set("compression_mode", "compress-after-signing")
		}
		if v.async {
			set("as2_receipt_option", fmt.Sprint("http://127.0.0.1:", o.mdns))
		}
		b.WriteString("</partnership>\n<partnership name=\"" + receiver + "-" + alias(i) + "\"><sender name=\"" + receiver + "\"/><receiver name=\"" + alias(i) + "\"/></partnership>\n")
	}
	for _, name := range received {
		fmt.Fprintf(&b, "<partner name=%[1]q as2_id=%[1]q x509_alias=%[2]q email=\"edi@brennholm.example\"/>\n", name, sender)
		fmt.Fprintf(&b, "<partnership name=\"%[1]s-%[2]s\"><sender name=%[1]q/><receiver name=%[2]q/></partnership>\n", receiver, name)
	}
	return b.String() + "</partnerships>\n"
}

// send puts a file into the folder that is sent from.
func (o *openAS2) send(i int, file string, content []byte) error {
	whole := filepath.Join(o.dir, "part")
	if err := os.WriteFile(whole, content, 0o600); err != nil {
		return err
	}
	return os.Rename(whole, filepath.Join(o.dir, "out", alias(i)+"-"+plainName+"-"+file))
}

// accepted waits until OpenAS2 has taken an MDN for the file, or has given up.
func (o *openAS2) accepted(ctx context.Context, file string) error {
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for folder, outcome := range map[string]error{"sent": nil, "error": errors.New("OpenAS2 has given up"), "resend/error": errors.New("OpenAS2 has given up")} {
			found, err := filepath.Glob(filepath.Join(o.dir, folder, "*"+file+"*"))
			if err != nil {
				return err
			}
			if len(found) > 0 && outcome != nil {
				return fmt.Errorf("%w: %s", outcome, o.process.Said())
			}
			if len(found) > 0 {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.New("no MDN was taken after 90 s: " + o.process.Said())
}

// freePort is one that nobody listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
