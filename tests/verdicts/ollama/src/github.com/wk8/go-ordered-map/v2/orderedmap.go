// Package orderedmap stands for the parts of wk8/go-ordered-map 2.1 that Ollama uses.
package orderedmap

import (
	"bytes"
	"encoding/json"
	"fmt"
)

type Pair[K comparable, V any] struct {
	Key   K
	Value V
	next  *Pair[K, V]
}

func (p *Pair[K, V]) Next() *Pair[K, V] { return p.next }

type OrderedMap[K comparable, V any] struct {
	pairs       map[K]*Pair[K, V]
	first, last *Pair[K, V]
}

func New[K comparable, V any]() *OrderedMap[K, V] {
	return &OrderedMap[K, V]{pairs: map[K]*Pair[K, V]{}}
}

func (m *OrderedMap[K, V]) Len() int            { return len(m.pairs) }
func (m *OrderedMap[K, V]) Oldest() *Pair[K, V] { return m.first }

func (m *OrderedMap[K, V]) Get(key K) (value V, ok bool) {
	if pair, there := m.pairs[key]; there {
		return pair.Value, true
	}
	return
}

func (m *OrderedMap[K, V]) Set(key K, value V) {
	if pair, there := m.pairs[key]; there {
		pair.Value = value
		return
	}
	pair := &Pair[K, V]{Key: key, Value: value}
	if m.last == nil {
		m.first = pair
	} else {
		m.last.next = pair
	}
	m.pairs[key], m.last = pair, pair
}

func (m *OrderedMap[K, V]) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for pair := m.first; pair != nil; pair = pair.next {
		if pair != m.first {
			text.WriteByte(',')
		}
		key, err := json.Marshal(fmt.Sprint(pair.Key))
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(pair.Value)
		if err != nil {
			return nil, err
		}
		text.Write(key)
		text.WriteByte(':')
		text.Write(value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// UnmarshalJSON reads an object whose keys are texts.
func (m *OrderedMap[K, V]) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return fmt.Errorf("an object is expected, not %s", data)
	}
	m.pairs, m.first, m.last = map[K]*Pair[K, V]{}, nil, nil
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		key, ok := token.(any).(K)
		if !ok {
			return fmt.Errorf("a key of another type: %v", token)
		}
		var value V
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		m.Set(key, value)
	}
	return nil
}
