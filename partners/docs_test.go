package partners_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/partners"
)

const reference = "../docs/reference/partners.md"

// documented gives the default of every key in the tables of the section that
// begins with heading, up to the next kind of document.
func documented(t *testing.T, heading string) map[string]string {
	t.Helper()
	row := regexp.MustCompile("^\\| `([a-z0-9_.\\[\\]]+)` \\| (.*?) \\| ")
	rows := map[string]string{}
	in := false
	for line := range strings.Lines(string(readFile(t, reference))) {
		if strings.HasPrefix(line, "## ") {
			in = strings.HasPrefix(line, "## "+heading)
		}
		if m := row.FindStringSubmatch(line); in && m != nil {
			if _, twice := rows[m[1]]; twice {
				t.Errorf("%s stands twice", m[1])
			}
			rows[m[1]] = m[2]
		}
	}
	return rows
}

// keysOf asks the reader which keys it knows, in YAML that ends where one is due.
func keysOf(t *testing.T, text string) []string {
	t.Helper()
	_, err := reader.Read("", []byte(text+"unknown_to_everybody_here: 1\n"))
	if err == nil {
		t.Fatalf("no fault in %q", text)
	}
	m := regexp.MustCompile(`unknown_to_everybody_here: unknown key; known are (.*)`).FindStringSubmatch(err.Error())
	if m == nil {
		t.Fatalf("%q: %v", text, err)
	}
	return strings.Split(m[1], ", ")
}

func TestReferenceOfPartners(t *testing.T) {
	t.Run("every key the reader knows is documented, and no other", func(t *testing.T) {
		for heading, mappings := range map[string]map[string]string{
			"Organisation": {"": "kind: Organisation\n", "as2.": "kind: Organisation\nas2:\n  "},
			"Partner": {
				"":                     "kind: Partner\n",
				"identifiers[].":       "kind: Partner\nidentifiers:\n  - id: x\n    ",
				"known_document.":      "kind: Partner\nknown_document:\n  ",
				"reading.":             "kind: Partner\nreading:\n  ",
				"documents.":           "kind: Partner\ndocuments:\n  ",
				"documents.roles.":     "kind: Partner\ndocuments:\n  roles:\n    ",
				"retention.":           "kind: Partner\nretention:\n  ",
				"retention.documents.": "kind: Partner\nretention:\n  documents:\n    ",
				"certificates[].":      "kind: Partner\ncertificates:\n  - label: x\n    ",
				"http.":                "kind: Partner\nhttp:\n  ",
				"as2.":                 "kind: Partner\nas2:\n  ",
				"as2.send.":            "kind: Partner\nas2:\n  send:\n    ",
				"http.tokens[].":       "kind: Partner\nhttp:\n  tokens:\n    - label: x\n      ",
				"as4.":                 "kind: Partner\nas4:\n  ",
				"as4.from.":            "kind: Partner\nas4:\n  from:\n    ",
				"as4.to.":              "kind: Partner\nas4:\n  to:\n    ",
				"as4.reply.":           "kind: Partner\nas4:\n  reply:\n    ",
				"as4.services[].":      "kind: Partner\nas4:\n  services:\n    - service: x\n      ",
			},
		} {
			var want []string
			for prefix, text := range mappings {
				for _, key := range keysOf(t, text) {
					want = append(want, prefix+key)
				}
			}
			var got []string
			for key := range documented(t, heading) {
				got = append(got, key)
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: known - documented +\n%s", heading, diff)
			}
		}
	})
	t.Run("every default is the one there is", func(t *testing.T) {
		rows := documented(t, "Partner")
		for key, want := range defaultsByKey(partners.Defaults()) {
			if got := rows[key]; got != want {
				t.Errorf("%s: the reference says %s, the default is %s", key, got, want)
			}
		}
	})
	t.Run("every example can be applied", func(t *testing.T) {
		blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(readFile(t, reference)), -1)
		if len(blocks) < 6 {
			t.Fatalf("%d examples", len(blocks))
		}
		s, _ := newStore(t)
		apply(t, s, north+partner("small-supplier"))
		for _, b := range blocks {
			if _, err := tryApply(t, s, b[1]); err != nil {
				t.Errorf("%v\n%s", err, b[1])
			}
		}
	})
	t.Run("the faults it shows are the faults there are", func(t *testing.T) {
		_, err := reader.Read("acme.yaml", []byte("kind: Partner\nid: acme\norganisation: north\nacceptence: message\n\n\n\nretention:\n  retry_window: 30d\n  dedup_window: 20d\n"))
		text := string(readFile(t, reference))
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("not shown: %s", line)
			}
		}
	})
}

// defaultsByKey gives the defaults as the reference writes them. Keys without
// one, and mappings, are left out.
func defaultsByKey(s partners.PartnerSpec) map[string]string {
	rows := map[string]string{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			key, f := prefix+name, v.Field(i)
			switch {
			case f.Kind() == reflect.Struct:
				walk(key+".", f)
			case f.Kind() == reflect.Slice && f.Len() == 0:
				rows[key] = "none"
			case f.Kind() == reflect.Slice:
				rows[key] = "`[" + strings.Join(f.Interface().([]string), ", ") + "]`"
			case key == "id" || key == "organisation":
				rows[key] = "required"
			case key == "name":
				rows[key] = "the id"
			default:
				rows[key] = fmt.Sprintf("`%v`", f.Interface())
			}
		}
	}
	walk("", reflect.ValueOf(s))
	// It has two places and one default.
	rows["reuse_after"] = rows["retention.reuse_after"]
	return rows
}

func TestReferenceOfAS4Profiles(t *testing.T) {
	text := string(readFile(t, reference))
	none := partners.PartnerSpec{AS4: partners.AS4DefaultsOf(partners.AS4None)}
	for _, p := range partners.AS4Profiles {
		t.Run(p.Name, func(t *testing.T) {
			before, after := defaultsByKey(none), defaultsByKey(partners.PartnerSpec{AS4: partners.AS4DefaultsOf(p.Name)})
			var differs []string
			for key, value := range after {
				if key != "as4.profile" && value != before[key] {
					differs = append(differs, "`"+strings.TrimPrefix(key, "as4.")+": "+strings.Trim(value, "`")+"`")
				}
			}
			slices.Sort(differs)
			row := "| `" + p.Name + "` | " + p.For + " | " + strings.Join(differs, ", ") + " |\n"
			if row = strings.ReplaceAll(row, "|  |", "| |"); !strings.Contains(text, row) {
				t.Errorf("not there: %s", row)
			}
		})
	}
}

func TestReferenceOfPresets(t *testing.T) {
	text := string(readFile(t, reference))
	for _, p := range partners.Presets {
		t.Run(p.Name, func(t *testing.T) {
			standard, own := defaultsByKey(partners.Defaults()), defaultsByKey(partners.DefaultsOf(p.Name))
			var differs []string
			for key, value := range own {
				if key != "preset" && value != standard[key] {
					differs = append(differs, "`"+key+": "+strings.Trim(value, "`")+"`")
				}
			}
			slices.Sort(differs)
			row := "| `" + p.Name + "` | " + p.For + " | " + strings.Join(differs, ", ") + " |\n"
			if row = strings.ReplaceAll(row, "|  |", "| |"); !strings.Contains(text, row) {
				t.Errorf("not there: %s", row)
			}
		})
	}
}
