package web

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
)

func TestALetterThatFailsKeepsNoOtherFromBeingTold(t *testing.T) {
	r := filled(t)
	if _, err := r.pool.Exec(context.Background(), `update payload set body = convert_to(replace(convert_from(body, 'UTF8'), 'RE-1', 'RE-9'), 'UTF8')
		where payload_id = (select payload_id from inbox where message_id = $1)`, keyOf1); err != nil {
		t.Fatal(err)
	}
	got := r.ask(r.tokens[accounts.Operator], http.MethodPost, "/messages/re-evaluate",
		`{"letters":[{"partner":"acme","message_id":"`+keyOf4+`"},{"partner":"acme","message_id":"`+keyOf1+`"},{"partner":"acme","message_id":"`+keyOf4+`"}]}`, "Content-Type", "application/json")
	var list struct {
		Items []struct {
			Refused struct {
				MessageID string `json:"message_id"`
				Code      string `json:"code"`
			} `json:"refused_because"`
		} `json:"items"`
	}
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	var told [][2]string
	for _, it := range list.Items {
		told = append(told, [2]string{it.Refused.MessageID, it.Refused.Code})
	}
	want := [][2]string{{keyOf4, "nothing-to-replay"}, {keyOf1, "failed"}, {keyOf4, "nothing-to-replay"}}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("(-want +got):\n%s\n%s", d, got.body)
	}
}
