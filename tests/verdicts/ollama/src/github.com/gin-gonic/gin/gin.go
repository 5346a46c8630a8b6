// Package gin stands for the parts of Gin 1.10 that Ollama's middleware uses.
package gin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
)

type H map[string]any

type HandlerFunc func(*Context)

type ResponseWriter interface {
	http.ResponseWriter
	Status() int
	WriteHeaderNow()
}

type writer struct{ *httptest.ResponseRecorder }

func (w writer) Status() int     { return w.Code }
func (w writer) WriteHeaderNow() {}

// Context is one request. Continued is whether the middleware left it to the handler.
type Context struct {
	Request   *http.Request
	Writer    ResponseWriter
	Continued bool
	aborted   bool
}

func NewContext(request *http.Request, recorder *httptest.ResponseRecorder) *Context {
	return &Context{Request: request, Writer: writer{recorder}}
}

func (c *Context) Next()                       { c.Continued = !c.aborted }
func (c *Context) Set(key string, value any)   {}
func (c *Context) Param(key string) string     { return "" }
func (c *Context) GetHeader(key string) string { return c.Request.Header.Get(key) }
func (c *Context) AbortWithStatusJSON(code int, answer any) {
	c.aborted = true
	c.Writer.WriteHeader(code)
	json.NewEncoder(c.Writer).Encode(answer)
}

// ShouldBindJSON reads the first JSON value of the body, as Gin's binding/json.go does without its options. No struct
// of Ollama's has Gin's tag `binding`.
func (c *Context) ShouldBindJSON(target any) error {
	if c.Request == nil || c.Request.Body == nil {
		return errors.New("invalid request")
	}
	return json.NewDecoder(c.Request.Body).Decode(target)
}
