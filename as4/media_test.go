package as4

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/entity"
)

func TestMediaType(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       entity.Value
	}{
		{"as the profile writes it", `multipart/related; type="application/soap+xml"; boundary="=_as4-part-1"; start="<root@ap.example>"`,
			entity.Value{Word: "multipart/related", Parameters: map[string]string{"type": "application/soap+xml", "boundary": "=_as4-part-1", "start": "<root@ap.example>"}}},
		{"names in any case, a boundary with a blank", `Multipart/Related; BOUNDARY="=_a:b c/d"; TYPE="application/soap+xml"`,
			entity.Value{Word: "multipart/related", Parameters: map[string]string{"type": "application/soap+xml", "boundary": "=_a:b c/d"}}},
		{"values that should be quoted", "multipart/related; type=application/soap+xml; boundary==-6sJm/yirL==; start=<a@b>;",
			entity.Value{Word: "multipart/related", Parameters: map[string]string{"type": "application/soap+xml", "boundary": "=-6sJm/yirL==", "start": "<a@b>"}}},
		{"folded, with blanks around the sign", "multipart/related;\r\n\tboundary = \"x;y\" ;\r\n type=\"a/b\"",
			entity.Value{Word: "multipart/related", Parameters: map[string]string{"type": "a/b", "boundary": "x;y"}}},
		{"escaped quotes", `a/b; name="say \"x\\y\""`, entity.Value{Word: "a/b", Parameters: map[string]string{"name": `say "x\y"`}}},
		{"a parameter without a value, and one twice with the same", `a/b; odd; charset=UTF-8; charset="UTF-8"`,
			entity.Value{Word: "a/b", Parameters: map[string]string{"charset": "UTF-8"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mediaType(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, text := range map[string]string{
		"nothing":                     "",
		"no subtype":                  "multipart",
		"two values of one parameter": `a/b; boundary=x; boundary=y`,
		"a quote that stays open":     `a/b; boundary="x`,
		"text behind a quote":         `a/b; boundary="x"y`,
		"two types":                   `a/b, c/d`,
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			if m, err := mediaType(text); err == nil {
				t.Errorf("taken as %v", m)
			}
		})
	}
}
