// Package zstd stands for a decoder that is never asked for: bodies are sent as they are.
package zstd

import (
	"errors"
	"io"
)

type Option struct{}

type Decoder struct{ io.Reader }

func NewReader(io.Reader, ...Option) (*Decoder, error) { return nil, errors.New("no zstd") }
func WithDecoderMaxMemory(uint64) Option               { return Option{} }
func (*Decoder) Close()                                {}
