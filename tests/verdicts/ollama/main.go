// Judges bodies by Ollama's own middleware and structs, as judge.py does by the classes of systems in Python.
//
// The first line of its output is an empty table of schemas: the fields of the structs are what `specvino spec drift`
// reads. Then each line of the input, `["endpoint", body]`, is answered with an error, or with null.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/middleware"
	"github.com/ollama/ollama/types/model"
)

var middlewares = map[string]gin.HandlerFunc{
	"chat":        middleware.ChatMiddleware(),
	"completions": middleware.CompletionsMiddleware(),
	"messages":    middleware.AnthropicMessagesMiddleware(),
	"responses":   middleware.ResponsesMiddleware(),
}

// check repeats the checks of server/routes.go (ChatHandler, GenerateHandler) and llm/llama_server.go
// (llamaServerChatResponseFormat) that hold for any model.
func check(endpoint string, body *http.Request) error {
	var asked struct {
		Model       string
		Format      json.RawMessage
		TopLogprobs int `json:"top_logprobs"`
		Options     map[string]any
	}
	var generate api.GenerateRequest
	text, err := io.ReadAll(body.Body)
	if err == nil && (endpoint == "completions" || endpoint == "ollama_generate") {
		err = json.Unmarshal(text, &generate)
	} else if err == nil {
		err = json.Unmarshal(text, &api.ChatRequest{})
	}
	if err == nil {
		err = json.Unmarshal(text, &asked)
	}
	if err != nil {
		return err
	}
	if asked.TopLogprobs < 0 || asked.TopLogprobs > 20 {
		return errors.New("top_logprobs must be between 0 and 20")
	}
	if !model.ParseName(asked.Model).IsValid() {
		return fmt.Errorf("model '%s' not found", asked.Model)
	}
	isWhole := generate.System == "" && generate.Template == "" && len(generate.Context) == 0
	if generate.Raw && !isWhole {
		return errors.New("a raw prompt excludes other parts of a prompt")
	}
	switch format := string(asked.Format); {
	case format == "", format == "null", format == `""`, format == `"json"`, format[0] == '{':
	default:
		return fmt.Errorf("invalid format: %s", format)
	}
	options := api.DefaultOptions()
	return options.FromMap(asked.Options)
}

func verdict(endpoint string, body []byte) any {
	recorder := httptest.NewRecorder()
	sent := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	context := gin.NewContext(sent, recorder)
	if converts, ok := middlewares[endpoint]; ok { // Ollama's own endpoints have none
		converts(context)
		if !context.Continued {
			return fmt.Sprintf("%d %s", recorder.Code, recorder.Body)
		}
	}
	if err := check(endpoint, context.Request); err != nil {
		return err.Error()
	}
	return nil
}

// A panic ends the request alone: gin.Recovery answers with 500.
func recovered(endpoint string, body []byte) (answer any) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = fmt.Sprintf("500 %v", fault)
		}
	}()
	return verdict(endpoint, body)
}

func main() {
	answers := json.NewEncoder(os.Stdout)
	answers.Encode(map[string]any{})
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked []json.RawMessage
		var endpoint string
		if json.Unmarshal(line, &asked) != nil || json.Unmarshal(asked[0], &endpoint) != nil {
			panic(string(line))
		}
		answers.Encode(recovered(endpoint, asked[1]))
	}
}
