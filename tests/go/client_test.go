package specvinoclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

var ctx = context.Background()

// An asked is a request that came to a scripted server.
type asked struct {
	*http.Request
	body string
}

// scripted gives answers in their order, the last one again and again; the function, the requests that came.
func scripted(t *testing.T, answers ...http.HandlerFunc) (*Client, func() []asked) {
	t.Helper()
	var lock sync.Mutex
	var came []asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		lock.Lock()
		next := len(came)
		came = append(came, asked{r, string(body)})
		lock.Unlock()
		if next >= len(answers) {
			next = len(answers) - 1
		}
		answers[next](w, r)
	}))
	t.Cleanup(server.Close)
	return New(server.URL+"/v1", ""), func() []asked {
		lock.Lock()
		defer lock.Unlock()
		return came
	}
}

func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func streams(text string) http.HandlerFunc {
	return says(200, text, "Content-Type", "text/event-stream")
}

// lost closes the connection without an answer.
func lost(w http.ResponseWriter, _ *http.Request) {
	connection, _, _ := w.(http.Hijacker).Hijack()
	connection.Close()
}

// cut closes the connection within an answer.
func cut(text string) http.HandlerFunc {
	return streamsThen(text, func() { panic(http.ErrAbortHandler) })
}

func streamsThen(text string, then func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
		then()
	}
}

const (
	chunk     = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}`
	completed = `{"type":"response.completed","sequence_number":1,"response":{"id":"r"}}`
	created   = `{"type":"response.created","sequence_number":0,"response":{"id":"r"}}`
)

func data(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

func read[E, A any](stream *Stream[E, A], err error) (int, error) {
	if err != nil {
		return -1, err
	}
	count := 0
	for stream.Next() {
		count++
	}
	return count, stream.Err()
}

func TestChatStreams(t *testing.T) {
	refused := &APIError{}
	for name, each := range map[string]struct {
		text   string
		events int
		err    any
	}{
		"whole":        {data(chunk, chunk, "[DONE]"), 2, nil},
		"CR LF":        {strings.ReplaceAll(data(chunk, "[DONE]"), "\n", "\r\n"), 1, nil},
		"CR":           {strings.ReplaceAll(data(chunk, "[DONE]"), "\n", "\r"), 1, nil},
		"CR LF twice":  {"data: {\r\ndata: }\r\n\r\n" + data("[DONE]"), 1, nil},
		"no error":     {data(`{"error":null}`, `{"object":"x","error":{}}`, "[DONE]"), 2, nil},
		"several data": {"data: {\ndata:}\n\n" + data("[DONE]"), 1, nil},
		"byte order":   {"\uFEFF" + data(chunk, "[DONE]"), 1, nil},
		"spaces":       {data(chunk, "[DONE] "), 1, nil},
		"comments":     {": hello\n\nevent: x\nid: 1\n\n" + data(chunk, "[DONE]"), 1, nil},
		"long":         {data(`{"id":"`+strings.Repeat("x", 1<<20)+`"}`, "[DONE]"), 1, nil},
		"cut":          {data(chunk), 1, io.ErrUnexpectedEOF},
		"half event":   {data(chunk) + "data: {", 1, io.ErrUnexpectedEOF},
		"empty":        {"", 0, io.ErrUnexpectedEOF},
		"error":        {data(chunk, `{"error":{"message":"no","code":"c","type":"t"}}`, chunk), 1, refused},
		"no JSON":      {data("nonsense"), 0, new(json.SyntaxError)},
	} {
		c, came := scripted(t, streams(each.text))
		count, err := read(c.CreateChatCompletionStream(ctx, CreateChatCompletionRequest{Model: "m"}))
		if count != each.events || !isA(err, each.err) {
			t.Errorf("%s: %d events, %v", name, count, err)
		}
		if !strings.Contains(came()[0].body, `"stream":true`) {
			t.Errorf("%s: sent %s", name, came()[0].body)
		}
	}
	c, _ := scripted(t, streams(data(`{"error":{"message":"no","code":"c","type":"t"}}`)))
	_, err := read(c.CreateChatCompletionStream(ctx, CreateChatCompletionRequest{}))
	if errors.As(err, &refused); refused.Message != "no" || refused.Code != "c" || refused.Type != "t" || refused.Status != 0 {
		t.Errorf("%+v", refused)
	}
}

func TestLines(t *testing.T) {
	part := `{"model":"m","message":{"role":"assistant","content":"a"},"done":false}` + "\n"
	last := `{"model":"m","message":{"role":"assistant","content":"b"},"done":true,"done_reason":"stop"}` + "\n"
	for name, each := range map[string]struct {
		text   string
		events int
		err    any
	}{
		"whole":   {part + "\n" + last, 2, nil},
		"cut":     {part, 1, io.ErrUnexpectedEOF},
		"half":    {part + `{"done":true`, 1, io.ErrUnexpectedEOF},
		"empty":   {"", 0, io.ErrUnexpectedEOF},
		"error":   {part + `{"error":"no","param":null,"code":"c"}` + "\n", 1, &APIError{}},
		"no JSON": {"nonsense\n", 0, new(json.SyntaxError)},
	} {
		c, came := scripted(t, says(200, each.text, "Content-Type", "application/x-ndjson"))
		count, err := read(c.OllamaChatStream(ctx, OllamaChatRequest{Model: "m", DebugRenderOnly: Ptr(true)}))
		if count != each.events || !isA(err, each.err) {
			t.Errorf("%s: %d events, %v", name, count, err)
		}
		sent := came()[0]
		wanted := `{"_debug_render_only":true,"messages":null,"model":"m","stream":true}`
		if sent.body != wanted || sent.URL.Path != "/v1/api/chat" || sent.Header.Get("Accept") != "application/x-ndjson" {
			t.Error(sent.URL, sent.Header, sent.body)
		}
	}
	c, came := scripted(t, says(200, part+last, "Content-Type", "application/x-ndjson"), says(200, strings.TrimSpace(last)))
	stream, err := c.OllamaChatStream(ctx, OllamaChatRequest{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := stream.Final()
	if err != nil || Text(answer) != "ab" || !answer.Done || *answer.DoneReason != "stop" {
		t.Fatal(answer, err)
	}
	// Without being told, the server would stream. Where nothing is generated, it may answer a request for a stream so.
	if answer, err = c.OllamaChat(ctx, OllamaChatRequest{}); err != nil || Text(answer) != "b" {
		t.Fatal(answer, err)
	}
	if !strings.Contains(came()[1].body, `"stream":false`) {
		t.Error(came()[1].body)
	}
	if count, err := read(c.OllamaChatStream(ctx, OllamaChatRequest{})); count != 1 || err != nil {
		t.Error(count, err)
	}
}

// isA is whether an error is the wanted one, or of the type of a pointer.
func isA(err error, wanted any) bool {
	switch wanted := wanted.(type) {
	case nil:
		return err == nil
	case *APIError:
		return errors.As(err, &wanted)
	case *json.SyntaxError:
		return errors.As(err, &wanted)
	default:
		return errors.Is(err, wanted.(error))
	}
}

func TestResponseStreams(t *testing.T) {
	for name, each := range map[string]struct {
		text   string
		events int
		err    any
	}{
		"whole":       {data(created, completed), 2, nil},
		"DONE behind": {data(created, completed, "[DONE]"), 2, nil},
		"no data":     {data(created, ""), 1, new(json.SyntaxError)},
		"new event":   {data(created, `{"type":"response.new","x":[1]}`, completed), 3, nil},
		"cut":         {data(created), 1, io.ErrUnexpectedEOF},
		"error":       {data(created, `{"type":"error","message":"no","code":"c"}`), 1, &APIError{}},
	} {
		c, _ := scripted(t, streams(each.text))
		count, err := read(c.CreateResponseStream(ctx, CreateResponseRequest{}))
		if count != each.events || !isA(err, each.err) {
			t.Errorf("%s: %d events, %v", name, count, err)
		}
	}
}

func TestAStreamIsResumed(t *testing.T) {
	c, came := scripted(t, streams(""))
	if count, err := read(c.RetrieveResponseStream(ctx, "r", WithQuery("starting_after", "5"))); count != 0 || err != nil {
		t.Error(count, err)
	}
	if query := came()[0].URL.RawQuery; query != "starting_after=5&stream=true" {
		t.Error(query)
	}
	if _, err := read(c.RetrieveResponseStream(ctx, "r")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	c, _ = scripted(t, streams(data(created)))
	if _, err := read(c.RetrieveResponseStream(ctx, "r", WithQuery("starting_after", "5"))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

func TestStreamsThatAreNone(t *testing.T) {
	c, _ := scripted(t, says(200, `{"error":{"message":"no"}}`), says(400, `{"error":{"message":"no"}}`))
	for _, status := range []int{0, 400} {
		_, err := c.CreateChatCompletionStream(ctx, CreateChatCompletionRequest{})
		var refused *APIError
		if !errors.As(err, &refused) || refused.Status != status || refused.Message != "no" {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestAConnectionIsCut(t *testing.T) {
	c, _ := scripted(t, cut(data(chunk)))
	if count, err := read(c.CreateChatCompletionStream(ctx, CreateChatCompletionRequest{})); count != 1 || err == nil {
		t.Error(count, err)
	}
}

func TestAStreamIsLeft(t *testing.T) {
	gone := make(chan bool)
	c, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		streamsThen(data(chunk), func() { <-r.Context().Done(); close(gone) })(w, r)
	})
	stream, err := c.CreateChatCompletionStream(ctx, CreateChatCompletionRequest{})
	if err != nil || !stream.Next() {
		t.Fatal(err)
	}
	_ = stream.Close()
	<-gone
	if stream.Next() || stream.Err() != nil {
		t.Error("it goes on")
	}
}

const answer = `{
	"id": "r", "object": "new object", "status": "new status", "model": 7, "created_at": 1.5, "new": {},
	"output": [
		{"type": "message", "id": "m", "role": "assistant", "status": "new", "new": 1, "content": [
			{"type": "output_text", "text": "a", "annotations": []}, {"type": "new part", "x": 1}
		]},
		{"type": "new item", "id": "i", "x": 1},
		{"type": "function_call", "id": "f", "call_id": "c", "name": "n", "arguments": "{}", "status": "completed"}
	],
	"tools": [{"type": "function", "name": "f", "new": 1}, {"type": "new tool", "x": 1}],
	"tool_choice": {"type": "new choice"}
}`

func TestAnswersAreOpen(t *testing.T) {
	c, _ := scripted(t, says(200, answer))
	got, err := c.CreateResponse(ctx, CreateResponseRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Id != "r" || got.Status != "new status" || got.Model != "" {
		t.Errorf("%+v", got)
	}
	message, other, call := got.Output[0].OutputMessage, got.Output[1], got.Output[2].OutputFunctionCall
	if message == nil || call == nil || call.Arguments != "{}" {
		t.Fatalf("%+v", got.Output)
	}
	if text := message.Content[0].OutputTextContent; text == nil || text.Text != "a" {
		t.Errorf("%+v", message.Content[0])
	}
	if string(message.Content[1].Raw) != `{"type": "new part", "x": 1}` || setBranch(&message.Content[1]) != nil {
		t.Errorf("%+v", message.Content[1])
	}
	if string(other.Raw) != `{"type": "new item", "id": "i", "x": 1}` || other.OutputMessage != nil {
		t.Errorf("%+v", other)
	}
	if got.Tools[0].FlatFunctionTool == nil || !strings.Contains(string(got.Tools[1].Raw), "new tool") {
		t.Errorf("%+v", got.Tools)
	}
}

func TestUnions(t *testing.T) {
	for _, each := range []struct {
		text string
		into any
		kind string
	}{
		{`{"type":"function","function":{"name":"f"}}`, new(Tool), "*FunctionTool"},
		{`{"type":"function","name":"f"}`, new(Tool), "*FlatFunctionTool"},
		{`{"role":"user","content":"a"}`, new(Message), "*UserMessage"},
		{`{"role":"tool","content":"a","tool_call_id":"c"}`, new(Message), "*ToolMessage"},
		{`{"role":"user","content":"a"}`, new(InputItem), "*InputMessage"},
		{`"a"`, new(UserContent), "*string"},
		{`[{"type":"text","text":"a"}]`, new(UserContent), "*[]UserContentPart"},
		{`"auto"`, new(ToolChoice), "*string"},
		{`{"type":"function","function":{"name":"f"}}`, new(ToolChoice), "*NamedToolChoice"},
		{`{"a":1}`, new(Message), "<nil>"},
		{`7`, new(Message), "<nil>"},
	} {
		if err := json.Unmarshal([]byte(each.text), each.into); err != nil {
			t.Errorf("%s: %v", each.text, err)
		}
		kind := fmt.Sprintf("%T", setBranch(each.into.(union)))
		if strings.ReplaceAll(kind, "specvinoclient.", "") != each.kind {
			t.Errorf("%s is a %s", each.text, kind)
		}
		if again, err := json.Marshal(each.into); string(again) != each.text || err != nil {
			t.Errorf("%s becomes %s, %v", each.text, again, err)
		}
	}
	var none Message
	if err := json.Unmarshal([]byte("null"), &none); err != nil || none.Raw != nil {
		t.Error(none, err)
	}
}

type outer struct {
	Tool        *Tool
	UserMessage *UserMessage
	Raw         json.RawMessage
}

func (o *outer) branches() []any { return []any{&o.Tool, &o.UserMessage} }

func TestAUnionInAUnion(t *testing.T) {
	for text, kind := range map[string]string{
		`{"role":"user"}`: "*UserMessage", `{"type":"function","name":"f"}`: "*Tool", `{"type":"new"}`: "<nil>",
	} {
		var value outer
		if err := decodeUnion(&value, &value.Raw, []byte(text)); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprintf("%T", setBranch(&value)); strings.ReplaceAll(got, "specvinoclient.", "") != kind {
			t.Errorf("%s is a %s", text, got)
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	c, came := scripted(t, says(200, `{}`, "X-Unsupported-Params", "bogus"))
	c.Key = "k"
	var response *http.Response
	body := CreateChatCompletionRequest{
		Model:    "m",
		Messages: []Message{{UserMessage: &UserMessage{Role: "user", Content: &UserContent{String: Ptr("a")}}}},
		Seed:     Ptr(int64(1<<62 + 1)),
	}
	_, err := c.CreateChatCompletion(ctx, body, WithField("bogus", nil), WithHeader("x-a", "b"), WithQuery("q", "é&"), WithResponse(&response))
	if err != nil {
		t.Fatal(err)
	}
	sent := came()[0]
	wanted := `{"bogus":null,"messages":[{"content":"a","role":"user"}],"model":"m","seed":4611686018427387905}`
	if sent.body != wanted || sent.URL.Path != "/v1/chat/completions" || sent.URL.Query().Get("q") != "é&" {
		t.Error(sent.URL, sent.body)
	}
	if sent.Header.Get("Authorization") != "Bearer k" || sent.Header.Get("X-A") != "b" || !strings.HasPrefix(sent.UserAgent(), "specvino-client/") {
		t.Error(sent.Header)
	}
	left, _ := io.ReadAll(response.Body)
	if response.Header.Get("X-Unsupported-Params") != "bogus" || string(left) != "{}" {
		t.Error(response.Header, string(left))
	}
	if _, err := c.RetrieveModel(ctx, "org/name é"); err != nil || came()[1].URL.EscapedPath() != "/v1/models/org%2Fname%20%C3%A9" {
		t.Error(came()[1].URL, err)
	}
	if _, err := c.GetHealth(ctx); err != nil || came()[2].URL.Path != "/v1/health" || came()[2].Header.Get("Content-Type") != "" {
		t.Error(came()[2].URL, err)
	}
	for _, id := range []string{"", ".", ".."} {
		if _, err := c.RetrieveModel(ctx, id); err == nil || len(came()) != 3 {
			t.Error(id)
		}
	}
}

func TestTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	if c := New("http://h/v1/", ""); c.BaseURL != "http://h/v1" || c.Key != "" {
		t.Error(c)
	}
	if c := New("", ""); c.BaseURL != "http://127.0.0.1:8000/v1" || c.Key != "" {
		t.Error(c)
	}
	t.Setenv("OPENAI_BASE_URL", "http://h/v2")
	if c := New("", ""); c.BaseURL != "http://h/v2" || c.Key != "secret" {
		t.Error(c)
	}
}

func TestRefusals(t *testing.T) {
	for body, wanted := range map[string]APIError{
		`{"error":{"message":"no","type":"t","param":"p","code":404}}`: {Message: "no", Type: "t", Param: "p", Code: "404"},
		`{"error":"no"}`:                          {Message: "no"},
		`{"error":"no","param":"p","code":"c"}`:   {Message: "no", Param: "p", Code: "c"},
		`{"detail":"no"}`:                         {Message: "no"},
		`{"object":"error","message":"no"}`:       {Message: "no"},
		`{"error":{"message":"no","param":null}}`: {Message: "no"},
		" no\n": {Message: "no"},
	} {
		c, _ := scripted(t, says(400, body, "X-Request-Id", "req"))
		_, err := c.ListModels(ctx)
		var refused *APIError
		if !errors.As(err, &refused) || refused.Error() != "400: no" || refused.RequestID() != "req" || string(refused.Body) != body {
			t.Errorf("%s: %+v", body, refused)
			continue
		}
		got := APIError{Message: refused.Message, Type: refused.Type, Param: refused.Param, Code: refused.Code}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, own := range []*http.Client{nil, {}} {
		c, came := scripted(t, says(307, "", "Location", "/v1/elsewhere"))
		c.Key, c.HTTP = "secret", own
		_, err := c.ListModels(ctx)
		var refused *APIError
		if !errors.As(err, &refused) || refused.Status != 307 || !strings.Contains(refused.Message, "redirects to /v1/elsewhere") {
			t.Error(err)
		}
		if len(came()) != 1 {
			t.Error("followed")
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, body := range []string{"nonsense", `{"object": `, `[]`} {
		c, _ := scripted(t, says(200, body))
		if _, err := c.ListModels(ctx); err == nil {
			t.Error(body)
		}
	}
}

func TestRetries(t *testing.T) {
	busy := func(status int) http.HandlerFunc { return says(status, `{"error":"busy"}`, "Retry-After", "0") }
	for _, status := range []int{408, 409, 429, 500, 503} {
		c, came := scripted(t, busy(status), busy(status), says(200, "{}"))
		_, err := c.CreateChatCompletion(ctx, CreateChatCompletionRequest{Model: "m"})
		if err != nil || len(came()) != 3 {
			t.Errorf("%d: %v after %d", status, err, len(came()))
			continue
		}
		first, last := came()[0], came()[2]
		key := first.Header.Get("Idempotency-Key")
		if key == "" || key != last.Header.Get("Idempotency-Key") || first.body != last.body {
			t.Errorf("%d: %s and %s", status, first.body, last.body)
		}
	}
	for status, retries := range map[int]int{400: 2, 404: 2, 503: 0} {
		c, came := scripted(t, busy(status))
		c.Retries = retries
		if _, err := c.ListModels(ctx); err == nil || len(came()) != 1 {
			t.Errorf("%d: %d", status, len(came()))
		}
	}
	c, came := scripted(t, lost, says(200, "{}"))
	if _, err := c.CreateChatCompletion(ctx, CreateChatCompletionRequest{}); err != nil || len(came()) != 2 {
		t.Error(err, len(came()))
	}
}

func TestADeadlineEndsAWait(t *testing.T) {
	leaving, leave := context.WithCancel(ctx)
	c, came := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		says(503, "{}", "Retry-After", "60")(w, r)
		leave()
	})
	if _, err := c.ListModels(leaving); err == nil || len(came()) != 1 {
		t.Error(err, len(came()))
	}
	late, stop := context.WithTimeout(ctx, time.Millisecond)
	defer stop()
	hanging, came := scripted(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if _, err := hanging.ListModels(late); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	hanging.HTTP = &http.Client{Timeout: 100 * time.Millisecond}
	before := len(came())
	if _, err := hanging.ListModels(ctx); err == nil || len(came())-before > 1 {
		t.Error(err, len(came())-before)
	}
}

func TestWaits(t *testing.T) {
	for said, wanted := range map[string]time.Duration{
		"": 5, "0": 0, "7": 7 * time.Second, "0.5": time.Second / 2, "61": -1, "1e99": -1, "soon": -1,
		"Fri, 01 Jan 2100 00:00:00 GMT": -1, "Fri, 01 Jan 1999 00:00:00 GMT": 0,
	} {
		response := &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {said}}}
		if wait := saidWait(response, 5); wait != wanted {
			t.Errorf("%q: %v", said, wait)
		}
	}
	for attempt, most := range []time.Duration{500, 1000, 2000, 4000, 8000, 8000} {
		most *= time.Millisecond
		if wait := unsaidWait(attempt); wait > most || wait < most*3/4 {
			t.Errorf("%d: %v", attempt, wait)
		}
	}
}

func TestTextAndWholeAnswerOfAStream(t *testing.T) {
	client, _ := scripted(t, streams(`data: {"id": "1", "object": "chat.completion.chunk", "created": 12345678901234567, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]}

data: {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 1, "delta": {"content": "other"}}]}

data: {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "lo", "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}]}}]}

data: {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}, "finish_reason": "tool_calls"}]}

data: [DONE]

`))
	stream, err := client.CreateChatCompletionStream(ctx, CreateChatCompletionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Next() || stream.Text() != "Hel" {
		t.Fatal(stream.Text(), stream.Err())
	}
	if !stream.Next() || stream.Text() != "" {
		t.Fatal("the text of another choice:", stream.Text())
	}
	answer, err := stream.Final()
	if err != nil {
		t.Fatal(err)
	}
	choice := answer.Choices[0]
	call := choice.Message.ToolCalls[0].Function
	got := []any{answer.Object, answer.Created, len(answer.Choices), Text(answer), call.Name, call.Arguments, choice.FinishReason}
	want := []any{"chat.completion", int64(12345678901234567), 2, "Hello", "f", "{}", "tool_calls"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%v, not %v", got, want)
	}
}

func TestWholeMessageOfAStream(t *testing.T) {
	client, _ := scripted(t, streams(`data: {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 3, "output_tokens": 0}}}

data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}

data: {"type": "content_block_stop", "index": 0}

data: {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "c", "name": "f", "input": {}}}

data: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"a\": "}}

data: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "1}"}}

data: {"type": "content_block_stop", "index": 1}

data: {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}

data: {"type": "message_stop"}

`))
	stream, err := client.CreateMessageStream(ctx, CreateMessageRequest{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := stream.Final()
	if err != nil {
		t.Fatal(err)
	}
	input, _ := json.Marshal(answer.Content[1].AnthropicAnswerToolUse.Input)
	got := []any{Text(answer), string(input), *answer.StopReason, answer.Usage.InputTokens, answer.Usage.OutputTokens}
	if fmt.Sprint(got) != `[Hi {"a":1} tool_use 3 7]` {
		t.Fatal(got)
	}
}

func TestAStreamThatBreaksOffHasNoWholeAnswer(t *testing.T) {
	client, _ := scripted(t, cut(`data: {"type": "response.created", "response": {"id": "r"}}`+"\n\n"))
	stream, err := client.CreateResponseStream(ctx, CreateResponseRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := stream.Final(); answer != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(answer, err)
	}
}

func TestAClosedStreamHasNoWholeAnswer(t *testing.T) {
	client, _ := scripted(t, streams(`data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}`+"\n\ndata: [DONE]\n\n"))
	stream, err := client.CreateChatCompletionStream(ctx, CreateChatCompletionRequest{})
	if err != nil || !stream.Next() {
		t.Fatal(err)
	}
	stream.Close()
	if answer, err := stream.Final(); answer != nil || err == nil {
		t.Fatal(answer, err)
	}
}

func TestTextOfAnswersOfAnyForm(t *testing.T) {
	for answer, want := range map[string]string{
		`{"choices": [{"text": "Hi"}]}`:                               "Hi",
		`{"choices": [{"index": 0, "message": {"content": null}}]}`:   "",
		`{"choices": [{"index": 0, "message": {"content": [true]}}]}`: "",
		`{"choices": {}}`: "",
		`{"output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "a"}]}, {"type": "message", "content": [{"type": "output_text", "text": "b"}]}]}`: "ab",
		`{"type": "message", "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "y"}]}`:                                                                              "y",
		`[]`: "",
	} {
		if got := Text(json.RawMessage(answer)); got != want {
			t.Errorf("%s: %q, not %q", answer, got, want)
		}
	}
}

func TestItemsPageAfterPage(t *testing.T) {
	client, came := scripted(t,
		says(200, `{"object": "list", "data": [{"type": "message", "id": "1"}, {"type": "message", "id": "2"}], "has_more": true, "last_id": "2"}`),
		says(200, `{"object": "list", "data": [{"type": "message", "id": "3"}], "has_more": true}`),
		says(200, `{"object": "list", "data": [], "has_more": false}`))
	pages, count := client.ListInputItemsAll(ctx, "r", WithQuery("order", "asc")), 0
	for pages.Next() {
		count++
	}
	var asked []string
	for _, each := range came() {
		asked = append(asked, each.URL.RawQuery)
	}
	if fmt.Sprint(count, pages.Err(), asked) != "3 <nil> [order=asc after=2&order=asc after=3&order=asc]" {
		t.Fatal(count, pages.Err(), asked)
	}
}

func TestAPageThatIsRefused(t *testing.T) {
	client, _ := scripted(t,
		says(200, `{"object": "list", "data": [{"type": "message", "id": "1"}], "has_more": true, "last_id": "1"}`),
		says(404, `{"error": {"message": "gone"}}`))
	pages, count := client.ListInputItemsAll(ctx, "r"), 0
	for pages.Next() {
		count++
	}
	var refused *APIError
	if count != 1 || !errors.As(pages.Err(), &refused) || pages.Next() {
		t.Fatal(count, pages.Err())
	}
	if pages := client.ListInputItemsAll(ctx, ".."); pages.Next() || pages.Err() == nil {
		t.Fatal("a path that leads elsewhere")
	}
}
