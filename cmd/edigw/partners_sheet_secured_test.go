package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/web"
)

// TestSheetWritesAllThatIsTold changes everything that the API says of AS2 and AS4 by
// itself, and looks whether the page for the partner is another.
func TestSheetWritesAllThatIsTold(t *testing.T) {
	words := map[string]string{"AS2.MIC": "requested", "AS2.CompressedMIC": partners.AS2MICOfBody, "AS2.MDNDigest": "sha512", "AS2.Sends.Encryption": "none", "AS2.Sends.Signature": "none", "AS2.Sends.MDN": "none",
		"AS4.Errors": partners.AS4AsFault, "AS4.Token": "ski"}
	fresh := func() *sheetTold {
		return &sheetTold{
			AS2: &web.SheetAS2{Signature: "required", Encryption: "optional", MIC: "signature", CompressedMIC: partners.AS2MICOfEntity, MDNDigest: partners.AS2Requested, RSABits: 2048,
				Sends: &web.SheetAS2Send{Signature: "sha256", Encryption: "aes128-cbc", KeyEncryption: "rsa-oaep", MDN: "signed"}},
			AS4: &web.SheetAS4{Agreement: "urn:agreed", Errors: partners.AS4AsSignal, Token: "bst", Sends: &web.SheetAS4Send{}}}
	}
	before := fresh().markdown()
	var change func(name string, field func(*sheetTold) reflect.Value)
	change = func(name string, field func(*sheetTold) reflect.Value) {
		s := fresh()
		v := field(s)
		switch v.Kind() {
		case reflect.Pointer:
			change(name, func(s *sheetTold) reflect.Value { return field(s).Elem() })
			return
		case reflect.Struct:
			for i := range v.NumField() {
				change(name+"."+v.Type().Field(i).Name, func(s *sheetTold) reflect.Value { return field(s).Field(i) })
			}
			return
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int:
			v.SetInt(v.Int() + 1024)
		case reflect.String:
			word, ok := words[name]
			if !ok {
				word = "another"
			}
			v.SetString(word)
		case reflect.Slice:
			one := reflect.New(v.Type().Elem()).Elem()
			if one.Kind() == reflect.String {
				one.SetString("md5") // an old algorithm, and as good a name as any
			}
			v.Set(reflect.Append(v, one))
		default:
			t.Fatalf("%s is a %s, which is not changed here", name, v.Kind())
		}
		t.Run(name+" is on the page", func(t *testing.T) {
			if s.markdown() == before {
				t.Error("the page is the same, whatever it is")
			}
		})
	}
	change("AS2", func(s *sheetTold) reflect.Value { return reflect.ValueOf(s).Elem().FieldByName("AS2") })
	change("AS4", func(s *sheetTold) reflect.Value { return reflect.ValueOf(s).Elem().FieldByName("AS4") })
	t.Run("what makes a message fail is said in words", func(t *testing.T) {
		s := fresh()
		s.AS2.RSABits, s.AS2.CompressedMIC, s.AS2.Encryption, s.AS2.PSS = 1024, partners.AS2MICOfCompressed, "authenticated", true
		page := s.markdown()
		for _, want := range []string{"with a key of 1024 bits or more", "not signed over the compressed part", "| Encryption | required, ", "in GCM, and not CBC", "by RSASSA-PSS where the key is RSA"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q is not in\n%s", want, page)
			}
		}
	})
}
