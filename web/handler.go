package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"
)

// methods are those that somebody may ask with (RFC 9110 §9, RFC 5789).
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Handler is everything the operations listener answers.
func (a *API) Handler() http.Handler {
	mux := chi.NewRouter()
	mux.Use(a.paced, headers, middleware.GetHead)
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) {
		a.render(w, r, &problem{Status: http.StatusNotFound, Type: "not-found", Detail: "there is nothing at " + r.URL.Path + "; /api/v1/openapi.json lists what there is"})
	})
	mux.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		offered := offered(mux, r)
		w.Header().Set("Allow", strings.Join(offered, ", ")) // RFC 9110 §15.5.6
		if r.Method == http.MethodOptions {                  // §9.3.7: nothing but what the document says
			w.WriteHeader(http.StatusNoContent)
			return
		}
		a.render(w, r, &problem{Status: http.StatusMethodNotAllowed, Type: "method-not-allowed", Detail: r.Method + " is not offered here, but " + strings.Join(offered, ", ") + "; /api/v1/openapi.json lists what is"})
	})
	mux.Get("/", a.index)
	mux.Get("/livez", a.livez)
	mux.Get("/readyz", a.readyz)
	mux.Method(http.MethodGet, "/metrics", a.Metrics)
	for i := range Routes {
		mux.MethodFunc(Routes[i].Method, Prefix+Routes[i].Path, a.handle(&Routes[i]))
	}
	return mux
}

// offered lists the methods that the request's path knows.
func offered(mux *chi.Mux, r *http.Request) []string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	var list []string
	for _, m := range methods {
		if mux.Match(chi.NewRouteContext(), m, path) || m == http.MethodHead && slices.Contains(list, http.MethodGet) {
			list = append(list, m)
		}
	}
	return append(list, http.MethodOptions)
}

// requestIDKey is where a request's id is in its context.
type requestIDKey struct{}

// headers are those of every answer: it is for programs, and for nobody's cache.
// X-Request-Id names it in the log.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := uuid.NewString()
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

// requestID names a request in its answer and in the log.
func requestID(r *http.Request) string {
	id, _ := r.Context().Value(requestIDKey{}).(string) // headers put it there
	return id
}

// handle is the one way in to a route: who, may he, are the parameters known;
// then the work, and the one place where its error is rendered.
func (a *API) handle(rt *Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{api: a, route: rt, w: w, r: r}
		err := c.admit()
		if err == nil {
			err = rt.do(c)
		}
		if err != nil {
			a.render(w, r, err)
		}
	}
}
