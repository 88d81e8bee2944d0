package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/edigw/edigw/accounts"
)

// begunImport gives the id of an import that has no row yet.
func begunImport(t *testing.T, r *rig, file string) string {
	t.Helper()
	a := r.ask(r.tokens[accounts.Admin], "POST", "/imports", newImport(file), "Content-Type", "application/json")
	var im struct {
		ID string `json:"import_id"`
	}
	if err := json.Unmarshal([]byte(a.body), &im); err != nil || a.status != http.StatusCreated {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return im.ID
}

func newImport(file string) string {
	return fmt.Sprintf(`{"name":"%s.csv","file_sha256":"%x"}`, file, sha(file))
}

const importRow = `{"partner":"acme","kind":"transport","transport":"as2","to":"NORTH","id":"m-%d"}`

func TestImportRows(t *testing.T) {
	r := newRig(t)
	post := func(t *testing.T, path, body string, status int) (done int64, answer string) {
		t.Helper()
		a := r.ask(r.tokens[accounts.Admin], "POST", path, body, "Content-Type", "application/json")
		if a.status != status {
			t.Fatalf("%d, want %d: %s", a.status, status, a.body)
		}
		var im struct {
			Rows int64 `json:"rows_done"`
		}
		if err := json.Unmarshal([]byte(a.body), &im); err != nil {
			t.Fatal(err)
		}
		return im.Rows, a.body
	}
	rows := func(first int, last bool, ids ...int) string {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = fmt.Sprintf(importRow, id)
		}
		return fmt.Sprintf(`{"first_row":%d,"rows":[%s],"last":%v}`, first, strings.Join(list, ","), last)
	}
	id := begunImport(t, r, "a")
	path := "/imports/" + id + "/rows"
	t.Run("rows that were taken are not taken again: their answer may have been lost", func(t *testing.T) {
		if done, body := post(t, path, rows(1, false, 1, 2), 200); done != 2 || !strings.Contains(body, `"added": 2`) {
			t.Errorf("%s", body)
		}
		if done, body := post(t, path, rows(1, false, 1, 2), 409); done != 2 || !strings.Contains(body, "row 3 is the next one") {
			t.Errorf("%s", body)
		}
		if done, _ := post(t, path, rows(4, false, 4), 409); done != 2 {
			t.Errorf("%d rows are done", done)
		}
	})
	t.Run("the same file goes on where it stopped, under any name", func(t *testing.T) {
		if done, body := post(t, "/imports", strings.Replace(newImport("a"), "a.csv", "b.csv", 1), 200); done != 2 || !strings.Contains(body, id) {
			t.Errorf("%s", body)
		}
	})
	t.Run("nothing follows the last row", func(t *testing.T) {
		if done, body := post(t, path, rows(3, true, 3), 200); done != 3 || !strings.Contains(body, `"finished_at"`) {
			t.Errorf("%s", body)
		}
		if done, body := post(t, path, rows(4, false, 4), 409); done != 3 || !strings.Contains(body, "finished with 3 rows") {
			t.Errorf("%s", body)
		}
	})
	t.Run("again reads it from its start, and what it added is known", func(t *testing.T) {
		if done, body := post(t, "/imports", strings.Replace(newImport("a"), "{", `{"again":true,`, 1), 201); done != 0 || !strings.Contains(body, id) {
			t.Errorf("%s", body)
		}
		if _, body := post(t, path, rows(1, true, 1, 2, 3, 4), 200); !strings.Contains(body, `"known": 3`) || !strings.Contains(body, `"added": 1`) {
			t.Errorf("%s", body)
		}
	})
	t.Run("too many rows at a time are refused", func(t *testing.T) {
		list := make([]string, 5001)
		for i := range list {
			list[i] = "{}"
		}
		_, body := post(t, "/imports/"+begunImport(t, r, "c")+"/rows", `{"first_row":1,"rows":[`+strings.Join(list, ",")+"]}", 400)
		if !strings.Contains(body, "5001 items, but at most 5000 may be") {
			t.Errorf("%s", body)
		}
	})
	t.Run("a column that is not known is refused", func(t *testing.T) {
		post(t, "/imports/"+begunImport(t, r, "d")+"/rows", `{"first_row":1,"rows":[{"partner":"acme","secret":"x"}]}`, 400)
	})
}
