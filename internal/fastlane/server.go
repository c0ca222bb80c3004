package fastlane

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves connections. Make one with New.
type Server struct {
	o        Options
	names    names
	handlers []Handler
	window   int64         // of new streams: a whole message
	beat     time.Duration // of tick
	tick     atomic.Uint32 // a coarse clock, for bounds that are not exact
	done     chan struct{} // closed by Close
	kept     atomic.Int64  // calls that keep something; see Call.Keep

	mu struct {
		sync.Mutex
		listeners map[net.Listener]struct{}
		conns     map[*conn]struct{}
		closing   bool
		closed    bool
		watched   bool
		empty     chan struct{} // closed when closing and there is no connection
	}
}

// New makes a server. Options are copied.
func New(o Options) *Server {
	s := &Server{o: o.withDefaults(), names: make(names), done: make(chan struct{})}
	for path, h := range o.Methods {
		s.names[path] = len(s.handlers)
		s.handlers = append(s.handlers, h)
	}
	s.window = max(defaultWindow, int64(s.o.MaxMessage)+grpcPrefixLen+maxFrame)
	s.beat = max(10*time.Millisecond, min(time.Second,
		s.o.IdleTimeout/4, s.o.RequestTimeout/4, s.o.WriteTimeout/4, s.o.StallTimeout/4))
	s.mu.listeners = make(map[net.Listener]struct{})
	s.mu.conns = make(map[*conn]struct{})
	s.mu.empty = make(chan struct{})
	return s
}

// Serve accepts connections until the listener fails, or returns nil after
// Shutdown or Close. The listener is closed.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	if s.mu.closing {
		s.mu.Unlock()
		return nil
	}
	s.mu.listeners[l] = struct{}{}
	if !s.mu.watched {
		s.mu.watched = true
		go s.watch()
	}
	s.mu.Unlock()
	var wait time.Duration
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.isClosing() {
				return nil
			}
			var e net.Error
			if !errors.As(err, &e) || errors.Is(err, net.ErrClosed) {
				return err
			}
			wait = min(max(2*wait, 5*time.Millisecond), time.Second) // out of file descriptors, say
			select {
			case <-time.After(wait):
			case <-s.done:
			}
			continue
		}
		wait = 0
		if cn := newConn(s, nc); s.join(cn) {
			go cn.serve()
		} else {
			_ = nc.Close()
		}
	}
}

func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.closing
}

func (s *Server) join(cn *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closing {
		return false
	}
	s.mu.conns[cn] = struct{}{}
	if s.o.Hooks.Opened != nil {
		s.o.Hooks.Opened()
	}
	return true
}

func (s *Server) leave(cn *conn, why Reason) {
	if s.o.Hooks.Closed != nil {
		s.o.Hooks.Closed(why)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.conns, cn)
	s.emptyLocked()
}

func (s *Server) emptyLocked() {
	if s.mu.closing && len(s.mu.conns) == 0 {
		select {
		case <-s.mu.empty:
		default:
			close(s.mu.empty)
		}
	}
}

func (s *Server) refused(why Reason) {
	if s.o.Hooks.Refused != nil {
		s.o.Hooks.Refused(why)
	}
}

// stop closes the listeners and returns the connections.
func (s *Server) stop() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.closing = true
	for l := range s.mu.listeners {
		_ = l.Close()
	}
	clear(s.mu.listeners)
	s.emptyLocked()
	all := make([]*conn, 0, len(s.mu.conns))
	for cn := range s.mu.conns {
		all = append(all, cn)
	}
	return all
}

// Shutdown accepts nothing more, tells every client to go elsewhere, answers
// what they have asked and closes. When ctx ends first it closes at once and
// returns its error. Streams of the fallback are waited for too.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, cn := range s.stop() {
		cn.mu.Lock()
		if cn.settled {
			cn.drainLocked(Done)
		} else {
			cn.dieLocked()
			_ = cn.raw.Close()
		}
		cn.unlockAndWake()
	}
	defer func() { _ = s.Close() }()
	select {
	case <-s.mu.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes everything at once. It does not wait for handlers.
func (s *Server) Close() error {
	for _, cn := range s.stop() {
		cn.mu.Lock()
		cn.dieLocked()
		cn.mu.Unlock()
		_ = cn.raw.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mu.closed {
		s.mu.closed = true
		close(s.done)
	}
	return nil
}
