// Package ssh stands for the keys of Ollama's cloud, which no request reads.
package ssh

import (
	"errors"
	"io"
)

type PublicKey interface{}
type Signature struct{ Blob []byte }
type Signer interface {
	PublicKey() PublicKey
	Sign(io.Reader, []byte) (*Signature, error)
}

func ParsePrivateKey([]byte) (Signer, error) { return nil, errors.New("no keys") }
func MarshalAuthorizedKey(PublicKey) []byte  { return nil }
