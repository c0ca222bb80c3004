package obs

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirlimit/weir"
)

func TestStoreCalls(t *testing.T) {
	m := New(Options{})
	call := m.Hooks().StoreCall
	call(weir.StoreCall{Shard: "a:1", Entries: 100, Groups: 10, Keys: 3, Took: 400 * time.Microsecond, Script: 90 * time.Microsecond})
	call(weir.StoreCall{Shard: "a:1", Entries: 1, Groups: 1, Keys: 1, Took: 20 * time.Millisecond, Err: someErr})
	call(weir.StoreCall{Shard: "b:1", Entries: 2, Groups: 2, Keys: 2, Took: time.Millisecond, Err: &weir.Error{Code: weir.CodeMoved}})
	got := scrape(t, m)
	got.want(t, samples{
		`weir_store_calls_total{shard="a:1"}`:                           2,
		`weir_store_calls_total{shard="b:1"}`:                           1,
		`weir_store_round_trip_seconds_count{shard="a:1"}`:              2,
		`weir_store_round_trip_seconds_sum{shard="a:1"}`:                0.0204,
		`weir_store_round_trip_seconds_bucket{shard="a:1",le="0.0005"}`: 1,
		`weir_store_script_seconds_count{shard="a:1"}`:                  1,
		`weir_store_script_seconds_bucket{shard="a:1",le="5e-05"}`:      0,
		`weir_store_script_seconds_bucket{shard="a:1",le="0.0001"}`:     1,
		`weir_store_batch_entries_sum`:                                  103,
		`weir_store_batch_groups_sum`:                                   13,
		`weir_store_batch_keys_sum`:                                     6,
		`weir_store_batch_entries_bucket{le="2"}`:                       2,
	})
	got.only(t, "weir_store_errors_total", samples{
		`weir_store_errors_total{reason="timeout",shard="a:1"}`: 1,
		`weir_store_errors_total{reason="moved",shard="b:1"}`:   1,
	})
	if _, ok := got[`weir_store_script_seconds_count{shard="b:1"}`]; ok {
		t.Error("script time of a shard where it was never measured")
	}
}

func TestShardsAreBounded(t *testing.T) {
	m := New(Options{})
	call := m.Hooks().StoreCall
	call(weir.StoreCall{Shard: other})
	call(weir.StoreCall{Shard: "\xff"})
	for i := range 2 * maxShards {
		for range 3 {
			call(weir.StoreCall{Shard: fmt.Sprintf("10.0.0.%d:6379", i)})
		}
	}
	got := scrape(t, m).of("weir_store_calls_total")
	if len(got) != maxShards+1 {
		t.Errorf("%d series", len(got))
	}
	if n := got.sum(); n != 2*maxShards*3+2 {
		t.Errorf("%v calls were counted", n)
	}
	got.want(t, samples{
		`weir_store_calls_total{shard="10.0.0.5:6379"}`: 3,
		`weir_store_calls_total{shard="other"}`:         3*(maxShards+1) + 1,
	})
}
