package redisstore

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

// dialLink is a link to a server that is given its side of the connection.
func dialLink(t *testing.T, serve func(net.Conn)) *link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := ln.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		serve(conn)
	}()
	raw, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(watchConn(raw), generous)
	t.Cleanup(func() {
		l.close()
		_ = ln.Close()
		<-served
	})
	return l
}

// A command that a socket does not take at once is written all the same, once.
func TestLinkWritesLongCommands(t *testing.T) {
	command := bytes.Repeat([]byte("0123456789abcdef"), 1<<19)
	got := make(chan []byte, 1)
	l := dialLink(t, func(conn net.Conn) {
		b := make([]byte, len(command))
		_, _ = io.ReadFull(conn, b) // what is missing is seen below
		got <- b
		_, _ = conn.Write([]byte("*2\r\n$1\r\nx\r\n:"))
		_, _ = conn.Write([]byte("7\r\n"))
	})
	var a answer
	if err := l.call(time.Now(), command, &a); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(<-got, command) {
		t.Error("something else arrived")
	}
	if told(&a) != "$x|:7" {
		t.Errorf("the answer is %q", told(&a))
	}
}

// A connection that the server has closed is written to no more.
func TestLinkKnowsTheEnd(t *testing.T) {
	l := dialLink(t, func(net.Conn) {})
	eventually(t, "the end to be seen", func() error {
		if l.plain.alive() {
			return errors.New("it is alive")
		}
		return nil
	})
	err := l.call(time.Now(), []byte("x"), new(answer))
	if _, unsent := errors.AsType[*notSentError](err); !unsent {
		t.Errorf("error %v", err)
	}
}

// A server that does not answer is given so long, and a little more.
func TestLinkTimeout(t *testing.T) {
	over := make(chan struct{})
	l := dialLink(t, func(net.Conn) { <-over })
	defer close(over)
	l.limit = 20 * time.Millisecond
	for range 2 { // a deadline that has passed does not fail the next call before it is sent
		began := time.Now()
		err := l.call(began, []byte("x"), new(answer))
		if _, unsent := errors.AsType[*notSentError](err); unsent || transportCode(err) != weir.CodeTimeout {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took < l.limit {
			t.Errorf("it was given %v, want %v", took, l.limit)
		}
	}
}
