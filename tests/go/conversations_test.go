package specvinoclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestGroupedNames(t *testing.T) {
	c, came := scripted(t, says(200, `{}`))
	_, _ = c.Chat.Completions.Create(ctx, CreateChatCompletionRequest{})
	_, _ = c.Responses.Retrieve(ctx, "r")
	_, _ = c.Responses.InputItems.List(ctx, "r", WithQuery("order", "asc"))
	_ = c.Responses.InputItems.ListAll(ctx, "r").Next()
	_, _ = c.Messages.CreateStream(ctx, CreateMessageRequest{})
	var asks []string
	for _, each := range came() {
		asks = append(asks, each.Method+" "+each.URL.String())
	}
	wanted := []string{"POST /v1/chat/completions", "GET /v1/responses/r", "GET /v1/responses/r/input_items?order=asc",
		"GET /v1/responses/r/input_items", "POST /v1/messages"}
	if !reflect.DeepEqual(asks, wanted) {
		t.Error(asks)
	}
}

type base struct {
	ID int64 `json:"id"`
}

type kind struct {
	base
	Word    string           `json:"word" jsonschema_description:"one, or two" jsonschema:"enum=one,enum=two"`
	Maybe   *float64         `json:"maybe"`
	Left    bool             `json:"left,omitempty"`
	Lists   [][]string       `json:"lists"`
	Sides   []string         `jsonschema:"enum=north"`
	When    time.Time        `json:"when"`
	Any     any              `json:"any"`
	Raw     json.RawMessage  `json:"raw"`
	Map     map[string]uint8 `json:"map"`
	Bytes   []byte           `json:"bytes"`
	Inner   []kind           `json:"inner"`
	Skipped string           `json:"-"`
	hidden  string
}

const properties0 = `"id":{"type":"integer"},"word":{"type":"string","description":"one, or two","enum":["one","two"]},` +
	`"maybe":{"anyOf":[{"type":"number"},{"type":"null"}]},"left":{"type":"boolean"},` +
	`"lists":{"type":"array","items":{"type":"array","items":{"type":"string"}}},` +
	`"Sides":{"type":"array","items":{"type":"string","enum":["north"]}},"when":{"type":"string","format":"date-time"},` +
	`"any":{},"raw":{},"map":{"type":"object","additionalProperties":{"type":"integer"}},"bytes":{"type":"string"},` +
	`"inner":{"type":"array","items":{"$ref":"#/$defs/specvinoclient_kind"}}`

func TestSchemas(t *testing.T) {
	for strict, required := range map[bool]string{
		true:  `["id","word","maybe","left","lists","Sides","when","any","raw","map","bytes","inner"]`,
		false: `["id","word","lists","Sides","when","any","raw","map","bytes","inner"]`,
	} {
		object := `"type":"object","properties":{` + properties0 + `},"required":` + required + `,"additionalProperties":false`
		got, err := json.Marshal(schemaOf(reflect.TypeOf(kind{}), strict))
		if wanted := `{` + object + `,"$defs":{"specvinoclient_kind":{` + object + `}}}`; err != nil || string(got) != wanted {
			t.Errorf("%s\nnot\n%s\n%v", got, wanted, err)
		}
	}
	twice := schemaOf(reflect.TypeOf(struct{ One, Other place }{}), true) // only what contains itself has a name
	if got, _ := json.Marshal(twice); strings.Count(string(got), `"city"`) != 4 || strings.Contains(string(got), "$") {
		t.Error(string(got))
	}
	if got, _ := json.Marshal(schemaOf(reflect.TypeOf(struct{}{}), true)); string(got) != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Error(string(got))
	}
}

func TestWhatIsReadIsWhole(t *testing.T) {
	type inner struct {
		Name string   `json:"name"`
		Next *inner   `json:"next"`
		Tags []string `json:"tags,omitempty"`
	}
	for said, wanted := range map[string]string{
		`{"inner":[{"name":"a","next":{"name":"b"}}]}`:          "",
		`{"inner":[{"name":"a","next":null,"tags":["x"]}]}`:     "",
		`{"inner":[{"name":"a"},{"next":null}]}`:                "inner[1].name is missing",
		`{"inner":[{"name":"a","next":{"next":{"name":"c"}}}]}`: "inner[0].next.name is missing",
		`{"inner":[{"name":null}]}`:                             "inner[0].name is missing",
		`{}`:                                                    "inner is missing",
		`null`:                                                  "the value is null",
		`{"inner":null}`:                                        "inner is missing",
		`{"inner":[],"other":1}`:                                "unknown field",
		`{"inner":[]} {}`:                                       "there is more",
		`{"inner":[`:                                            "unexpected EOF",
		`{"inner":[{"name":7}]}`:                                "cannot unmarshal",
		``:                                                      "EOF",
	} {
		var into struct {
			Inner []inner `json:"inner"`
		}
		err := readInto([]byte(said), &into)
		if (err == nil) != (wanted == "") || (err != nil && !strings.Contains(err.Error(), wanted)) {
			t.Errorf("%s: %v", said, err)
		}
	}
}

type city struct {
	City    string `json:"city"`
	Country string `json:"country"`
}

const citySchema = `{"type":"object","properties":{"city":{"type":"string"},"country":{"type":"string"}},"required":["city","country"],"additionalProperties":false}`

// saying is an answer with a text, in the form of each conversation.
var saying = map[string]string{
	"chat":      `{"choices":[{"index":0,"message":{"role":"assistant","content":%s}}]}`,
	"responses": `{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":%s}]}]}`,
	"messages":  `{"type":"message","role":"assistant","content":[{"type":"text","text":%s}]}`,
}

func TestAnAnswerIsParsed(t *testing.T) {
	named := `"name":"city","schema":` + citySchema + `,"strict":true`
	for conversation, wanted := range map[string]string{
		"chat":      `"response_format":{"json_schema":{` + named + `},"type":"json_schema"}`,
		"responses": `"text":{"format":{` + named + `,"type":"json_schema"},"verbosity":"low"}`,
		"messages":  `"output_config":{"effort":"low","format":{"schema":` + citySchema + `,"type":"json_schema"}}`,
	} {
		said := fmt.Sprintf(saying[conversation], `"{\"city\":\"Paris\",\"country\":\"France\"}"`)
		c, came := scripted(t, says(200, said), says(200, fmt.Sprintf(saying[conversation], `"{"`)), says(400, "{}"))
		ask := func(into any) (any, bool, error) {
			switch conversation {
			case "chat":
				answer, err := c.Chat.Completions.Parse(ctx, into, CreateChatCompletionRequest{})
				return answer, answer != nil, err
			case "responses":
				answer, err := c.Responses.Parse(ctx, into, CreateResponseRequest{Text: &ResponseTextParam{Verbosity: Ptr("low")}})
				return answer, answer != nil, err
			}
			answer, err := c.Messages.Parse(ctx, into, CreateMessageRequest{}, WithField("output_config", map[string]any{"effort": "low"}))
			return answer, answer != nil, err
		}
		var value city
		if _, has, err := ask(&value); err != nil || !has || value != (city{"Paris", "France"}) {
			t.Error(conversation, value, err)
		}
		if sent := came()[0].body; !strings.Contains(sent, wanted) {
			t.Errorf("%s\nisn't in\n%s", wanted, sent)
		}
		if _, has, err := ask(&value); err == nil || !has {
			t.Error(conversation, err)
		}
		if _, has, err := ask(&value); err == nil || has {
			t.Error(conversation, err)
		}
		for _, into := range []any{nil, value, (*city)(nil)} {
			if _, _, err := ask(into); err == nil || len(came()) != 3 {
				t.Error(into, err)
			}
		}
	}
}

// calling is an answer with calls of functions.
var calling = map[string]string{
	"chat": `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"new":[{"x":null}],"tool_calls":[` +
		`{"id":"1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Paris\"}"}},` +
		`{"id":"2","type":"function","function":{"name":"weather","arguments":"{\"city\":7}"}},` +
		`{"id":"3","type":"function","function":{"name":"now","arguments":""}}]}}]}`,
	"responses": `{"output":[{"type":"reasoning","id":"x","content":null},` +
		`{"type":"function_call","call_id":"1","name":"weather","arguments":"{\"city\":\"Paris\"}"},` +
		`{"type":"function_call","call_id":"2","name":"weather","arguments":"{\"city\":7}"},` +
		`{"type":"function_call","call_id":"3","name":"now","arguments":""}]}`,
	"messages": `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hm"},` +
		`{"type":"tool_use","id":"1","name":"weather","input":{"city":"Paris"}},` +
		`{"type":"tool_use","id":"2","name":"weather","input":{"city":7}},` +
		`{"type":"tool_use","id":"3","name":"now","input":{}}]}`,
}

// continued is what the answer and the results are in the next request; %q is why the second call is invalid.
var continued = map[string]string{
	"chat": `[{"content":"go","role":"user"},{"new":[{}],"role":"assistant","tool_calls":[` +
		`{"function":{"arguments":"{\"city\":\"Paris\"}","name":"weather"},"id":"1","type":"function"},` +
		`{"function":{"arguments":"{\"city\":7}","name":"weather"},"id":"2","type":"function"},` +
		`{"function":{"arguments":"","name":"now"},"id":"3","type":"function"}]},` +
		`{"content":"{\"sunny\":true}","role":"tool","tool_call_id":"1"},{"content":%q,"role":"tool","tool_call_id":"2"},` +
		`{"content":"noon","role":"tool","tool_call_id":"3"}]`,
	"responses": `[{"content":"go","role":"user"},{"id":"x","type":"reasoning"},` +
		`{"arguments":"{\"city\":\"Paris\"}","call_id":"1","name":"weather","type":"function_call"},` +
		`{"arguments":"{\"city\":7}","call_id":"2","name":"weather","type":"function_call"},` +
		`{"arguments":"","call_id":"3","name":"now","type":"function_call"},` +
		`{"call_id":"1","output":"{\"sunny\":true}","type":"function_call_output"},{"call_id":"2","output":%q,"type":"function_call_output"},` +
		`{"call_id":"3","output":"noon","type":"function_call_output"}]`,
	"messages": `[{"content":"go","role":"user"},{"content":[{"text":"Hm","type":"text"},` +
		`{"id":"1","input":{"city":"Paris"},"name":"weather","type":"tool_use"},` +
		`{"id":"2","input":{"city":7},"name":"weather","type":"tool_use"},` +
		`{"id":"3","input":{},"name":"now","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"content":"{\"sunny\":true}","tool_use_id":"1","type":"tool_result"},{"content":%q,"tool_use_id":"2","type":"tool_result"},` +
		`{"content":"noon","tool_use_id":"3","type":"tool_result"}],"role":"user"}]`,
}

type place struct {
	City string `json:"city" jsonschema_description:"Its name"`
	Unit string `json:"unit,omitempty"`
}

const placeSchema = `{"type":"object","properties":{"city":{"type":"string","description":"Its name"},"unit":{"type":"string"}},"required":["city"],"additionalProperties":false}`

var functions = Functions{
	"weather": NewFunction("The weather", func(_ context.Context, given place) (map[string]bool, error) {
		return map[string]bool{"sunny": given.City == "Paris"}, nil
	}),
	"now": NewFunction("The time", func(context.Context, struct{}) (string, error) { return "noon", nil }),
}

// running calls a loop in one of the conversations, and returns the text of the answer.
func running(c *Client, conversation string, functions Functions, options ...CallOption) (string, error) {
	switch conversation {
	case "chat":
		question := []Message{{UserMessage: &UserMessage{Role: "user", Content: &UserContent{String: Ptr("go")}}}}
		answer, err := c.Chat.Completions.RunTools(ctx, functions, CreateChatCompletionRequest{Messages: question}, options...)
		return Text(answer), err
	case "responses":
		answer, err := c.Responses.RunTools(ctx, functions, CreateResponseRequest{Input: ResponseInput{String: Ptr("go")}}, options...)
		return Text(answer), err
	}
	options = append(options, WithField("messages", []any{map[string]any{"role": "user", "content": "go"}}))
	answer, err := c.Messages.RunTools(ctx, functions, CreateMessageRequest{}, options...)
	return Text(answer), err
}

func TestFunctionsAreCalled(t *testing.T) {
	invalid := "The arguments aren't valid: json: cannot unmarshal number into Go struct field place.city of type string"
	tools := map[string]string{
		"chat":      `"tools":[%[3]s,{"function":{"description":"The time","name":"now","parameters":%[1]s},"type":"function"},{"function":{"description":"The weather","name":"weather","parameters":%[2]s},"type":"function"}]`,
		"responses": `"tools":[%[3]s,{"description":"The time","name":"now","parameters":%[1]s,"type":"function"},{"description":"The weather","name":"weather","parameters":%[2]s,"type":"function"}]`,
		"messages":  `"tools":[%[3]s,{"description":"The time","input_schema":%[1]s,"name":"now"},{"description":"The weather","input_schema":%[2]s,"name":"weather"}]`,
	}
	for conversation, calls := range calling {
		said := fmt.Sprintf(saying[conversation], `"done"`)
		c, came := scripted(t, says(200, calls), says(200, said))
		own := []any{map[string]any{"type": "own"}}
		var response *http.Response
		text, err := running(c, conversation, functions, WithField("tools", own), WithResponse(&response), WithHeader("x-a", "b"))
		if err != nil || text != "done" || len(came()) != 2 || response == nil {
			t.Error(conversation, text, err, len(came()))
			continue
		}
		wanted := fmt.Sprintf(tools[conversation], `{"type":"object","properties":{},"additionalProperties":false}`, placeSchema, `{"type":"own"}`)
		for _, each := range came() {
			if !strings.Contains(each.body, wanted) || each.Header.Get("X-A") != "b" {
				t.Errorf("%s\nisn't in\n%s", wanted, each.body)
			}
		}
		if wanted := fmt.Sprintf(continued[conversation], invalid); !strings.Contains(came()[1].body, wanted) {
			t.Errorf("%s\nisn't in\n%s", wanted, came()[1].body)
		}
	}
}

func TestALoopEnds(t *testing.T) {
	broken := errors.New("broken")
	wrong := Functions{"weather": NewFunction("", func(context.Context, place) (string, error) { return "", broken })}
	never := Functions{"weather": NewFunction("", func(context.Context, place) (any, error) { panic("called") })}
	for conversation, calls := range calling {
		c, came := scripted(t, says(200, calls))
		if _, err := running(c, conversation, functions, WithRounds(3)); err != nil || len(came()) != 3 {
			t.Error(conversation, err, len(came()))
		}
		if _, err := running(c, conversation, functions); err != nil || len(came()) != 13 {
			t.Error(conversation, err, len(came()))
		}
		wrong["now"], never["now"] = functions["now"], never["weather"]
		if _, err := running(c, conversation, wrong); !errors.Is(err, broken) || len(came()) != 14 {
			t.Error(conversation, err, len(came()))
		}
		// A call of another tool is the caller's, and so are those beside it.
		delete(never, "now")
		if _, err := running(c, conversation, never); err != nil || len(came()) != 15 {
			t.Error(conversation, err, len(came()))
		}
		c, _ = scripted(t, says(200, strings.ReplaceAll(calls, `"id":"1",`, "")), says(400, "{}"))
		if conversation != "responses" { // there, items have other ids
			if _, err := running(c, conversation, functions); err == nil {
				t.Error(conversation)
			}
		}
		var refused *APIError
		c, _ = scripted(t, says(200, calls), says(400, "{}"))
		if _, err := running(c, conversation, functions); !errors.As(err, &refused) {
			t.Error(conversation, err)
		}
	}
}
