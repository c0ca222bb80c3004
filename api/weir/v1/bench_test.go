package weirv1_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	weirv1 "github.com/weirlimit/weir/api/weir/v1"
)

// checks is a message of a stream as a busy gateway sends it.
func checks(n int) *weirv1.CheckBatchRequest {
	m := &weirv1.CheckBatchRequest{}
	for i := range n {
		m.Checks = append(m.Checks, &weirv1.CheckRequest{
			Domain: "api", Number: uint64(i),
			Dimensions: []*weirv1.Dimension{{Name: "tenant", Value: "acme"}, {Name: "route", Value: "/v1/orders"}},
		})
	}
	return m
}

// results is the answer to it.
func results(n int) *weirv1.CheckBatchResponse {
	m := &weirv1.CheckBatchResponse{}
	quota := &weirv1.Quota{Rule: "orders", Limit: "100/s burst 200", Algorithm: weirv1.Algorithm_ALGORITHM_GCRA, Count: 100, WindowUs: 1e6, Burst: 200}
	for i := range n {
		m.Results = append(m.Results, &weirv1.CheckResponse{
			Code: weirv1.Code_CODE_OK, Allowed: true, Remaining: 150, ResetAfterUs: 500_000,
			Quota: quota, PolicyVersion: "9f86d081884c7d65", Number: uint64(i),
		})
	}
	return m
}

// A message of 32 checks; divide by 32 for one.
func BenchmarkBatch(b *testing.B) {
	request, err := proto.Marshal(checks(32))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(request)))
		for b.Loop() {
			var m weirv1.CheckBatchRequest
			if err := proto.Unmarshal(request, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		response, buf := results(32), []byte(nil)
		for b.Loop() {
			buf, err = proto.MarshalOptions{}.MarshalAppend(buf[:0], response)
			if err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(len(buf)))
	})
}
