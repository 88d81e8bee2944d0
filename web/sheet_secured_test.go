package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/edigw/edigw/partners"
)

// unsaid are settings that the sheet leaves out, and why.
var unsaid = map[string]string{
	"AS4.Unsigned":     "it takes more than was agreed on, of a partner who tries or has a client certificate",
	"AS4.UnsignedBody": "it takes more than was agreed on, of a product that can do no other",
}

// TestSheetSaysAllSettings changes every setting of AS2 and AS4 by itself, and looks
// whether the sheet is another.
func TestSheetSaysAllSettings(t *testing.T) {
	// What a setting is changed to that means nothing but by its words.
	words := map[string]string{"AS4.Unencrypted": partners.AS4Accept, "AS4.SHA1": partners.AS4Accept, "AS4.CBC": partners.AS4Accept, "AS4.Compression": ""}
	fresh := func() *partners.Partner {
		return &partners.Partner{ID: "acme",
			AS2: partners.AS2{Names: []string{"ACME"}, Send: partners.AS2Send{URL: "https://acme.example/as2"}},
			AS4: &partners.AS4{AS4Spec: partners.AS4Spec{Profile: "edelivery-1.15", Unencrypted: partners.AS4Refuse, Compression: "gzip",
				URL: "https://acme.example/as4", Reply: partners.AS4Service{Service: "urn:acme"}}}}
	}
	told := func(p *partners.Partner) string {
		text, err := json.Marshal([]any{overAS2(p, []string{"NORTH"}, ""), overAS4(p, "")})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before, seen := told(fresh()), map[string]bool{}
	var change func(name string, field func(*partners.Partner) reflect.Value)
	change = func(name string, field func(*partners.Partner) reflect.Value) {
		p := fresh()
		v := field(p)
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				at := name + "." + v.Type().Field(i).Name
				if v.Type().Field(i).Anonymous {
					at = name
				}
				change(at, func(p *partners.Partner) reflect.Value { return field(p).Field(i) })
			}
			return
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.String:
			word, ok := words[name]
			if !ok {
				word = "another"
			}
			v.SetString(word)
		case reflect.Slice:
			one := reflect.New(v.Type().Elem()).Elem()
			if one.Kind() == reflect.String {
				one.SetString("another")
			}
			v.Set(reflect.Append(v, one))
		default:
			t.Fatalf("%s is a %s, which is not changed here", name, v.Kind())
		}
		seen[name] = true
		t.Run(fmt.Sprintf("%s stands on it, or not for a reason", name), func(t *testing.T) {
			if other := told(p) != before; other == (unsaid[name] != "") {
				t.Errorf("the sheet is another: %t; left out since %q", other, unsaid[name])
			}
		})
	}
	change("AS2", func(p *partners.Partner) reflect.Value { return reflect.ValueOf(&p.AS2).Elem() })
	change("AS4", func(p *partners.Partner) reflect.Value { return reflect.ValueOf(p.AS4).Elem() })
	for name := range unsaid {
		if !seen[name] {
			t.Errorf("%s is no setting", name)
		}
	}
	t.Run("what old_algorithms says of keys is told in bits", func(t *testing.T) {
		p := fresh()
		if got := overAS2(p, []string{"NORTH"}, "").RSABits; got != 2048 {
			t.Errorf("got %d", got)
		}
		p.AS2.OldAlgorithms = []string{"rsa-1024"}
		if as2, as4 := overAS2(p, []string{"NORTH"}, ""), overAS4(p, ""); as2.RSABits != 1024 || as4.RSABits != 2048 {
			t.Errorf("got %d over AS2, %d over AS4", as2.RSABits, as4.RSABits)
		}
	})
}
