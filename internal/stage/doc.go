// Package stage is what the stages of one decision hand each other: the engine
// makes an Ask of a request, and the local tier and the backstop answer it or
// learn from the store's answer.
//
// It holds data and no behaviour. An Ask belongs to one request; its stages look
// at it one after the other.
package stage
