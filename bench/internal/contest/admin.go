package contest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// admin is a Weir's pages.
type admin struct {
	url    string
	client *http.Client
}

func newAdmin(addr string, secure *tls.Config) *admin {
	a := &admin{url: "http://" + addr, client: &http.Client{Timeout: 10 * time.Second}}
	if secure != nil {
		a.url = "https://" + addr
		a.client.Transport = &http.Transport{TLSClientConfig: secure}
	}
	return a
}

// metrics reads the page that Prometheus does.
func (a *admin) metrics(ctx context.Context, read func(io.Reader) error) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/metrics", nil)
	if err != nil {
		return err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("read metrics: %s", resp.Status)
	}
	return read(resp.Body)
}

// scrapeEvery is how often the metrics are read while a system is measured:
// fifteen times as often as is usual.
const scrapeEvery = time.Second

// scrape reads the metrics from now on until it is stopped, as one who watches
// a server does.
func (a *admin) scrape(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	var failed error
	done.Go(func() {
		tick := time.NewTicker(scrapeEvery)
		defer tick.Stop()
		for {
			err := a.metrics(ctx, func(r io.Reader) error {
				_, err := io.Copy(io.Discard, r)
				return err
			})
			if err != nil && ctx.Err() == nil {
				failed = errors.Join(failed, err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() error {
		cancel()
		done.Wait()
		return failed
	}
}

// sources counts decisions by where they came from: a measurement of Redis that
// some fallback answered would be none.
func (a *admin) sources(ctx context.Context) (counts map[string]float64, err error) {
	err = a.metrics(ctx, func(r io.Reader) error {
		counts, err = parseSources(r)
		return err
	})
	return counts, err
}

var sourceLine = regexp.MustCompile(`^weir_decisions_total\{.*source="([^"]*)".*\} ([0-9.e+]+)$`)

func parseSources(r io.Reader) (map[string]float64, error) {
	counts := map[string]float64{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := sourceLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, fmt.Errorf("parse metrics: %w", err)
		}
		counts[m[1]] += v
	}
	return counts, lines.Err()
}

// sharesOf are the shares of what was counted between two instants, the first of
// which may be nil.
func sharesOf(before, after map[string]float64) map[string]float64 {
	sum, out := 0.0, map[string]float64{}
	for s, v := range after {
		if v -= before[s]; v > 0 {
			out[s] = v
			sum += v
		}
	}
	for s := range out {
		out[s] /= sum
	}
	return out
}
