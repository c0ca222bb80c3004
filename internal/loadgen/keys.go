package loadgen

// Keys says for whom a request asks. The choice depends on the seed and the
// request's number only, so that a run can be had again.
type Keys struct {
	Seed uint64
	// Count is how many there are, all asked for equally often unless Zipf, which
	// is made for as many, says otherwise; 0 is 1.
	Count uint64
	Zipf  *Zipf
	// Hot is the share of requests, 0 to 1, that are for key 0 in addition.
	Hot float64
}

// At is the key of request i, below Count.
func (k Keys) At(i int64) uint64 {
	h := mix(k.Seed ^ mix(uint64(i)))
	// The rest of the choice takes another number.
	if k.Hot > 0 && unit(h) < k.Hot {
		return 0
	}
	if k.Zipf != nil {
		return k.Zipf.rank(mix(h))
	}
	return mix(h) % max(k.Count, 1)
}

// mix spreads a number over all 64 bits (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
