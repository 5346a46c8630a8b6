// Package uuid stands for a type that no request has.
package uuid

type UUID [16]byte
