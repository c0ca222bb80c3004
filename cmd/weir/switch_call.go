package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirlimit/weir/internal/admin"
	"github.com/weirlimit/weir/internal/httperr"
)

// Bounds of a fan-out.
const (
	maxNodes      = 1000
	nodesAtOnce   = 64
	maxNodeAnswer = 1 << 20
)

// nodeAnswer is what became of one node.
type nodeAnswer struct {
	Node   string               `json:"node"`
	OK     bool                 `json:"ok"`
	Error  string               `json:"error,omitempty"`
	Forced []admin.SwitchForced `json:"forced"`
}

// parseNodes returns the addresses, as host:port. One with https:// makes all
// of them speak TLS: nobody means some to be told in the clear.
func (f *switchFlags) parseNodes() ([]string, error) {
	if len(f.nodes) == 0 || len(f.nodes) > maxNodes {
		return nil, usage("", "--node: want 1 to %d nodes, not %d", maxNodes, len(f.nodes))
	}
	nodes := make([]string, 0, len(f.nodes))
	for _, text := range f.nodes {
		addr, secure := strings.CutPrefix(strings.TrimSpace(text), "https://")
		f.tls.on = f.tls.on || secure
		addr = strings.TrimSuffix(strings.TrimPrefix(addr, "http://"), "/")
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			host, port = strings.Trim(addr, "[]"), "6070"
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" || strings.ContainsAny(host, "/ @?#") {
			return nil, usage("for example 10.0.0.1:6070", "--node %q: not an address: want host:port", text)
		}
		nodes = append(nodes, net.JoinHostPort(host, port))
	}
	return nodes, nil
}

// nodeClient speaks to admin listeners.
type nodeClient struct {
	http   *http.Client
	scheme string
	flags  *clientTLSFlags
}

func (f *switchFlags) client() (*nodeClient, error) {
	t := &http.Transport{DisableKeepAlives: true}
	c := &nodeClient{scheme: "http", flags: &f.tls, http: &http.Client{
		Transport: t, Timeout: f.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if f.tls.wanted() {
		config, err := f.tls.config()
		if err != nil {
			return nil, err
		}
		c.scheme, t.TLSClientConfig = "https", config
	}
	return c, nil
}

// fanOut tells all nodes at once, each for itself.
func fanOut(ctx context.Context, c *nodeClient, nodes []string, order *admin.SwitchOrder) []nodeAnswer {
	answers := make([]nodeAnswer, len(nodes))
	var wg sync.WaitGroup
	slots := make(chan struct{}, nodesAtOnce)
	for i, node := range nodes {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			answers[i] = nodeAnswer{Node: node, OK: true, Forced: []admin.SwitchForced{}}
			status, err := c.tell(ctx, node, order)
			if err != nil {
				answers[i].OK, answers[i].Error = false, err.Error()
			} else if status.Forced != nil {
				answers[i].Forced = status.Forced
			}
		})
	}
	wg.Wait()
	return answers
}

// tell sends one node the order, or asks it where there is none.
func (c *nodeClient) tell(ctx context.Context, node string, order *admin.SwitchOrder) (status admin.SwitchStatus, err error) {
	method, body := http.MethodGet, []byte(nil)
	if order != nil {
		method = http.MethodPost
		if body, err = json.Marshal(order); err != nil {
			return status, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.scheme+"://"+node+"/switch", bytes.NewReader(body))
	if err != nil {
		return status, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.scheme == "http" {
		// Listeners without TLS answer to no names, because of browsers; this is
		// none.
		req.Host = "localhost"
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return status, c.failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxNodeAnswer))
	if err != nil {
		return status, c.failed(err)
	}
	if resp.StatusCode != http.StatusOK {
		return status, refusal(resp.Status, text)
	}
	if err := json.Unmarshal(text, &status); err != nil {
		return status, errors.New(notAdmin)
	}
	return status, nil
}

// notAdmin is said of an address at which somebody else answers.
const notAdmin = "no answer of a weir serve's admin listener (give the address of its --admin, port 6070 unless it was set)"

// refusal is what a node has to say against an order.
func refusal(status string, text []byte) error {
	if bytes.Contains(text, []byte("HTTP request to an HTTPS server")) {
		return errors.New("it speaks TLS (give --tls or --tls-ca)")
	}
	if bytes.Contains(text, []byte(noClient)) {
		return errors.New(noClient + " (give --tls-cert and --tls-key)")
	}
	var p struct{ Error httperr.Problem }
	if json.Unmarshal(text, &p) != nil || p.Error.Message == "" {
		return fmt.Errorf("refused with %s: %s", status, notAdmin)
	}
	return errors.New(p.Error.Message) // its hint is in it
}

// failed adds to an error of the connection what to do about it.
func (c *nodeClient) failed(err error) error {
	if hint := c.flags.hint(err.Error()); hint != "" {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	// A gRPC listener speaks first: whether that is met as an answer or before one
	// was asked for is a matter of time.
	if text := err.Error(); strings.Contains(text, "malformed HTTP response") || strings.Contains(text, "readLoopPeekFail") {
		return errors.New(notAdmin)
	}
	return err
}

// switchRows is the table: a line for each thing forced, and one for a node
// without any.
func switchRows(answers []nodeAnswer) [][]string {
	rows := [][]string{{"NODE", "FORCED", "UNTIL", "WHO", "WHY"}}
	for _, a := range answers {
		switch {
		case !a.OK:
			rows = append(rows, []string{a.Node, "FAILED: " + a.Error})
		case len(a.Forced) == 0:
			rows = append(rows, []string{a.Node, "nothing"})
		}
		for _, f := range a.Forced {
			what := "everything"
			if f.Scope == admin.ScopePolicy {
				what = f.Domain + "." + f.Policy
			}
			rows = append(rows, []string{a.Node, what, f.Until.Format(time.RFC3339), f.Who, f.Why})
		}
	}
	return rows
}
