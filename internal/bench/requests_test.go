package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"

	"github.com/weirlimit/weir"
	weirv1 "github.com/weirlimit/weir/api/weir/v1"
	"github.com/weirlimit/weir/internal/loadgen"
)

func request(cost int64, descriptors ...[]weir.Pair) *weir.Request {
	r := &weir.Request{Domain: "api", Cost: cost}
	for _, d := range descriptors {
		r.Descriptors = append(r.Descriptors, weir.Descriptor{Pairs: d, HasCost: cost == 0})
	}
	return r
}

// TestCodecs: what is sent means what protobuf and JSON read of it.
func TestCodecs(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, cost := range []int64{0, 1, 5} {
		r := request(cost, []weir.Pair{{Name: "tenant", Value: "acme"}, {Name: "path", Value: long}}, []weir.Pair{{Name: "user", Value: ""}})

		var envoy rlsv3.RateLimitRequest
		if err := proto.Unmarshal(appendRLS(nil, r), &envoy); err != nil {
			t.Fatal(err)
		}
		d := envoy.GetDescriptors()
		if envoy.GetDomain() != "api" || len(d) != 2 || d[0].GetEntries()[1].GetValue() != long || d[1].GetEntries()[0].GetKey() != "user" {
			t.Errorf("cost %d: %v", cost, &envoy)
		}
		if looks := d[0].HitsAddend != nil && d[1].HitsAddend != nil && d[0].HitsAddend.GetValue() == 0; looks != (cost == 0) ||
			cost == 5 != (envoy.GetHitsAddend() == 5) {
			t.Errorf("cost %d: %v", cost, &envoy)
		}

		var native weirv1.CheckRequest
		if err := proto.Unmarshal(appendNative(nil, r), &native); err != nil {
			t.Fatal(err)
		}
		if native.GetDomain() != "api" || len(native.GetDimensions()) != 3 || native.GetDimensions()[1].GetValue() != long ||
			native.GetDimensions()[2].GetName() != "user" || cost == 5 != (native.GetCost() == 5) ||
			(cost == 0) != (native.GetMode() == weirv1.Mode_MODE_PEEK) {
			t.Errorf("cost %d: %v", cost, &native)
		}

		var body map[string]any
		if err := json.Unmarshal(appendHTTP(nil, r), &body); err != nil {
			t.Fatal(err)
		}
		dims := body["dimensions"].(map[string]any)
		if body["domain"] != "api" || len(dims) != 3 || dims["path"] != long ||
			(cost == 0) != (body["mode"] == "peek") || (cost == 5) != (body["cost"] == 5.0) {
			t.Errorf("cost %d: %v", cost, body)
		}
	}
}

// TestSyntheticEncoder: patching digits gives what encoding each request gives.
func TestSyntheticEncoder(t *testing.T) {
	for _, keys := range []loadgen.Keys{
		{Seed: 1, Count: 1}, {Seed: 2, Count: 10_000}, {Seed: 3, Count: MaxKeys}, {Seed: 4, Count: 1000, Zipf: loadgen.NewZipf(1000, 1)},
	} {
		for n := 1; n <= 5; n++ {
			s := &Synthetic{Domain: "bench", Names: []string{"k1", "k2", "k3", "k4", "k5"}[:n], Cost: 1, Keys: keys}
			for _, api := range APIs {
				encode, err := s.encoder(api.codec())
				if err != nil {
					t.Fatal(err)
				}
				for i := range int64(30) {
					var r weir.Request
					s.Fill(i, &r)
					if got, want := encode([]byte("before"), i), append([]byte("before"), api.codec()(nil, &r)...); !bytes.Equal(got, want) {
						t.Fatalf("%s, %d names, request %d: %q, want %q", api, n, i, got, want)
					}
				}
			}
		}
	}
}

// TestRecordAndReplay: a list is the requests it was made of, and is recorded
// as it is.
func TestRecordAndReplay(t *testing.T) {
	s := &Synthetic{Domain: "bench", Names: []string{"k1", "k2"}, Cost: 3, Keys: loadgen.Keys{Seed: 9, Count: 50}}
	var first, second bytes.Buffer
	if n, err := Record(&first, s, 1000); n != 1000 || err != nil {
		t.Fatal(n, err)
	}
	list, err := ReadList(bytes.NewReader(first.Bytes()))
	if err != nil || list.Len() != 1000 {
		t.Fatal(err)
	}
	if _, err := Record(&second, list, 1000); err != nil || first.String() != second.String() {
		t.Errorf("%v; the second list differs", err)
	}
	for _, api := range APIs {
		a, err := s.encoder(api.codec())
		if err != nil {
			t.Fatal(err)
		}
		b, err := list.encoder(api.codec())
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(1000) {
			if !bytes.Equal(a(nil, i), b(nil, i)) || !bytes.Equal(b(nil, i), b(nil, i+1000)) {
				t.Fatalf("%s: request %d differs", api, i)
			}
		}
	}
}

func TestReadListRefuses(t *testing.T) {
	if _, err := ReadList(strings.NewReader("weir-requests 1\n")); err == nil {
		t.Error("an empty list was read")
	}
	long := "weir-requests 1\na\t1\t" + strings.Repeat("n", 8000) + "=" + strings.Repeat("v", 8370) + "\n"
	list, err := ReadList(strings.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list.encoder(appendRLS); err == nil {
		t.Error("a request that is longer than a frame was encoded")
	}
	twice, err := ReadList(strings.NewReader("weir-requests 1\na\t1\tx=1\tx=2\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := oneSet(twice); err == nil || !strings.Contains(err.Error(), `"x" twice`) {
		t.Errorf("a name twice: %v", err)
	}
}

func TestParseStat(t *testing.T) {
	const rest = " S 1 2 3 4 5 6 7 8 9 10 123 45 0 0 20 0 1 0 99"
	for _, name := range []string{"(weir)", "(a b)", "(a) R 1 (b))"} {
		if got, err := parseStat([]byte("17 " + name + rest)); err != nil || got != 168*tick {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	for _, text := range []string{"", "17 (weir) S 1 2", "17 weir" + rest, "1 (a) S 1 2 3 4 5 6 7 8 9 10 x 45", "1 (a) S 1 2 3 4 5 6 7 8 9 10 1 -45"} {
		if got, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestSweep asks for every key that a Synthetic may, and is encoded as any other.
func TestSweep(t *testing.T) {
	for _, s := range []*Sweep{
		{Domain: "bench", Name: "k1", Count: 7, Each: 3}, {Domain: "bench", Name: "k1", Count: 5}, {Domain: "bench", Name: "k1", Count: 32, Each: 16},
	} {
		encode, err := s.encoder(appendRLS)
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		for n := range s.Calls() {
			var r, one weir.Request
			s.Fill(n, &r)
			for _, d := range r.Descriptors {
				asked[d.Pairs[0].Value] = true
			}
			if got, want := encode([]byte("before"), n), append([]byte("before"), appendRLS(nil, &r)...); !bytes.Equal(got, want) {
				t.Fatalf("request %d: %q, want %q", n, got, want)
			}
			(&Synthetic{Domain: "bench", Names: []string{"k1"}, Cost: 1, Keys: loadgen.Keys{Count: s.Count}}).Fill(n, &one)
			if d := &r.Descriptors[0]; d.Pairs[0].Name != one.Descriptors[0].Pairs[0].Name || len(d.Pairs[0].Value) != len(one.Descriptors[0].Pairs[0].Value) {
				t.Errorf("%v is no key of %v", d, one.Descriptors[0])
			}
		}
		if uint64(len(asked)) != s.Count || !asked["key-00000000"] || !asked[keyText(s.Count-1)] {
			t.Errorf("%d of %d keys were asked for", len(asked), s.Count)
		}
	}
}
