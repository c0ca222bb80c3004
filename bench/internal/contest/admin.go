package contest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// sources asks a Weir's metrics where its decisions came from, as shares of all:
// a measurement of Redis that some fallback answered would be none.
func sources(ctx context.Context, admin string) (shares map[string]float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	return parseSources(resp.Body)
}

var sourceLine = regexp.MustCompile(`^weir_decisions_total\{.*source="([^"]*)".*\} ([0-9.e+]+)$`)

func parseSources(r io.Reader) (map[string]float64, error) {
	shares, sum := map[string]float64{}, 0.0
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
		shares[m[1]] += v
		sum += v
	}
	for s, v := range shares {
		if v == 0 {
			delete(shares, s)
			continue
		}
		shares[s] = v / sum
	}
	return shares, lines.Err()
}
