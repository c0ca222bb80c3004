package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirlimit/weir"
	"github.com/weirlimit/weir/bench/internal/measure"
)

// keySizes lists what one key takes in Redis.
func (d *Document) keySizes() string {
	t := Table{Head: []string{"algorithm", "limit", "key bytes", "after one check", "when full"}, Text: 2}
	for _, k := range d.KeySizes {
		t.Rows = append(t.Rows, []string{
			k.Algorithm, k.Limit, strconv.Itoa(len(k.Key)),
			strconv.FormatInt(k.One, 10), strconv.FormatInt(k.Full, 10),
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Bytes per key in Redis\n\n"+
		"`MEMORY USAGE` of what the limiter named \"api\" keeps for one identity of %d bytes: the key, the value\n"+
		"and Redis's entry for them; Redis does not count its entry for the expiry. *When full* is after as\n"+
		"many checks of cost 1, one after another, as fit at once.\n\n%s",
		measure.KeyBytes, t.Markdown())
	return b.String()
}

// keySizeBars judges gcra, the algorithm that has a bar, by its largest key.
func keySizeBars(sizes []measure.KeySize) []Bar {
	most := int64(0)
	for _, k := range sizes {
		if k.Algorithm == weir.GCRA.String() {
			most = max(most, k.One, k.Full)
		}
	}
	if most == 0 {
		return nil
	}
	return []Bar{{
		Promise:  fmt.Sprintf("redis: at most %d bytes for a gcra key with a %d-byte identity", maxGCRAInRedis, measure.KeyBytes),
		Measured: fmt.Sprintf("%d bytes", most),
		Met:      most <= maxGCRAInRedis,
	}}
}
