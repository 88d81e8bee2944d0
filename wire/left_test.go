package wire

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestLeft(t *testing.T) {
	post := func(t *testing.T, url string) (left bool, err error) {
		ctx, told := Left(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			err = resp.Body.Close()
		}
		return told(), err
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(server.Close)
	t.Run("what was sent has left, though its answer is lost", func(t *testing.T) {
		if left, err := post(t, server.URL); !left || err == nil {
			t.Errorf("left %v, %v", left, err)
		}
	})
	t.Run("what found nobody has not", func(t *testing.T) {
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		if left, err := post(t, gone.URL); left || err == nil {
			t.Errorf("left %v, %v", left, err)
		}
	})
	t.Run("what is no TLS at the other end has not", func(t *testing.T) {
		if left, err := post(t, "https"+server.URL[len("http"):]); left || err == nil {
			t.Errorf("left %v, %v", left, err)
		}
	})
	t.Run("a status tells whether it may have been taken", func(t *testing.T) {
		for status, want := range map[int]bool{200: true, 202: true, 307: false, 400: false, 404: false, 422: false, 500: true, 502: true, 503: false, 504: true} {
			if Taken(status) != want {
				t.Errorf("%d: %v", status, !want)
			}
		}
	})
}
