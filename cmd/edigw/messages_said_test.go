package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAMessageShowsFindingsAndAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write([]byte(`{"partner":"acme","message_id":"k","kind":"interchange","variants":[{"payload_sha256":"ab","state":"accepted","acknowledgement":{"answer":
			{"findings":[{"severity":"note","code":"answer-unmatched","message":"997 answers group 7"}]}}}],
			"sent_acknowledgements":[{"partner":"acme","type":"997","reference":"71","by":"folder","state":"done","answered_by":"824","acceptance":"rejected"}],
			"answers":[{"partner":"acme","type":"CONTRL","reference":"72","by":"webhook","state":"done"}]}`))
		if err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	r := edigw(t, "", []string{"EDIGW_API=" + s.URL, "EDIGW_TOKEN=t"}, "messages", "show", "acme", "k")
	for _, want := range []string{"Findings", "answer-unmatched", "997 answers group 7", "Acknowledgements sent", "824 rejected", "It answers", "CONTRL"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not shown:\n%s%s", want, r.out, r.stderr)
		}
	}
	t.Run("a transport key has a list of answers, and no findings of its own", func(t *testing.T) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if _, err := w.Write([]byte(`{"partner":"acme","message_id":"http:north:1","kind":"transport","variants":[{"state":"accepted","acknowledgement":{"answer":[{"message_id":"k"}]}}]}`)); err != nil {
				t.Error(err)
			}
		}))
		defer s.Close()
		if r := edigw(t, "", []string{"EDIGW_API=" + s.URL, "EDIGW_TOKEN=t"}, "messages", "show", "acme", "http:north:1"); r.code != exitOK || strings.Contains(r.out, "Findings") {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.stderr)
		}
	})
}
