package specvinoclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// talking is a server of WebSockets: a function is given each message, and what answers it.
func talking(t *testing.T, answer func(message string, say func(events ...string))) (*Client, func() []asked) {
	t.Helper()
	upgrader := websocket.Upgrader{}
	return scripted(t, func(w http.ResponseWriter, r *http.Request) {
		socket, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		for {
			_, message, err := socket.ReadMessage()
			if err != nil {
				return
			}
			answer(string(message), func(events ...string) {
				for _, each := range events {
					if each == "" {
						time.Sleep(20 * time.Millisecond) // the client waits already
						_ = socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1011, "over"))
					} else {
						_ = socket.WriteMessage(websocket.TextMessage, []byte(each))
					}
				}
			})
		}
	})
}

func opened(t *testing.T, c *Client) *Session[CreateResponseMessage, ResponseStreamEvent, ResponseObject] {
	t.Helper()
	session, err := c.CreateResponseSession(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func failed(status int, more string) string {
	return fmt.Sprintf(`{"type":"error","status":%d,"error":{"message":"no"%s}}`, status, more)
}

func TestSessions(t *testing.T) {
	var messages []string
	c, came := talking(t, func(message string, say func(...string)) {
		messages = append(messages, message)
		say(created, `{"type":"response.output_text.delta","delta":"Hi"}`, completed)
	})
	c.Key = "secret"
	session := opened(t, c)
	for range []int{0, 1} {
		stream, err := session.Send(ctx, CreateResponseMessage{Model: "m", Input: ResponseInput{String: Ptr("hi")}}, WithField("seed", nil))
		if err != nil || !stream.Next() || !stream.Next() || stream.Text() != "Hi" {
			t.Fatal(err)
		}
		if answer, err := stream.Final(); err != nil || answer.Id != "r" {
			t.Fatal(answer, err)
		}
	}
	if wanted := `{"input":"hi","model":"m","seed":null,"type":"response.create"}`; len(messages) != 2 || messages[1] != wanted {
		t.Error(messages)
	}
	head := came()[0].Header
	if head.Get("Authorization") != "Bearer secret" || !strings.HasPrefix(head.Get("User-Agent"), "specvino-client/") {
		t.Error(head)
	}
	if session.Response.StatusCode != http.StatusSwitchingProtocols {
		t.Error(session.Response)
	}
}

func TestFaultsOfSessions(t *testing.T) {
	busy := failed(503, `,"headers":{"retry-after":"0"}`)
	for name, each := range map[string]struct {
		said         [][]string
		events       int
		status, asks int
	}{
		"error":         {[][]string{{failed(418, "")}}, 0, 418, 1},
		"late error":    {[][]string{{created, failed(500, "")}}, 1, 500, 1},
		"busy":          {[][]string{{busy}, {created, completed}}, 2, 0, 2},
		"stays busy":    {[][]string{{busy}}, 0, 503, 3},
		"busy for long": {[][]string{{failed(429, `,"headers":{"Retry-After":"999"}`)}}, 0, 429, 1},
		"nonsense":      {[][]string{{"nonsense"}}, 0, -1, 1},
		"closed":        {[][]string{{created, ""}}, 1, -1, 1},
	} {
		asks := 0
		c, _ := talking(t, func(_ string, say func(...string)) {
			next := asks
			if next >= len(each.said) {
				next = len(each.said) - 1
			}
			asks++
			say(each.said[next]...)
		})
		count, err := read(opened(t, c).Send(ctx, CreateResponseMessage{}))
		status := -1
		if refused := (&APIError{}); errors.As(err, &refused) {
			status = refused.Status
		} else if err == nil {
			status = 0
		}
		if count != each.events || status != each.status || asks != each.asks {
			t.Errorf("%s: %d events, %v after %d", name, count, err, asks)
		}
	}
}

func TestASessionOutlivesARefusal(t *testing.T) {
	answers := [][]string{{failed(400, "")}, {created, completed}}
	c, _ := talking(t, func(_ string, say func(...string)) { say(answers[0]...); answers = answers[1:] })
	session := opened(t, c)
	if _, err := read(session.Send(ctx, CreateResponseMessage{})); err == nil {
		t.Error("no error")
	}
	if count, err := read(session.Send(ctx, CreateResponseMessage{})); count != 2 || err != nil {
		t.Error(count, err)
	}
}

func TestLanes(t *testing.T) {
	c, _ := talking(t, func(message string, say func(...string)) {
		lane := text(parsed([]byte(message))["stream_id"])
		say(fmt.Sprintf(`{"type":"response.created","stream_id":%q,"response":{"id":%q}}`, lane, lane))
		say(fmt.Sprintf(`{"type":"response.completed","stream_id":%q,"response":{"id":%q}}`, lane, lane))
	})
	session := opened(t, c)
	var all sync.WaitGroup
	for i := 0; i < 16; i++ {
		all.Add(1)
		go func(lane string) {
			defer all.Done()
			stream, err := session.Send(ctx, CreateResponseMessage{StreamId: Ptr(lane)})
			if err != nil {
				t.Error(err)
			} else if answer, err := stream.Final(); err != nil || answer.Id != lane {
				t.Error(lane, answer, err)
			}
		}(fmt.Sprint(i))
	}
	all.Wait()
}

func TestAnAnswerThatIsLeft(t *testing.T) {
	count := 0
	c, _ := talking(t, func(_ string, say func(...string)) {
		count++
		say(fmt.Sprintf(`{"type":"response.created","response":{"id":"%d"}}`, count))
		time.Sleep(20 * time.Millisecond) // the rest comes after it is left
		say(fmt.Sprintf(`{"type":"response.completed","response":{"id":"%d"}}`, count))
	})
	session := opened(t, c)
	left, err := session.Send(ctx, CreateResponseMessage{})
	if err != nil || !left.Next() {
		t.Fatal(err)
	}
	left.Close()
	stream, err := session.Send(ctx, CreateResponseMessage{})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := stream.Final(); err != nil || answer.Id != "2" {
		t.Error(answer, err)
	}
	if waiting := left.source.(*turn).waiting; waiting != nil {
		t.Error(waiting)
	}
}

func TestRequestsOfOneLaneAreAnsweredInTheirOrder(t *testing.T) {
	count := 0
	c, _ := talking(t, func(_ string, say func(...string)) {
		if count++; count == 2 {
			say(`{"type":"response.completed","response":{"id":"1"}}`, `{"type":"response.completed","response":{"id":"2"}}`)
		}
	})
	session := opened(t, c)
	first, err := session.Send(ctx, CreateResponseMessage{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := session.Send(ctx, CreateResponseMessage{})
	if err != nil {
		t.Fatal(err)
	}
	for stream, id := range map[*Stream[ResponseStreamEvent, ResponseObject]]string{second: "2", first: "1"} {
		if answer, err := stream.Final(); err != nil || answer.Id != id {
			t.Error(answer, err)
		}
	}
}

func TestADeadlineEndsTheWaitForAnEvent(t *testing.T) {
	c, _ := talking(t, func(string, func(...string)) {})
	session := opened(t, c)
	late, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	if _, err := read(session.Send(late, CreateResponseMessage{})); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	session.Close()
	if _, err := read(session.Send(ctx, CreateResponseMessage{})); err == nil {
		t.Error("no error after the end")
	}
}

func TestWhatKeepsASessionFromOpening(t *testing.T) {
	c, _ := scripted(t, says(401, `{"error":{"message":"no","code":"c"}}`))
	_, err := c.Responses.Session(ctx)
	var refused *APIError
	if !errors.As(err, &refused) || refused.Status != 401 || refused.Code != "c" {
		t.Error(err)
	}
	if _, err := New("http://127.0.0.1:9/v1", "").CreateResponseSession(ctx); err == nil || errors.As(err, &refused) {
		t.Error(err)
	}
}
